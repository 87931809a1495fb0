//go:build unix

package postgres_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/postgres"
)

// An unsought inbox shows no new signals to who looks at all mail.
type unsought struct {
	*postgres.Journal
	hidden atomic.Bool
}

func (j *unsought) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	if run == "" && j.hidden.Load() {
		return func(func(pawl.Signal, error) bool) {}
	}
	return j.Journal.Signals(ctx, run, after)
}

// idle is a tool that runs until it is told to end.
type idle struct {
	begun chan struct{}
	ended chan time.Time
}

func newIdle() idle { return idle{make(chan struct{}, 1), make(chan time.Time, 1)} }

func (idle) Info() pawl.ToolInfo {
	info := (&note{}).Info()
	info.Effect, info.Timeout = pawl.Read, 20*time.Minute
	return info
}

func (i idle) Run(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
	i.begun <- struct{}{}
	<-ctx.Done()
	i.ended <- time.Now()
	return pawl.Output{}, ctx.Err()
}

// begin starts a run that idles, and returns when it does.
func (i idle) begin(tb testing.TB, e *engine.Engine) *engine.Handle {
	tb.Helper()
	run, err := e.Start(tb.Context(), noting(i, 1), "go", nil)
	if err != nil {
		tb.Fatal(err)
	}
	<-i.begun
	return run
}

// TestEngineListens has one engine cancel the runs of another, which finds no
// signal by looking: only word of them brings it there.
func TestEngineListens(t *testing.T) {
	name := schema()
	j, other := &unsought{Journal: openAt(t, started(t).url(), name)}, openAt(t, started(t).url(), name)
	here, there := engine.New(j, nil), engine.New(other, nil)
	t.Cleanup(func() {
		if err := here.Close(); err != nil {
			t.Error(err)
		}
	})
	cancelled := func(run *engine.Handle) {
		t.Helper()
		if err := there.Cancel(t.Context(), run.ID(), "x", "enough"); err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Status != pawl.StatusCancelled {
			t.Fatal(result.Verdict, err)
		}
	}
	busy := newIdle()
	kept := busy.begin(t, here)
	until(t, "the engine listens", func() bool { return listeners(t, other) == 1 })
	j.hidden.Store(true)
	for range 3 {
		cancelled(newIdle().begin(t, here))
	}

	// A broken connection costs only time and is replaced.
	run := newIdle().begin(t, here)
	j.hidden.Store(false)
	raw(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`)
	cancelled(run)
	until(t, "the engine listens again", func() bool { return listeners(t, other) == 1 })
	j.hidden.Store(true)
	cancelled(newIdle().begin(t, here))

	j.hidden.Store(false)
	cancelled(kept)
	until(t, "nobody listens when nothing runs", func() bool { return listeners(t, other) == 0 })
}
