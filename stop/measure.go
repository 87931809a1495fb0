package stop

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// measure is a number in the state, for comparison.
type measure struct {
	example string
	outcome pawl.Status
	whole   bool    // a count
	signed  bool    // it may be negative
	most    float64 // the largest it can be; zero: no bound
	read    func(*pawl.State) (value float64, known bool)
	tell    func(value float64) string // nil: "NAME is VALUE"
	check   func(pawl.Agent) error
}

var measures = map[string]measure{
	"iterations": {example: "iterations >= 10", outcome: pawl.StatusExhausted, whole: true,
		read: count((*pawl.State).Iterations)},
	"tokens": {example: "tokens >= 100000", outcome: pawl.StatusExhausted, whole: true,
		read: count((*pawl.State).Tokens)},
	"cost": {example: "cost >= 0.5", outcome: pawl.StatusExhausted,
		read: (*pawl.State).Cost, check: wantPrice,
		tell: func(v float64) string { return "cost is $" + formatNumber(v) }},
	"elapsed": {example: "elapsed >= 30s", outcome: pawl.StatusExhausted,
		read: func(s *pawl.State) (float64, bool) { return float64(s.Elapsed()), true },
		tell: func(v float64) string {
			return "elapsed is " + expr.FormatDuration(time.Duration(v).Round(time.Millisecond))
		}},
	"tool_calls": {example: "tool_calls >= 10", outcome: pawl.StatusExhausted, whole: true,
		read: count((*pawl.State).ToolCalls)},
	"tool_errors": {example: "tool_errors >= 3", outcome: pawl.StatusNoProgress, whole: true,
		read: count((*pawl.State).ToolErrors)},
	"confidence": {example: "confidence >= 0.9", outcome: pawl.StatusSuccess, most: 1,
		read: (*pawl.State).Confidence, check: wantConfidence},
	"metric": {example: "metric >= 0", outcome: pawl.StatusSuccess, signed: true,
		read: (*pawl.State).Metric, check: wantGoal},
}

func count(read func(*pawl.State) int) func(*pawl.State) (float64, bool) {
	return func(s *pawl.State) (float64, bool) { return float64(read(s)), true }
}

// Iterations holds once n turns have all their calls answered: exhausted.
func Iterations(n int) pawl.Condition { return atLeast("iterations", integer(n)) }

// Tokens holds once n tokens are used, input and output together: exhausted.
func Tokens(n int) pawl.Condition { return atLeast("tokens", integer(n)) }

// Cost holds once at least the given number of dollars is spent: exhausted. The
// agent's model must have a price.
func Cost(dollars float64) pawl.Condition { return atLeast("cost", decimal(dollars)) }

// Elapsed holds once the run has run for d, without the time it waited:
// exhausted.
func Elapsed(d time.Duration) pawl.Condition { return atLeast("elapsed", &expr.Duration{Value: d}) }

// ToolCalls holds once n calls have run: exhausted.
func ToolCalls(n int) pawl.Condition { return atLeast("tool_calls", integer(n)) }

// ToolErrors holds after n turns in a row in which no call succeeded:
// no_progress.
func ToolErrors(n int) pawl.Condition { return atLeast("tool_errors", integer(n)) }

// Confidence holds while the latest confidence is at least x, from 0 to 1:
// success. Something in the agent must set it.
func Confidence(x float64) pawl.Condition { return atLeast("confidence", decimal(x)) }

// Metric compares the goal's latest value with x by one of == != < <= > >=, as
// in stop.Metric(">=", 0): success. The agent must have a goal.
func Metric(op string, x float64) pawl.Condition {
	for o := expr.Eq; o <= expr.Ge; o++ {
		if o.String() == op {
			return build(&expr.Compare{Op: o, X: &expr.Path{Root: "metric"}, Y: decimal(x)}, nil)
		}
	}
	return broken("metric "+op+" "+decimal(x).Text, fmt.Errorf("stop.Metric: %q is not a comparison operator (there is ==, !=, <, <=, >, >=)", op))
}

