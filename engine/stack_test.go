//go:build !race

package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// A run that waits for its model in a later turn has 8 KB of stack once the garbage
// collector has run. Sixteen would show that a frame on the way to the model has
// grown, as by a large value that is copied there.
// Under the race detector every frame is larger, so this is built without it.
func TestWaitingTakesLittleStack(t *testing.T) {
	const runs = 300
	double := func(_ context.Context, in struct{ N int }) (int, error) { return 2 * in.N, nil }
	agent := pawl.Agent{Name: "doubling", Tools: []pawl.Tool{tool.Func("double", "Double a number.", double, pawl.Read)}}
	quick := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) > 6 {
			return pawl.Say("done"), nil
		}
		return pawl.Do(pawl.Call{Tool: "double", Args: fmt.Appendf(nil, `{"N":%d}`, len(r.Messages))}), nil
	})
	agent.Model = quick
	if result, err := engine.Run(t.Context(), agent, "go"); err != nil || result.ToolCalls != 3 { // what is made once is made
		t.Fatal(result.Verdict, err)
	}
	var waiting, held sync.WaitGroup
	waiting.Add(runs)
	held.Add(1)
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
	must(t, e.Close())
	if each := (after.StackInuse - before.StackInuse) / runs; each > 12<<10 {
		t.Errorf("a run that waits has %d bytes of stack", each)
	}
}
