package stop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// options has the functions that the tests' sources name.
var options = &stop.Options{When: map[string]func(*pawl.State) bool{
	"yes":     func(*pawl.State) bool { return true },
	"no":      func(*pawl.State) bool { return false },
	"started": func(s *pawl.State) bool { return s.Iteration() > 0 },
}}

// TestTranscripts reads testdata/transcripts: "state" makes a state, "eval" asks a
// condition of it, "parse" shows canonical source or the error, "check" asks a
// condition what it has against an agent.
func TestTranscripts(t *testing.T) { // Promises: L9, B4.
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		state := new(pawl.State)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "state":
				state = &script(t, d.Input).state
				return ""
			case "eval":
				return eval(d.Input, state)
			case "parse":
				c, err := stop.Parse(d.Input, options)
				if err != nil {
					return err.Error()
				}
				return c.String()
			case "check":
				c, err := stop.Parse(d.Input, &stop.Options{Unresolved: true})
				if err != nil {
					return err.Error()
				}
				return objections(c, agent(d))
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func eval(source string, s *pawl.State) string {
	c, err := stop.Parse(source, options)
	if err != nil {
		return err.Error()
	}
	v := c.Eval(s)
	if !v.Holds {
		if v != (pawl.Verdict{}) {
			return fmt.Sprintf("does not hold, but says %+v", v)
		}
		return "does not hold"
	}
	return fmt.Sprintf("%v\ncondition: %s\nleaf: %s\ndetail: %s", v.Status, v.Condition, v.Leaf, v.Detail)
}

func objections(c pawl.Condition, a pawl.Agent) string {
	if err := c.(pawl.Checker).Check(a); err != nil {
		return err.Error()
	}
	return "ok"
}

// agent makes one of a directive's arguments: tools=(a,b) priced goal builtins.
func agent(d *datadriven.TestData) pawl.Agent {
	a := pawl.Agent{Name: "test", Model: model{priced: d.HasArg("priced")}, Builtins: d.HasArg("builtins")}
	if d.HasArg("goal") {
		a.Goal = &pawl.Goal{}
	}
	for _, arg := range d.CmdArgs {
		if arg.Key == "tools" {
			for _, name := range arg.Vals {
				a.Tools = append(a.Tools, tool{pawl.ToolInfo{Name: name, Input: json.RawMessage(schemas[name])}})
			}
		}
	}
	return a
}

var schemas = map[string]string{
	"submit_po": `{"type":"object","properties":{"amount":{"type":"number"},"vendor":{"type":"string"}}}`,
	"open":      `{"type":"object","properties":{"a":{}},"additionalProperties":true}`,
	"either":    `{"anyOf":[{"properties":{"a":{}}}],"properties":{"a":{}}}`,
}

type tool struct{ info pawl.ToolInfo }

func (t tool) Info() pawl.ToolInfo { return t.info }

func (t tool) Run(context.Context, pawl.Invocation) (pawl.Output, error) { return pawl.Output{}, nil }

type model struct {
	pawl.ModelFunc
	priced bool
}

func (m model) Describe() pawl.ModelInfo {
	info := pawl.ModelInfo{Name: "test/model"}
	if m.priced {
		info.Price = &pawl.Price{}
	}
	return info
}

func TestConstructors(t *testing.T) {
	yes := func(*pawl.State) bool { return true }
	for want, c := range map[string]pawl.Condition{
		"iterations >= 10":         stop.Iterations(10),
		"tokens >= 1000":           stop.Tokens(1000),
		"cost >= 2.5":              stop.Cost(2.50),
		"cost >= 0.0001":           stop.Cost(1e-4),
		"elapsed >= 1h30m":         stop.Elapsed(90 * time.Minute),
		"elapsed >= 1.5s":          stop.Elapsed(1500 * time.Millisecond),
		"tool_calls >= 3":          stop.ToolCalls(3),
		"tool_errors >= 3":         stop.ToolErrors(3),
		"confidence >= 0.9":        stop.Confidence(0.9),
		"metric >= 0":              stop.Metric(">=", 0),
		"metric < -1.5":            stop.Metric("<", -1.5),
		"done":                     stop.Done(),
		`tool_called("submit_po")`: stop.ToolCalled("submit_po"),
		`tool_called("submit_po", args.amount > 1)`: stop.ToolCalledWith("submit_po", "args.amount>1"),
		"text_matches(`\\bOK\\b`)":                  stop.TextMatches(`\bOK\b`),
		`user_said("(?i)refund") >= 3`:              stop.UserSaid("(?i)refund", 3),
		"stalled(3)":                                stop.Stalled(3),
		`when("yes")`:                               stop.When("yes", yes),
		"!done":                                     stop.Not(stop.Done()),
		"!(done || iterations >= 1)":                stop.Not(stop.Any(stop.Done(), stop.Iterations(1))),
		"!(iterations >= 1)":                        stop.Not(stop.Iterations(1)),
		"success(iterations >= 1)":                  stop.Success(stop.Iterations(1)),
		"exhausted(done || iterations >= 1)":        stop.Exhausted(stop.Any(stop.Done(), stop.Iterations(1))),
		"failed(stalled(2))":                        stop.Failed(stop.Stalled(2)),
		"done || stalled(2) || iterations >= 1":     stop.Any(stop.Done(), stop.Any(stop.Stalled(2), stop.Iterations(1))),
		"done && stalled(2) && iterations >= 1":     stop.All(stop.All(stop.Done(), stop.Stalled(2)), stop.Iterations(1)),
		"done && (stalled(2) || iterations >= 1)":   stop.All(stop.Done(), stop.Any(stop.Stalled(2), stop.Iterations(1))),
		"done && stalled(2) || iterations >= 1":     stop.Any(stop.All(stop.Done(), stop.Stalled(2)), stop.Iterations(1)),
		"tokens >= 5":                               stop.Any(stop.All(stop.Tokens(5))),
		"tokens >= 5 || mine || iterations >= 1":    stop.Any(stop.Tokens(5), theirs("mine || iterations >= 1")),
		"tokens >= 5 && (mine || iterations >= 1)":  stop.All(stop.Tokens(5), theirs("mine || iterations >= 1")),
		"!(mine || iterations >= 1)":                stop.Not(theirs("mine || iterations >= 1")),
		"tokens >= 5 && mine && iterations >= 1":    stop.All(stop.Tokens(5), theirs("mine && iterations >= 1")),
	} {
		if got := c.String(); got != want {
			t.Errorf("prints %s, want %s", got, want)
		}
		a := pawl.Agent{Model: model{priced: true}, Goal: &pawl.Goal{}, Builtins: true, Tools: []pawl.Tool{tool{pawl.ToolInfo{Name: "submit_po"}}}}
		if err := c.(pawl.Checker).Check(a); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if strings.Contains(want, "mine") {
			continue
		}
		if back, err := stop.Parse(want, options); err != nil || back.String() != want {
			t.Errorf("%s parses back to %v, %v", want, back, err)
		}
	}
}

// theirs is a condition that somebody else wrote.
type theirs string

func (c theirs) String() string { return string(c) }

func (c theirs) Eval(s *pawl.State) pawl.Verdict {
	return pawl.Verdict{Holds: true, Detail: "they say so"}
}

// What cannot be a condition never holds, not even negated within another, and
// says why when it is checked.
func TestBroken(t *testing.T) {
	for want, c := range map[string]pawl.Condition{
		"text_matches: error parsing regexp: missing closing ): `(`":                                                                        stop.TextMatches("("),
		"text_matches: error parsing regexp: invalid UTF-8: `\xff`":                                                                         stop.TextMatches("\xff"),
		`expected a string that is not empty, as in tool_called("NAME") or tool_called("NAME", args.x == 1)`:                                stop.ToolCalled(""),
		`stop.ToolCalledWith: args.x >: column 9: expected a name, a value, ! or (, found the end`:                                          stop.ToolCalledWith("a", "args.x >"),
		`stop.ToolCalledWith: arg.x: column 1: unknown name arg (did you mean args?)`:                                                       stop.ToolCalledWith("a", "arg.x"),
		`confidence is compared with a number from 0 to 1, as in confidence >= 0.9; found 90`:                                               stop.Confidence(90),
		`iterations is compared with a number that is not negative, as in iterations >= 10; found -1`:                                       stop.Iterations(-1),
		`elapsed is compared with a duration that is not negative, as in elapsed >= 30s; found -1s`:                                         stop.Elapsed(-time.Second),
		`cost is compared with a number within range, as in cost >= 0.5; found NaN`:                                                         stop.Cost(nan()),
		`stop.Metric: "=>" is not a comparison operator (there is ==, !=, <, <=, >, >=)`:                                                    stop.Metric("=>", 1),
		`expected a whole number from 1, found 0, in stalled(3)`:                                                                            stop.Stalled(0),
		`stop.When("x"): the function is nil`:                                                                                               stop.When("x", nil),
		`stop.Any has no condition: it wants at least one`:                                                                                  stop.Any(),
		`stop.All: condition 2 of 2 is nil`:                                                                                                 stop.All(stop.Done(), nil),
		`stop.Not: condition 1 of 1 is nil`:                                                                                                 stop.Not(nil),
		`stop.Failed: condition 1 of 1 is nil`:                                                                                              stop.Failed(nil),
		"the condition a < b < c does not print as source that stop.Parse reads: column 7: comparisons do not chain (write a < b && b < c)": stop.Any(theirs("a < b < c"), stop.Done()),
	} {
		if got := objections(c, pawl.Agent{}); got != want {
			t.Errorf("%s objects:\n%s\nwant:\n%s", c, got, want)
		}
		for _, c := range []pawl.Condition{c, stop.Not(c), stop.All(stop.Not(c)), stop.Any(stop.Success(c))} {
			if v := c.Eval(new(pawl.State)); v.Holds {
				t.Errorf("%s holds: %+v", c, v)
			}
			if got := objections(c, pawl.Agent{}); got != want {
				t.Errorf("%s objects: %s", c, got)
			}
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// Every objection is reported, not only the first.
func TestCheckReportsAll(t *testing.T) {
	c := stop.Any(stop.TextMatches("("), stop.All(stop.ToolCalled("x"), stop.Not(stop.Metric("<", 0))), stop.Confidence(0.5))
	got := objections(c, pawl.Agent{Model: model{}})
	want := "text_matches: error parsing regexp: missing closing ): `(`\n" +
		`tool_called("x") can never hold: the agent has no tool x` + "\n" +
		"metric < 0 can never hold: the agent has no goal, so nothing is measured (set Goal)\n" +
		"confidence >= 0.5 can never hold: nothing in the agent sets a confidence (add a reflexion policy, or the built-in tools for __complete__)"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// What is put together in code may be more than source can say.
func TestTooDeepToPrint(t *testing.T) {
	c := stop.Done()
	for range 200 {
		c = stop.Not(c)
	}
	const want = "the condition prints as what does not parse: column 101: nested more than 100 deep"
	if got := objections(c, pawl.Agent{}); got != want {
		t.Errorf("got %s", got)
	}
}

// A foreign condition keeps its verdict within ours.
func TestForeign(t *testing.T) { // Promises: T12.
	c := stop.Any(stop.Iterations(1), stop.All(stop.Not(stop.Done()), theirs("mine")))
	want := pawl.Verdict{Holds: true, Status: pawl.StatusExhausted, Condition: "!done && mine", Leaf: "mine", Detail: "the model has not answered, they say so"}
	if got := c.Eval(new(pawl.State)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
