package workflow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/workflow"
)

// landing is a workflow of two steps whose limits allow only one, unless they are raised.
func landing(last ...workflow.Step) pawl.Agent {
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		m := r.Messages[len(r.Messages)-1]
		text, _ := m.Parts[0].(pawl.Text)
		if strings.Contains(text.Text, "You have reached a limit") {
			return pawl.Say("So far: " + text.Text), nil
		}
		return pawl.Say("done: " + text.Text), nil
	})
	steps := []workflow.Step{
		workflow.While{ID: "loop", Cond: "steps.loop.rounds != 1", Max: 1, Do: []workflow.Step{workflow.Single{ID: "one", Prompt: "first"}}},
		workflow.Single{ID: "two", Prompt: "second"},
	}
	return workflow.New(pawl.Agent{Name: "landing", Model: model, Limits: pawl.Limits{Iterations: 1}}, append(steps, last...)...)
}

// TestFinal: at a limit the model answers from the steps that are finished, wherever a process died;
// the run can still be resumed, and then ends with its last step.
func TestFinal(t *testing.T) {
	final := workflow.Final{ID: "end", Prompt: "Say what is known."}
	pawltest.KillEverywhere(t, func() pawl.Agent { return landing(final) }, "Go.")
	r, err := engine.Run(t.Context(), landing(final), "Go.")
	if err != nil || r.Status != pawl.StatusExhausted || r.Usage.ModelCalls != 2 {
		t.Fatal(r.Verdict, r.Usage, err)
	}
	for _, want := range []string{"Say what is known.", "Input: Go.", "Step one is finished: done: first"} {
		if !strings.Contains(r.Answer, want) {
			t.Errorf("the answer is %s, want %q in it", r.Answer, want)
		}
	}
	if strings.Contains(r.Answer, "Step two") {
		t.Errorf("step two is said to be finished: %s", r.Answer)
	}
	if r, err = engine.Run(t.Context(), landing(), "Go."); err != nil || r.Answer != "" || r.Usage.ModelCalls != 1 {
		t.Errorf("without it: %q after %d calls of the model, %v", r.Answer, r.Usage.ModelCalls, err)
	}
	whole := landing(final)
	whole.Limits.Iterations = 5
	if r, err = engine.Run(t.Context(), whole, "Go."); err != nil || r.Answer != "done: second" || r.Usage.ModelCalls != 2 {
		t.Errorf("with enough: %q, %v", r.Answer, err)
	}
	if _, err := pawl.NewMachine(landing(final, workflow.Single{ID: "three", Prompt: "third"})); err == nil || !strings.Contains(err.Error(), "put it last") {
		t.Error(err)
	}
}
