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

// witness is a hook that remembers what it was shown and cancels on demand.
type witness struct {
	seen    map[uint64]bool
	forbids func(pawl.Entry) bool
}

func (w *witness) Name() string { return "witness" }

func (w *witness) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	w.seen[e.Seq] = true
	return engine.Direction{Cancel: w.forbids != nil && w.forbids(e), Reason: "no"}
}

// A hook is shown every entry before the effect that follows, also when the
// run changes hands between the two.
func TestHooksAcrossCrashes(t *testing.T) {
	for _, forbid := range []bool{false, true} {
		for n := 2; ; n++ {
			j, l := newTap(), new(ledger)
			w := &witness{seen: map[uint64]bool{}}
			if forbid {
				w.forbids = func(e pawl.Entry) bool {
					r, ok := e.Event.(pawl.ModelReplied)
					return ok && e.Iteration == 3 && r.Purpose == pawl.PurposeTurn
				}
			}
			agent := spender(l.add)
			e := engine.New(j, &engine.Options{Hooks: []engine.Hook{w}})
			count := 0
			j.on(func(b pawl.Batch, write func() error) error {
				if count++; count < n {
					return write()
				}
				return errors.Join(write(), errDisk)
			})
			_, err := wait(t, begin(t, e, agent))
			j.on(nil)
			if err == nil {
				break // it has fewer appends
			}
			s := loaded(t, j, "r")
			if forbid && s.Status() != pawl.StatusCancelled {
				res := settleAll(t, e, agent, "r", func(string) bool { return true })
				if res.Status != pawl.StatusCancelled {
					t.Errorf("append %d: %v, though a hook said no", n, res.Verdict)
				}
				if l.count("pay c_3") > 0 {
					t.Errorf("append %d: an effect took place that a hook had forbidden", n)
				}
			}
			if !forbid && s.Status() != pawl.StatusSuccess {
				settleAll(t, e, agent, "r", func(string) bool { return true })
				s = loaded(t, j, "r")
				for seq := uint64(1); seq < s.Seq(); seq++ {
					if !w.seen[seq] {
						t.Errorf("append %d: entry %d of %d was shown to no hook", n, seq, s.Seq())
					}
				}
			}
			if n > 100 {
				t.Fatal("the run appends for ever")
			}
		}
	}
}

// A run that is cancelled by a hook can be resumed; the same entry does not
// cancel it again.
func TestHookCancelledResumes(t *testing.T) {
	j, l := newTap(), new(ledger)
	w := &witness{seen: map[uint64]bool{}, forbids: func(e pawl.Entry) bool {
		_, ok := e.Event.(pawl.ModelReplied)
		return ok && e.Iteration == 3
	}}
	agent := spender(l.add)
	e := engine.New(j, &engine.Options{Hooks: []engine.Hook{w}})
	ends(t, begin(t, e, agent), pawl.StatusCancelled)
	ends(t, resume(t, e, agent), pawl.StatusSuccess)
	sound(t, e, j, agent, "r")
}

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
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
}
