package engine_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// unread is a journal whose logs cannot be read.
type unread struct{ *memory.Journal }

func (unread) Read(context.Context, string, uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) { yield(pawl.Row{}, errDisk) }
}

// An id that was claimed and never used is that of an unknown run: it is started, not resumed.
// Nor does a run exist because nobody can read whether it does.
func TestNeverBegan(t *testing.T) {
	j, agent := memory.New(), pawl.Agent{Name: "a", Model: says()}
	e := engine.New(j, nil)
	l, err := engine.ClaimNew(t.Context(), j, "r")
	must(t, err)
	engine.Release(j, l)
	if _, err := e.Resume(t.Context(), agent, "r", nil); !errors.Is(err, pawl.ErrUnknownRun) {
		t.Error("resume:", err)
	}
	if _, err := engine.New(unread{j}, nil).Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"}); !errors.Is(err, errDisk) || errors.Is(err, pawl.ErrRunExists) {
		t.Error("start:", err)
	}
	ends(t, begin(t, e, agent), pawl.StatusSuccess)
	if _, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"}); !errors.Is(err, pawl.ErrRunExists) {
		t.Error("start again:", err)
	}
}

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