func atLeast(name string, least expr.Node) pawl.Condition {
	return build(&expr.Compare{Op: expr.Ge, X: &expr.Path{Root: name}, Y: least}, nil)
}

func integer(n int) *expr.Number { return &expr.Number{Text: strconv.Itoa(n)} }

func decimal(x float64) *expr.Number { return &expr.Number{Text: formatNumber(x)} }

// formatNumber writes a number without an exponent unless it would be very
// long.
func formatNumber(x float64) string {
	if a := math.Abs(x); a == 0 || a >= 1e-9 && a < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// compileCompare returns the leaf of a comparison. The number may be on either
// side; it prints on the right.
func compileCompare(n *expr.Compare) (*condition, error) {
	x, y, op := n.X, n.Y, n.Op
	if isLiteral(x) && !isLiteral(y) {
		x, y, op = y, x, op.Flip()
	}
	tree := &expr.Compare{At: n.At, Op: op, X: x, Y: y}
	name, m, err := compared(x)
	if err != nil {
		return nil, err
	}
	limit, err := m.threshold(name, y)
	if err != nil {
		return nil, err
	}
	source := tree.String()
	unit := 1.0
	if name == "elapsed" {
		unit = float64(time.Second)
	}
	return newCondition(tree, &leaf{
		source:  source,
		outcome: m.outcome,
		limit:   limit / unit,
		measured: func(s *pawl.State) (float64, bool) {
			v, known := m.read(s)
			return v / unit, known
		},
		holds: func(s *pawl.State) bool {
			v, known := m.read(s)
			return known && op.Holds(cmp.Compare(v, limit))
		},
		tell: func(s *pawl.State) string {
			v, known := m.read(s)
			switch {
			case !known:
				return "no " + name + " is known"
			case m.tell != nil:
				return m.tell(v)
			}
			return name + " is " + formatNumber(v)
		},
		wants: located(x, source, m.check),
	}), nil
}

func isLiteral(n expr.Node) bool {
	switch n.(type) {
	case *expr.Number, *expr.Duration, *expr.String, *expr.Bool, *expr.Null:
		return true
	}
	return false
}

// compared returns the measure that one side of a comparison names.
func compared(n expr.Node) (string, measure, error) {
	switch n := n.(type) {
	case *expr.Path:
		if m, ok := measures[n.Root]; ok && len(n.Keys) == 0 {
			return n.Root, m, nil
		}
		return "", measure{}, misused(n.Column(), n.Root)
	case *expr.Call:
		if n.Func == "user_said" {
			m, err := compileUserSaid(n)
			return n.String(), m, err
		}
		return "", measure{}, misused(n.Column(), n.Func)
	}
	return "", measure{}, expr.Errorf(n.Column(), "expected the name of a number, as in iterations >= 10, found %s", n)
}

// threshold returns the literal that the measure is compared with.
func (m measure) threshold(name string, n expr.Node) (float64, error) {
	wrong := func(what string) error {
		return expr.Errorf(n.Column(), "%s is compared with %s, as in %s; found %s", name, what, m.example, n)
	}
	if name == "elapsed" {
		d, ok := n.(*expr.Duration)
		switch {
		case !ok:
			return 0, wrong("a duration")
		case d.Value < 0:
			return 0, wrong("a duration that is not negative")
		}
		return float64(d.Value), nil
	}
	number, ok := n.(*expr.Number)
	if !ok {
		return 0, wrong("a number")
	}
	x, err := strconv.ParseFloat(number.Text, 64)
	switch {
	case err != nil || math.IsInf(x, 0) || math.IsNaN(x):
		return 0, wrong("a number within range")
	case m.whole && (x != math.Trunc(x) || math.Abs(x) > 1<<53):
		return 0, wrong("a whole number")
	case m.most > 0 && (x < 0 || x > m.most):
		return 0, wrong(fmt.Sprintf("a number from 0 to %v", m.most))
	case x < 0 && !m.signed:
		return 0, wrong("a number that is not negative")
	}
	return x, nil
}
