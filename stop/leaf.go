package stop

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// leaf is a condition on one property of the state.
type leaf struct {
	source  string
	outcome pawl.Status
	holds   func(*pawl.State) bool
	tell    func(*pawl.State) string
	wants   func(pawl.Agent) error // checks the agent; nil: any agent is valid

	measured func(*pawl.State) (float64, bool) // of a comparison: the number, time in seconds
	limit    float64                           // what it is compared with
}

func (l *leaf) decide(s *pawl.State) decision {
	if !l.holds(s) {
		return decision{}
	}
	return decision{holds: true, status: l.outcome, leaf: l.source}
}

func (l *leaf) facts(s *pawl.State) []string { return []string{l.tell(s)} }

func (l *leaf) check(a pawl.Agent) error {
	if l.wants == nil {
		return nil
	}
	return l.wants(a)
}

// Done holds when the latest turn is a final answer: success.
func Done() pawl.Condition { return build(&expr.Path{Root: "done"}, nil) }

// ToolCalled holds once a call of the tool succeeded: success. The agent must
// have the tool.
func ToolCalled(name string) pawl.Condition {
	return build(&expr.Call{Func: "tool_called", Args: []expr.Node{&expr.String{Value: name}}}, nil)
}

// ToolCalledWith holds once a call succeeded whose tool is the named one and
// for whose arguments the predicate holds, as in
//
//	stop.ToolCalledWith("submit_po", `args.amount > 100 && args.vendor != "acme"`)
//
// The predicate is an expression over args, the arguments the call ran with,
// including an approver's edits. It does not hold for values it cannot compare,
// such as a string < a number.
func ToolCalledWith(name, predicate string) pawl.Condition {
	tool := &expr.String{Value: name}
	p, err := expr.Parse(predicate)
	if err == nil {
		err = expr.Check(p, predicateNames)
	}
	if err != nil {
		return broken("tool_called("+tool.String()+", "+predicate+")", fmt.Errorf("stop.ToolCalledWith: %s: %w", predicate, err))
	}
	return build(&expr.Call{Func: "tool_called", Args: []expr.Node{tool, p}}, nil)
}

// TextMatches holds when the text of the latest turn's reply matches the
// regular expression, in Go's syntax: success. An empty text never matches. One
// match takes about a second at most: an expression has up to 5,000
// instructions, and I of them match texts of up to 50,000,000/I bytes.
func TextMatches(re string) pawl.Condition {
	return build(&expr.Call{Func: "text_matches", Args: []expr.Node{&expr.String{Value: re}}}, nil)
}

// UserSaid holds once at least the given number of texts from people to the run
// match the regular expression, in Go's syntax: success. It prints as
// user_said("REGEX") >= times.
func UserSaid(re string, times int) pawl.Condition {
	said := &expr.Call{Func: "user_said", Args: []expr.Node{&expr.String{Value: re}}}
	return build(&expr.Compare{Op: expr.Ge, X: said, Y: integer(times)}, nil)
}

// Stalled holds once n turns in a row repeated the calls and the results of the
// one before: no_progress.
func Stalled(n int) pawl.Condition {
	return build(&expr.Call{Func: "stalled", Args: []expr.Node{integer(n)}}, nil)
}

// When holds when f does: success. It prints as when("NAME"). Parsing that
// source needs the function again, in [Options]. f must be pure and quick: it
// is called before every step, from any goroutine.
func When(name string, f func(*pawl.State) bool) pawl.Condition {
	if f == nil {
		return broken("when("+expr.Quote(name)+")", fmt.Errorf("stop.When(%q): the function is nil", name))
	}
	o := &Options{When: map[string]func(*pawl.State) bool{name: f}}
	return build(&expr.Call{Func: "when", Args: []expr.Node{&expr.String{Value: name}}}, o)
}

func doneLeaf(source string) *leaf {
	return &leaf{
		source:  source,
		outcome: pawl.StatusSuccess,
		holds:   (*pawl.State).Done,
		tell: func(s *pawl.State) string {
			switch {
			case s.Done() && s.Succeeded("__complete__") > 0:
				return "the model handed in its answer"
			case s.Done():
				return "the model answered without calling a tool"
			}
			return "the model has not answered"
		},
	}
}

// predicateNames are the names that the predicate of a tool_called may use.
var predicateNames = expr.Env{Values: map[string]expr.Value{"args": nil}}

func compileToolCalled(n *expr.Call, _ *Options) (*condition, error) {
	name, err := stringArg(n, 2)
	if err != nil {
		return nil, err
	}
	tool, source := name.Value, n.String()
	l := &leaf{
		source:  source,
		outcome: pawl.StatusSuccess,
		holds:   func(s *pawl.State) bool { return s.Succeeded(tool) > 0 },
		tell: func(s *pawl.State) string {
			if n := s.Succeeded(tool); n != 1 {
				return fmt.Sprintf("%s succeeded %d times", tool, n)
			}
			return tool + " succeeded once"
		},
		wants: located(name, source, wantTool(tool)),
	}
	if len(n.Args) == 1 {
		return newCondition(n, l), nil
	}
	predicate := n.Args[1]
	if err := expr.Check(predicate, predicateNames); err != nil {
		return nil, err
	}
	l.holds = func(s *pawl.State) bool { return calledWith(s, tool, predicate) }
	l.tell = func(s *pawl.State) string {
		if calledWith(s, tool, predicate) {
			return fmt.Sprintf("%s succeeded with %s", tool, predicate)
		}
		return fmt.Sprintf("%s has not succeeded with %s", tool, predicate)
	}
	l.wants = located(name, source, wantArguments(tool, predicate))
	return newCondition(n, l), nil
}

