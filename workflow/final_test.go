package workflow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
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
	pawltest.KillEverywhere(t, func() pawl.Agent { return landing(final) }, "Go.", nil)
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

// TestGraphFinal: a graph whose rounds or tokens are used up answers from the nodes that are finished,
// wherever a process died, and goes on when its limit is raised.
func TestGraphFinal(t *testing.T) {
	build := func(rounds int, last ...workflow.Step) pawl.Agent {
		a := landing()
		a.Loop, a.Tools, a.Output, a.Limits = nil, nil, nil, pawl.Limits{Rounds: rounds}
		return workflow.Graph(a, append([]workflow.Step{workflow.Single{ID: "one", Prompt: "first"}, workflow.Single{ID: "two", Prompt: "second"}}, last...),
			workflow.Edge{To: "one", Join: workflow.JoinAny}, workflow.Edge{From: "one", To: "two", Join: workflow.JoinAny},
			workflow.Edge{From: "two", To: "one", If: "steps.two.rounds < 3", Join: workflow.JoinAny})
	}
	final := workflow.Final{ID: "end", Prompt: "Say what is known."}
	pawltest.KillEverywhere(t, func() pawl.Agent { return build(2, final) }, "Go.", nil)
	e := engine.New(memory.New(), nil)
	h, err := e.Start(t.Context(), build(2, final), "Go.", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Wait(t.Context())
	if err != nil || r.Verdict.String() != "exhausted: rounds >= 2" || r.Usage.ModelCalls != 5 {
		t.Fatal(r.Verdict, r.Usage, err)
	}
	for _, want := range []string{"Say what is known.", "Step one is finished: done: first", "Step two is finished: done: second"} {
		if !strings.Contains(r.Answer, want) {
			t.Errorf("the answer is %s, want %q in it", r.Answer, want)
		}
	}
	if _, err := e.Resume(t.Context(), build(2, final), h.ID(), &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 50}}); err == nil || !strings.HasSuffix(err.Error(), "raise that limit further") {
		t.Errorf("without more rounds: %v", err)
	}
	if h, err = e.Resume(t.Context(), build(2, final), h.ID(), &engine.ResumeOptions{Limits: pawl.Limits{Rounds: 3}}); err != nil {
		t.Fatal(err)
	}
	if r, err = h.Wait(t.Context()); err != nil || r.Answer != "done: second" || r.Status != pawl.StatusSuccess || r.Usage.ModelCalls != 7 {
		t.Errorf("with more rounds: %v, %q after %d calls, %v", r.Verdict, r.Answer, r.Usage.ModelCalls, err)
	}
	if r, err = engine.Run(t.Context(), build(2), "Go."); err != nil || r.Answer != "done: second" || r.Usage.ModelCalls != 4 {
		t.Errorf("without it: %q after %d calls of the model, %v", r.Answer, r.Usage.ModelCalls, err)
	}
	landed := false
	for tokens := 1000; tokens < 1500 && !landed; tokens += 20 { // until they do for a node, and not for all
		poor := build(9, final)
		poor.Limits.Tokens = tokens
		if r, err = engine.Run(t.Context(), poor, "Go."); err != nil {
			t.Fatal(err)
		}
		landed = r.Status == pawl.StatusExhausted && strings.Contains(r.Answer, "Step one is finished")
	}
	if !landed {
		t.Errorf("without tokens: %v, %q", r.Verdict, r.Answer)
	}
}
