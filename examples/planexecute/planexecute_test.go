package planexecute_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/examples/planexecute"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

const lunch = "Get lunch for twelve."

// thoughts are what the model says when it is not working on a step.
var thoughts = map[pawl.Purpose]string{
	"plan-1":    "1. Find a caterer.\n2. Order lunch.",
	"reflect-1": "Three of the twelve are vegetarians, and nobody asked.",
	"plan-2":    "- Ask for a vegetarian dish.",
	"reflect-2": "Yes: lunch is ordered for everybody.",
}

// cook is a model that plans as it is told and gets lunch.
func cook(thoughts map[pawl.Purpose]string) pawl.ModelFunc {
	return func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if r.Purpose != pawl.PurposeTurn {
			return pawl.Say(thoughts[r.Purpose]), nil
		}
		last := r.Messages[len(r.Messages)-1]
		for _, part := range last.Parts {
			if result, ok := part.(pawl.ToolResult); ok {
				return pawl.Say(result.Text()), nil
			}
		}
		do := func(tool, args string) (pawl.Reply, error) {
			return pawl.Do(pawl.Call{Tool: tool, Args: json.RawMessage(args)}), nil
		}
		switch said := last.Text(); {
		case strings.Contains(said, "Find"):
			return do("find", `{"what":"caterer"}`)
		case strings.Contains(said, "vegetarian"):
			return do("ask", `{"dish":"vegetable curry"}`)
		}
		return do("order", `{"for":12}`)
	}
}

func caterer(m pawl.Model) pawl.Agent {
	const about = "Helps with lunch."
	return pawl.Agent{
		Name: "host", Model: m, Loop: planexecute.Loop{Plans: 3},
		Tools: []pawl.Tool{
			tool.Func("find", about, func(context.Context, struct {
				What string `json:"what"`
			}) (string, error) {
				return "Cantina Verde caters.", nil
			}, pawl.Read),
			tool.Func("order", about, func(context.Context, struct {
				For int `json:"for"`
			}) (string, error) {
				return "Lunch for twelve is ordered.", nil
			}, pawl.Write),
			tool.Func("ask", about, func(context.Context, struct {
				Dish string `json:"dish"`
			}) (string, error) {
				return "Three of them are vegetable curry.", nil
			}, pawl.Idempotent),
		},
	}
}

func TestPlanSurvives(t *testing.T) { // Promises: D1.
	log := pawltest.KillEverywhere(t, func() pawl.Agent { return caterer(cook(thoughts)) }, lunch, nil)
	var thinks []string
	for _, e := range log {
		if call, ok := e.Event.(pawl.ModelCalled); ok {
			thinks = append(thinks, fmt.Sprintf("%d %s", e.Iteration, call.Purpose))
		}
	}
	const want = "0 plan-1, 1 turn, 2 turn, 3 turn, 4 turn, 4 reflect-1, 4 plan-2, 5 turn, 6 turn, 6 reflect-2"
	if got := strings.Join(thinks, ", "); got != want {
		t.Errorf("the model was called for\n%s, want\n%s", got, want)
	}
}

// A step is said once, and what it says stays: a model that is asked again, by
// a retry or after its calls, still knows what it is to do.
func TestPlannedStepsAreSaidOnce(t *testing.T) {
	m := cook(thoughts)
	a := caterer(pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if r.Purpose == pawl.PurposeTurn {
			said := ""
			for _, message := range r.Messages {
				said += message.Text()
			}
			if n := strings.Count(said, "Carry out step 1 of 2"); n != 1 {
				t.Errorf("the first step is said %d times", n)
			}
			if r.Attempt == 1 {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassOverloaded}
			}
		}
		return m(ctx, r)
	}))
	eng := engine.New(memory.New(), &engine.Options{Backoff: func(int) time.Duration { return 0 }})
	run, err := eng.Start(t.Context(), a, lunch, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := run.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
		t.Errorf("%v, %v", r.Verdict, err)
	}
}

func TestPlanEndings(t *testing.T) {
	never := map[pawl.Purpose]string{}
	for round := range 9 {
		never[pawl.Purpose(fmt.Sprintf("plan-%d", round))] = "Order lunch."
		never[pawl.Purpose(fmt.Sprintf("reflect-%d", round))] = "It is still too little."
	}
	for _, c := range []struct {
		name     string
		thoughts map[pawl.Purpose]string
		limits   pawl.Limits
		want     string
	}{
		{"done", thoughts, pawl.Limits{}, "success: plan-execute"},
		{"never content", never, pawl.Limits{}, "no_progress: plan-execute"},
		{"no plan", map[pawl.Purpose]string{"plan-1": "-\n"}, pawl.Limits{}, "plan_failed: the model made no plan"},
		{"ceiling in a step", thoughts, pawl.Limits{Iterations: 3}, "exhausted: iterations >= 3"},
		{"ceiling at the first plan", thoughts, pawl.Limits{Tokens: 30}, "exhausted: tokens >= 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := caterer(cook(c.thoughts))
			a.Limits = c.limits
			r, err := engine.Run(t.Context(), a, lunch)
			if err != nil || r.Verdict.String() != c.want {
				t.Errorf("%v (%s), %v; want %s", r.Verdict, r.Reason.Detail, err, c.want)
			}
		})
	}
}
