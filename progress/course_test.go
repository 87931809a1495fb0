package progress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// turns is a model that makes one reply after the other, and the last one for ever.
func turns(replies ...pawl.Reply) pawl.Model {
	n := 0
	return pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		n++
		return replies[min(n, len(replies))-1], nil
	})
}

func does(tool string, n int) pawl.Reply {
	return pawl.Do(pawl.Call{Tool: tool, Args: fmt.Appendf(nil, `{"n":%d}`, n)})
}

// edit is a tool that changes something.
type edit struct{}

func (edit) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "edit", Description: "Edit.", Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (edit) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: json.RawMessage(`"done"`)}, nil
}

// measures is a goal that is measured along a given course.
func measures(success pawl.Condition, course ...pawl.Measured) *pawl.Goal {
	n := 0
	return &pawl.Goal{Success: success, Metric: func(context.Context, pawl.Observation) (pawl.Measured, error) {
		n++
		return course[min(n, len(course))-1], nil
	}}
}

func drive(t *testing.T, agent pawl.Agent) *pawl.State {
	t.Helper()
	j := memory.New()
	run, err := engine.New(j, nil).Start(t.Context(), agent, "go", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := engine.Load(t.Context(), j, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onward is a loop for which nothing is ever final.
type onward struct{}

func (onward) Name() string { return "onward" }

func (onward) Next(s *pawl.State) pawl.Step {
	if s.HasOpen() {
		return pawl.Act{}
	}
	return pawl.Think{Purpose: pawl.PurposeTurn}
}

func TestTalkWithoutAGoal(t *testing.T) {
	said := 0
	for want, model := range map[string]pawl.Model{
		"monologue(3)": turns(pawl.Say("I am thinking about it.")),
		"iterations >= 9": pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			said++
			return pawl.Say(fmt.Sprint("draft ", said)), nil
		}),
	} {
		s := drive(t, pawl.Agent{Name: "talker", Model: model, Loop: onward{}, Limits: pawl.Limits{Iterations: 9}})
		if got := s.Verdict().Leaf; got != want {
			t.Errorf("ended by %s, want %s", got, want)
		}
	}
}

// TestDrift: a goal that others make worse while the model thinks is held
// against no turn, and what gets it further from there is progress.
func TestDrift(t *testing.T) {
	at := func(values ...float64) (course []pawl.Measured) {
		for _, v := range values {
			course = append(course, pawl.Measured{Value: v})
		}
		return course
	}
	for _, c := range []struct {
		replies []pawl.Reply
		course  []pawl.Measured
		want    string
	}{
		{[]pawl.Reply{does("edit", 1), pawl.Say("Done."), does("edit", 2)}, at(-1, -1, -2, -3), "iterations >= 3"},
		{[]pawl.Reply{does("edit", 1), does("edit", 2), does("edit", 3)}, at(-1, -2, -3, -3), "metric_worse(1)"},
		{[]pawl.Reply{does("edit", 1), pawl.Say("Done."), does("edit", 1)}, at(-5, -4, -9, -8), "iterations >= 3"},
	} {
		s := drive(t, pawl.Agent{
			Name: "mender", Tools: []pawl.Tool{edit{}}, Limits: pawl.Limits{Iterations: 3}, Policies: []pawl.Policy{progress.NoProgress(1, 0, "")},
			Model: turns(c.replies...), Goal: measures(stop.Metric(">=", 0), c.course...),
		})
		if got := s.Verdict().Leaf; got != c.want {
			t.Errorf("%v ends by %s, want %s", c.course, got, c.want)
		}
	}
}
