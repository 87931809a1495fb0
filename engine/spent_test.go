package engine_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// An agent whose code panics when it is asked ahead is resumed: the panic then is
// the run's.
func TestSpentOfAPanickingLoop(t *testing.T) {
	j := memory.New()
	e := engine.New(j, nil)
	agent := pawl.Agent{Name: "a", Loop: stubborn{}, Model: script.Replies(pawl.Say("x"))}
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	first, _ := h.Wait(t.Context())
	h, err = e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 30}})
	must(t, err)
	if again, _ := h.Wait(t.Context()); again.Status != first.Status {
		t.Errorf("it was %v, and is %v", first.Verdict, again.Verdict)
	}
}

// stubborn panics whenever it is asked.
type stubborn struct{}

func (stubborn) Name() string               { return "stubborn" }
func (stubborn) Next(*pawl.State) pawl.Step { panic("no") }
