package approval

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
)

// When requires approval for calls of the tools that match the pattern, if the
// predicate holds for their arguments, as in
//
//	approval.When("submit_po", `args.amount > 100 || args.vendor != "acme"`)
//
// The predicate is an expression over args, as in a tool_called condition. It
// fails closed: a call is asked about if the predicate cannot be decided,
// because an argument is missing or null (unless it is compared with null) or
// has another type than the value it is compared with. The rest of the
// predicate may still decide: args.kind == "gift" && args.amount > 100 does not
// ask about a call of another kind that has no amount.
func When(pattern, predicate string) pawl.Policy {
	tree, err := expr.Parse(predicate)
	if err == nil {
		err = checkPredicate(tree)
	}
	source := predicate
	if err == nil {
		source = tree.String()
	}
	return &rule{
		source: "approval_when(" + expr.Quote(pattern) + ", " + source + ")",
		does:   pawl.CallAsk,
		check:  func(a pawl.Agent) error { return wantPredicate(a, pattern, tree, err) },
		applies: func(_ *pawl.State, d pawl.Classified) string {
			if machines(d.Call.Tool) || !naming.Match(pattern, d.Call.Tool) {
				return ""
			}
			if err != nil { // checking the agent reports it
				return pattern + " needs approval when " + source + ", which means nothing"
			}
			switch v, why := decide(tree, d.Call.Args); v {
			case no:
				return ""
			case unknown:
				return pattern + " needs approval when " + source + ", which cannot be told: " + why
			default:
				return pattern + " needs approval when " + source
			}
		},
	}
}

// truth is one of three values. A result is unknown unless the known terms
// decide it, after S. C. Kleene, On notation for ordinal numbers (1938).
type truth int

const (
	no truth = 1 + iota
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// decide evaluates a predicate for the arguments of a call. For an unknown
// result it returns the reason.
func decide(tree expr.Node, args json.RawMessage) (truth, string) {
	var value any
	if err := newDecoder(args).Decode(&value); err != nil {
		return unknown, "the arguments are no JSON"
	}
	e := evaluation{expr.Env{Values: map[string]expr.Value{"args": value}}, ""}
	return e.truth(tree), e.why
}

// newDecoder returns a decoder that keeps the digits of numbers.
func newDecoder(args json.RawMessage) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	return d
}

// evaluation is the evaluation of one predicate.
type evaluation struct {
	env expr.Env
	why string // the first thing that could not be decided
}

func (e *evaluation) unknown(format string, args ...any) truth {
	if e.why == "" {
		e.why = fmt.Sprintf(format, args...)
	}
	return unknown
}

func (e *evaluation) truth(n expr.Node) truth {
	switch n := n.(type) {
	case *expr.Not:
		switch e.truth(n.X) {
		case yes:
			return no
		case no:
			return yes
		}
		return unknown
	case *expr.And:
		return e.all(n.Terms, no)
	case *expr.Or:
		return e.all(n.Terms, yes)
	case *expr.Compare:
		return e.compare(n)
	}
	v, err := expr.Eval(n, e.env)
	if err != nil {
		return e.unknown("%v", err)
	}
	b, ok := v.(bool)
	if !ok {
		return e.unknown("%s is %s", n, describe(v))
	}
	return truthOf(b)
}

// all evaluates &&, which a false term decides, and ||, which a true one does.
func (e *evaluation) all(terms []expr.Node, settles truth) truth {
	result := yes + no - settles
	for _, n := range terms {
		switch v := e.truth(n); v {
		case settles:
			return v
		case unknown:
			result = unknown
		}
	}
	return result
}

func (e *evaluation) compare(n *expr.Compare) truth {
	x, okX := e.value(n.X)
	y, okY := e.value(n.Y)
	if !okX || !okY {
		return unknown
	}
	equality := n.Op == expr.Eq || n.Op == expr.Ne
	if equality && (isNull(n.X) || isNull(n.Y)) { // the comparison asks whether the argument exists
		return truthOf((x == nil && y == nil) == (n.Op == expr.Eq))
	}
	for _, side := range []struct {
		n expr.Node
		v expr.Value
	}{{n.X, x}, {n.Y, y}} {
		if side.v == nil {
			return e.unknown("%s is %s", side.n, describe(nil))
		}
	}
	if describe(x) != describe(y) {
		return e.unknown("%s is %s, and %s is %s", n.X, describe(x), n.Y, describe(y))
	}
	v, err := expr.Eval(&expr.Compare{Op: n.Op, X: &expr.Path{Root: "x"}, Y: &expr.Path{Root: "y"}},
		expr.Env{Values: map[string]expr.Value{"x": x, "y": y}})
	if err != nil {
		return e.unknown("%s and %s have no order", n.X, n.Y)
	}
	holds, _ := v.(bool) // a comparison always yields a bool
	return truthOf(holds)
}

// value returns the value of one side of a comparison.
func (e *evaluation) value(n expr.Node) (expr.Value, bool) {
	switch n.(type) {
	case *expr.Not, *expr.And, *expr.Or, *expr.Compare:
		v := e.truth(n)
		return v == yes, v != unknown
	}
	v, err := expr.Eval(n, e.env)
	if err != nil {
		e.unknown("%v", err)
		return nil, false
	}
	return v, true
}

func isNull(n expr.Node) bool {
	_, ok := n.(*expr.Null)
	return ok
}

func describe(v expr.Value) string {
	switch v.(type) {
	case nil:
		return "missing or null"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v) // a duration, which arguments cannot be
}
