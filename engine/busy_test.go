package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// An engine drives MaxRuns at once. One more is refused and leaves no trace; when one has
// ended, the next may start.
func TestMaxRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := pawl.Agent{Name: "slow", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			time.Sleep(time.Minute)
			return pawl.Say("Done."), nil
		})}
		j := memory.New()
		e := engine.New(j, &engine.Options{MaxRuns: 2})
		var last *engine.Handle
		for _, key := range []string{"one", "two", "two"} { // the last finds its run
			h, err := e.Start(t.Context(), slow, "Go.", &engine.StartOptions{Key: key})
			must(t, err)
			last = h
		}
		if _, err := e.Start(t.Context(), slow, "Go.", &engine.StartOptions{Key: "three"}); !errors.As(err, new(*engine.BusyError)) {
			t.Errorf("another key: %v", err)
		}
		_, err := e.Start(t.Context(), slow, "Go.", &engine.StartOptions{ID: "third"})
		if busy, ok := errors.AsType[*engine.BusyError](err); !ok || busy.Max != 2 {
			t.Fatalf("the third run: %v", err)
		}
		if _, err := engine.Load(t.Context(), j, "third"); !errors.Is(err, pawl.ErrUnknownRun) {
			t.Errorf("the third run is in the journal: %v", err)
		}
		if _, err := last.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h, err := e.Start(t.Context(), slow, "Go.", &engine.StartOptions{ID: "third"})
		must(t, err)
		if r, err := h.Wait(t.Context()); err != nil || r.Err() != nil {
			t.Errorf("%v, %v", err, r.Err())
		}
	})
}

// A lease outlasts a short pause of its process, however short it is meant to be.
func TestShortLease(t *testing.T) {
	j := memory.New()
	quick := pawl.Agent{Name: "quick", Model: pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		for h := range j.List(ctx, pawl.Query{Run: r.Run}) {
			if d := h.Lease.Until.Sub(h.Created); d < 40*time.Millisecond {
				t.Errorf("the run is leased for %v", d)
			}
		}
		return pawl.Say("Done."), nil
	})}
	h, err := engine.New(j, &engine.Options{Lease: 1}).Start(t.Context(), quick, "Go.", nil)
	must(t, err)
	if _, err := h.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
