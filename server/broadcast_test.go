package server

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// blinking is a journal whose logs cannot be read for a while.
type blinking struct {
	*memory.Journal
	out atomic.Bool
}

func (b *blinking) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	if b.out.Load() {
		return func(yield func(pawl.Row, error) bool) { yield(pawl.Row{}, errors.New("not now")) }
	}
	return b.Journal.Read(ctx, run, from)
}

// Somebody who begins to watch a run after its log could not be read watches it, even if others
// have yet to notice the failure.
func TestWatchAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &blinking{Journal: memory.New()}
		if _, err := j.Claim(t.Context(), pawl.Claim{Run: "r", New: true, Owner: "elsewhere", TTL: time.Minute}); err != nil {
			t.Fatal(err)
		}
		h := newHubs(j, func(string) *engine.Handle { return nil })
		defer h.close()
		enter := func() *reader {
			r, _, err := h.enter(t.Context(), "r", 0)
			must(t, err)
			return r
		}
		j.out.Store(true)
		first := enter()
		synctest.Wait()
		if _, _, _, err := first.take(t.Context()); err == nil {
			t.Error("the first reader is not told")
		}
		j.out.Store(false)
		second := enter()
		if _, wait, _, err := second.take(t.Context()); err != nil || wait == nil {
			t.Errorf("the second one gets %v", err)
		}
		first.leave()
		second.leave()
	})
}
