package progress_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// answers is a tool of a name and effect whose result is a function of its argument.
type answers struct {
	name   string
	effect pawl.Effect
	to     func(n int) (string, error)
}

func (a answers) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: a.name, Description: a.name, Effect: a.effect, Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (a answers) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args struct{ N int }
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	text, err := a.to(args.N)
	if err != nil {
		return pawl.Output{}, err
	}
	return pawl.Output{JSON: fmt.Appendf(nil, "%q", text)}, nil
}

func echo(n int) (string, error) { return fmt.Sprint("page ", n), nil }

// by makes a turn's reply of the turn's number, from 1.
func by(reply func(turn int) pawl.Reply) pawl.Model {
	n := 0
	return pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { n++; return reply(n), nil })
}

func thinking(text, tool string, n int) pawl.Reply {
	r := does(tool, n)
	r.Parts = append([]pawl.Part{pawl.Text{Text: text}}, r.Parts...)
	return r
}

// TestStandstillIsSeen: whatever way a run gets nowhere in, it is seen, and progress
// is not taken for it.
func TestStandstillIsSeen(t *testing.T) {
	page := answers{"page", pawl.Read, echo}
	other := answers{"other", pawl.Read, echo}
	flat := func(values ...float64) *pawl.Goal {
		var course []pawl.Measured
		for _, v := range values {
			course = append(course, pawl.Measured{Value: v})
		}
		return measures(stop.Metric(">=", 100), course...)
	}
	const left = "iterations >= 20" // left alone
	for _, c := range []struct {
		name  string
		agent pawl.Agent
		leaf  string
		turns int
	}{
		{"replies that only talk do not reset anything", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return pawl.Say(fmt.Sprint("Done, ", turn)) }), Tools: []pawl.Tool{page}, Goal: flat(1),
		}, "monologue(3)", 4},
		{"A, B, A, B matches", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does([]string{"page", "other"}[turn%2], 1) }), Tools: []pawl.Tool{page, other},
		}, "cycle(2)", 8},
		{"so does the same error with other arguments", pawl.Agent{
			Model:  by(func(turn int) pawl.Reply { return does("page", turn) }),
			Tools:  []pawl.Tool{answers{"page", pawl.Read, func(n int) (string, error) { return "", fmt.Errorf("there is no page %d", n) }}},
			Limits: pawl.Limits{ToolErrors: 20},
		}, "same_fault(3)", 4},
		{"a metric that gets worse is no progress", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does("edit", turn) }), Tools: []pawl.Tool{edit{}}, Goal: flat(9, 8, 7, 6, 5, 4, 3),
		}, "metric_worse(3)", 4},
		{"nor one that goes to and fro beside the same calls", pawl.Agent{
			Model: by(func(int) pawl.Reply { return does("edit", 1) }), Tools: []pawl.Tool{edit{}}, Goal: flat(5, 4, 5, 4, 5, 4, 5),
		}, "stalled(3)", 4},
		{"polling what changes is progress", pawl.Agent{
			Model: pawl.ModelFunc(stubborn), Tools: []pawl.Tool{look{counts: true, seen: new(int)}},
		}, left, 20},
		{"Hyphen: the same action with the same parameters", pawl.Agent{
			Model: by(func(int) pawl.Reply { return does("page", 1) }), Tools: []pawl.Tool{page},
		}, "stalled(3)", 4},
		{"Hyphen: two actions that alternate without new information, not with", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does([]string{"page", "other"}[turn%2], turn/2) }), Tools: []pawl.Tool{page, other},
		}, left, 20},
		{"Hyphen: identical thoughts", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return thinking("I should look.", "page", turn) }),
			Tools: []pawl.Tool{answers{"page", pawl.Read, func(int) (string, error) { return "nothing", nil }}},
		}, "same_thought(3)", 4},
		{"Hyphen: but not beside what is new", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return thinking("Next.", "page", turn) }), Tools: []pawl.Tool{page},
		}, left, 20},
		{"paging is no loop", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does("page", turn) }), Tools: []pawl.Tool{page},
		}, left, 20},
		{"three approaches that fail are three approaches", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does([]string{"page", "other"}[turn%2], turn%3) }),
			Tools: []pawl.Tool{
				answers{"page", pawl.Read, func(int) (string, error) { return "", errors.New("no such page") }},
				answers{"other", pawl.Read, func(n int) (string, error) {
					return "", []error{errors.New("locked"), errors.New("gone"), errors.New("late")}[n]
				}},
			},
			Limits: pawl.Limits{ToolErrors: 5},
		}, "tool_errors >= 5", 5},
		{"to look for a cause for long is no lack of progress", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does("page", turn) }), Tools: []pawl.Tool{page}, Goal: flat(1),
		}, left, 20},
		{"changes without end that lead nowhere are", pawl.Agent{
			Model: by(func(turn int) pawl.Reply { return does("edit", turn) }), Tools: []pawl.Tool{edit{}}, Goal: flat(1),
		}, fmt.Sprintf("metric_flat(%d)", progress.Patience(progress.Window)), 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.agent.Name = "pupil"
			s := drive(t, c.agent)
			if s.Verdict().Leaf != c.leaf || s.Iteration() != c.turns {
				t.Errorf("after %d turns %v; want %s after %d", s.Iteration(), s.Verdict(), c.leaf, c.turns)
			}
		})
	}
}
