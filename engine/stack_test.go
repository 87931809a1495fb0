//go:build !race

package engine_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// A run that waits for its model in a later turn has 8 KB of stack once the garbage
// collector has run. Sixteen would show that a frame on the way to the model has
// grown; see Machine.filled.
// Under the race detector every frame is larger, so this is built without it.
func TestWaitingTakesLittleStack(t *testing.T) {
	const runs = 300
	if _, err := engine.Run(t.Context(), counter(3), "go"); err != nil { // what is made once is made
		t.Fatal(err)
	}
	var waiting, held sync.WaitGroup
	waiting.Add(runs)
	held.Add(1)
	quick := counting(3)
	agent := counter(3)
	agent.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 3 {
			waiting.Done()
			held.Wait()
		}
		return quick(ctx, r)
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := engine.New(memory.New(), nil)
	for range runs {
		if _, err := e.Start(t.Context(), agent, "go", nil); err != nil {
			t.Fatal(err)
		}
	}
	waiting.Wait()
	runtime.GC() // which halves the stacks that a check of arguments has grown
	runtime.ReadMemStats(&after)
	held.Done()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if each := (after.StackInuse - before.StackInuse) / runs; each > 12<<10 {
		t.Errorf("a run that waits has %d bytes of stack", each)
	}
}
