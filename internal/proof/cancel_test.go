//go:build linux || darwin

package proof_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// types are the types of the run's entries.
func (c *cell) types(t *testing.T) (list []string) {
	t.Helper()
	j, err := open(c.dir)
	must(t, err)
	defer func() { _ = j.Close() }()
	for e, err := range engine.Entries(context.Background(), j, runID, 1) {
		must(t, err)
		list = append(list, e.Type())
	}
	return list
}

// TestKillCancel kills who cancels a run that waits, before and after
// everything he does, and has another cancel it, too: it is cancelled once, and
// nothing of it happens any more.
func TestKillCancel(t *testing.T) {
	waits := func(t *testing.T) *cell {
		c := newCell(t)
		c.process("run", shot{})
		return c
	}
	c := waits(t)
	c.records = true
	c.process("cancel", shot{})
	points := c.passed[len(c.passed)-1]
	if len(points) < 8 {
		t.Fatalf("who cancels passes only %v", points)
	}
	alongside(t, sample(points, 1, 4), strings.Clone, func(t *testing.T, p string) {
		c := waits(t)
		effects := len(c.notes("ledger"))
		if _, killed := c.process("cancel", shot{stop: p + "|1"}); !killed {
			t.Error("nobody was killed")
		}
		w, err := spawn(c.dir, "cancel", "") // which may find that it is over
		must(t, err)
		if _, err := w.end(shot{}, patience); err != nil && !strings.Contains(err.Error(), "is over: cancelled") {
			t.Error(err)
		}
		c.audit()
		types := c.types(t)
		last := types[len(types)-1]
		n := len(slices.DeleteFunc(slices.Clone(types), func(s string) bool { return s != "cancel.requested" }))
		if last != "run.stopped" || n != 1 || len(c.notes("ledger")) != effects {
			t.Errorf("%d cancels, then %s, and %d effects after %d", n, last, len(c.notes("ledger")), effects)
		}
		c.complain(t)
	})
}

// TestKillCancelled kills the owner of a run that is being cancelled while a
// Write runs. Resuming the run cancels it, and nothing starts any more; resuming
// it again reports the Write.
func TestKillCancelled(t *testing.T) {
	for _, when := range []string{"before tool pay|1", "after tool pay|1"} {
		c := newCell(t)
		w, err := spawn(c.dir, "run", when)
		must(t, err)
		<-w.at
		c.process("cancel", shot{})
		w.at <- "" // that it stops is to be heard again
		if killed, err := w.end(shot{}, patience); !killed {
			t.Fatal(err)
		}
		effects := len(c.notes("ledger"))
		r, _ := c.process("run", shot{})
		if r.Result == nil || r.Result.Status != pawl.StatusCancelled || len(c.notes("ledger")) != effects {
			t.Errorf("killed %s it came to %+v", when, r)
		}
		r, _ = c.process("run", shot{})
		if r.Result == nil || r.Result.Status != pawl.StatusWaitingDoubt {
			t.Errorf("resumed it came to %+v", r.Result)
		}
		if n := c.count("ledger", ledgerTool, runID, "pay"); n > 1 {
			t.Errorf("it was paid %d times", n)
		}
		c.complain(t)
	}
}
