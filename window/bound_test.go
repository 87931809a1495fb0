package window_test

import (
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl"
)

// TestBoundThinking: a model that takes its thinking back only behind what it saw is compacted later,
// because it has to think again. What it does not think, or takes back in any case, costs nothing.
func TestBoundThinking(t *testing.T) {
	i := 0
	for traces(t)[i].mean != 1200 {
		i++
	}
	first := func(thinks int, bound bool) (iteration int) {
		synctest.Test(t, func(t *testing.T) {
			m := &meter{trace: traces(t)[i].results, turns: 60, read: simRead, write: simWrite, thinks: thinks, bound: bound}
			for _, e := range play(t, m.agent(1000, 0)) {
				if _, is := e.Event.(pawl.ContextCompacted); is && iteration == 0 {
					iteration = e.Iteration
				}
			}
		})
		return iteration
	}
	plain := first(0, false)
	if nothing, free := first(0, true), first(250, false); plain == 0 || nothing != plain || free != plain {
		t.Errorf("compacted first in turn %d, without thinking in turn %d, unbound in turn %d", plain, nothing, free)
	}
	if bound := first(250, true); bound <= plain {
		t.Errorf("the thinking of a bound model costs nothing: compacted first in turn %d, else in turn %d", bound, plain)
	}
}
