package engine_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
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
