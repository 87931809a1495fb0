package engine_test

import (
	"errors"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// Of several programs that saw a run at the same entry, the first resumes it. The others learn that it
// has moved, also when it has no owner any more.
func TestResumeAfter(t *testing.T) {
	j := memory.New()
	e := engine.New(j, nil)
	agent := pawl.Agent{Name: "a", Model: script.Replies(pawl.Say("x"), pawl.Say("y"), pawl.Say("z")), Limits: pawl.Limits{Iterations: 1}, Output: []byte(`{"type": "integer"}`)}
	ends(t, begin(t, e, agent), pawl.StatusExhausted)
	o := engine.ResumeOptions{After: loaded(t, j, "r").Seq(), Limits: pawl.Limits{Iterations: 2}}
	h, err := e.Resume(t.Context(), agent, "r", &o)
	must(t, err)
	<-h.Done()
	if _, err := e.Resume(t.Context(), agent, "r", &o); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("the second to resume it gets %v", err)
	}
	o.After, o.Limits.Iterations = loaded(t, j, "r").Seq(), 3
	if h, err = e.Resume(t.Context(), agent, "r", &o); err != nil {
		t.Fatalf("the lease was not given up: %v", err)
	}
	<-h.Done()
}
