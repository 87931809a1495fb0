//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl/journal/postgres"
)

// writers append to some runs of a journal until stop, which checks what they leave.
type writers struct {
	j     *postgres.Journal
	acked [4]atomic.Uint64
	errs  [4]error
	all   sync.WaitGroup
	end   context.CancelFunc
}

func write(t *testing.T, j *postgres.Journal) *writers {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	w := &writers{j: j, end: end}
	for i := range w.acked {
		w.all.Go(func() {
			w.errs[i] = appending(ctx, j, fmt.Sprint("run-", i), "writer", w.acked[i].Store)
		})
	}
	t.Cleanup(w.all.Wait)
	t.Cleanup(end)
	return w
}

// further waits until every run has got something in since.
func (w *writers) further(t *testing.T) {
	t.Helper()
	for i := range w.acked {
		from := w.acked[i].Load()
		until(t, "the writers go on", func() bool { return w.acked[i].Load() > from })
	}
}

func (w *writers) stop(t *testing.T) {
	t.Helper()
	w.end()
	w.all.Wait()
	if err := errors.Join(w.errs[:]...); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for i := range w.acked {
		run := fmt.Sprint("run-", i)
		end := whole(t, w.j, run)
		if acked := w.acked[i].Load(); end != acked {
			t.Errorf("%s ends at %d, but %d was acknowledged last", run, end, acked)
		}
		if head := headOf(t, w.j, run); head != end {
			t.Errorf("the head of %s says %d, its log ends at %d", run, head, end)
		}
	}
}

// TestServerKilled kills the server in the middle of appends and starts it
// again. Nothing acknowledged is lost, although its defaults do not wait for
// the disk, nothing is there twice, and those who were appending go on.
func TestServerKilled(t *testing.T) {
	s := started(t)
	w := write(t, fresh(t))
	rounds := 1
	if os.Getenv("PAWL_PROOF") != "" {
		rounds = 40
	}
	for range rounds {
		w.further(t)
		s.kill(t)
		s.restart(t)
		w.further(t)
	}
	w.stop(t)
}