// calledWith costs O(calls of the run) while it does not hold: the state cannot
// count calls by predicate.
func calledWith(s *pawl.State, tool string, predicate expr.Node) bool {
	if s.Succeeded(tool) == 0 {
		return false
	}
	for c := range s.SuccessfulCalls(tool) {
		raw := c.Args
		if c.Edited != nil {
			raw = c.Edited
		}
		var args any
		if wire.Unmarshal(raw, &args) != nil {
			continue
		}
		holds, err := expr.Holds(predicate, expr.Env{Values: map[string]expr.Value{"args": args}})
		if err == nil && holds {
			return true
		}
	}
	return false
}

func compileTextMatches(n *expr.Call, _ *Options) (*condition, error) {
	re, err := regexArg(n)
	if err != nil {
		return nil, err
	}
	return newCondition(n, &leaf{
		source:  n.String(),
		outcome: pawl.StatusSuccess,
		holds:   func(s *pawl.State) bool { return !s.Rejected() && matches(re, s.LastText()) }, // the text of a rejected reply is no answer
		tell: func(s *pawl.State) string {
			if s.Rejected() {
				return "the latest reply was rejected"
			}
			if len(s.LastText()) > re.Reach() {
				return fmt.Sprintf("the latest text has %d bytes and is not matched: the regular expression is for %d at most", len(s.LastText()), re.Reach())
			}
			if !matches(re, s.LastText()) {
				return "the latest text does not match"
			}
			return "the latest text has " + strconv.Quote(shorten(re.FindString(s.LastText())))
		},
	}), nil
}

// matches never matches an absent text, or ^$ would end a run before its first
// turn.
func matches(re *naming.Pattern, text string) bool { return text != "" && re.MatchString(text) }

// shorten limits the length of a detail.
func shorten(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

// compileUserSaid returns the count of a user_said.
func compileUserSaid(n *expr.Call) (measure, error) {
	re, err := regexArg(n)
	return measure{
		example: usage["user_said"],
		outcome: pawl.StatusSuccess,
		whole:   true,
		read: count(func(s *pawl.State) int {
			times, left := 0, re.Reach() // bytes for all texts together
			for text := range s.UserTexts() {
				if left -= len(text); left < 0 {
					break
				}
				if re.MatchString(text) {
					times++
				}
			}
			return times
		}),
		tell: func(v float64) string { return fmt.Sprintf("%v of what people said match %v", v, re) },
	}, err
}

func regexArg(n *expr.Call) (*naming.Pattern, error) {
	s, err := stringArg(n, 1)
	if err != nil {
		return nil, err
	}
	re, err := naming.CompilePattern(s.Value)
	if err != nil {
		return nil, expr.Errorf(s.Column(), "%s: %v", n.Func, err)
	}
	return re, nil
}

func compileStalled(n *expr.Call, _ *Options) (*condition, error) {
	if len(n.Args) != 1 {
		return nil, misused(n.Column(), n.Func)
	}
	number, _ := n.Args[0].(*expr.Number)
	if number == nil {
		return nil, expr.Errorf(n.Args[0].Column(), "expected a whole number from 1, found %s, in %s", n.Args[0], usage[n.Func])
	}
	turns, err := strconv.Atoi(number.Text)
	if err != nil || turns < 1 {
		return nil, expr.Errorf(number.Column(), "expected a whole number from 1, found %s, in %s", number, usage[n.Func])
	}
	return newCondition(n, &leaf{
		source:  n.String(),
		outcome: pawl.StatusNoProgress,
		holds:   func(s *pawl.State) bool { return s.Stalled() >= turns },
		tell: func(s *pawl.State) string {
			return display.Said(s.Stalled(), "the last turn repeated the one before", "%d turns in a row repeated the one before")
		},
	}), nil
}

func compileWhen(n *expr.Call, o *Options) (*condition, error) {
	name, err := stringArg(n, 1)
	if err != nil {
		return nil, err
	}
	o = cmp.Or(o, &Options{})
	f := o.When[name.Value]
	if f == nil {
		missing := unregistered(name, o)
		if !o.Unresolved {
			return nil, missing
		}
		return &condition{tree: n, source: n.String(), err: missing, broken: true}, nil
	}
	return newCondition(n, &leaf{
		source:  n.String(),
		outcome: pawl.StatusSuccess,
		holds:   f,
		tell: func(s *pawl.State) string {
			if f(s) {
				return name.Value + " holds"
			}
			return name.Value + " does not hold"
		},
	}), nil
}
