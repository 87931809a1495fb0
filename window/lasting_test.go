package window_test

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

const simLong = 2.0 // writing what is kept for an hour

// waiting is what a run costs whose tool takes twenty minutes with a chance, where the
// provider keeps its cache by the given setting.
func waiting(t *testing.T, x trace, n int, chance float64, cache string) (bill float64, lasting int) {
	bubbled(t, func(t *testing.T) {
		m := &meter{trace: x.results, turns: n, read: simRead, write: simWrite, long: simLong}
		draw := rand.New(rand.NewPCG(uint64(x.seed), 1))
		a := m.agent(n, 0)
		a.Sampling.Cache = cache
		a.Tools[0] = slow{a.Tools[0], func() time.Duration {
			if draw.Float64() < chance {
				return 20 * time.Minute
			}
			return 0
		}}
		for _, e := range play(t, a) {
			if called, ok := e.Event.(pawl.ModelCalled); ok && called.Long {
				lasting++
			}
		}
		bill = m.bill
	})
	return bill, lasting
}

// TestLasting: however often a run waits, it costs at most 1.05 times what the better of
// the two lifetimes costs, which a run that has not ended cannot know.
func TestLasting(t *testing.T) {
	for _, chance := range []float64{0, 0.02, 0.05, 0.2, 0.6} {
		var auto, short, long float64
		lasting, requests := 0, 0
		for _, x := range traces(t) {
			if x.mean != 1200 || os.Getenv("PAWL_PROOF") == "" && x.seed > 0 {
				continue
			}
			bill, n := waiting(t, x, 60, chance, "")
			auto, lasting, requests = auto+bill, lasting+n, requests+60
			bill, _ = waiting(t, x, 60, chance, "5m")
			short += bill
			bill, _ = waiting(t, x, 60, chance, "1h")
			long += bill
		}
		t.Logf("waits after %.0f %% of the turns: %.3f times five minutes, %.3f times an hour, chosen for %d of %d requests", 100*chance, auto/short, auto/long, lasting, requests)
		if auto > 1.05*min(short, long) {
			t.Errorf("waits after %.0f %% of the turns: %.0f, where five minutes cost %.0f and an hour %.0f", 100*chance, auto, short, long)
		}
	}
}

// TestFar: where requests with a long input cost more, the conversation is shortened
// before it is worth it by the rent of its tokens alone.
func TestFar(t *testing.T) {
	x := traces(t)[12]
	bills := map[bool]float64{}
	for _, blind := range []bool{false, true} {
		bubbled(t, func(t *testing.T) {
			m := &meter{trace: x.results, turns: 100, read: simRead, write: simWrite, far: 50_000, blind: blind}
			play(t, m.agent(100, 0))
			bills[blind] = m.bill
		})
	}
	t.Logf("%.0f, and %.0f by the price of short requests", bills[false], bills[true])
	if bills[false] > 0.95*bills[true] {
		t.Errorf("a run costs %.0f, and %.0f by a rule that does not know the price of long requests", bills[false], bills[true])
	}
}

// slow is a tool that takes a while before it runs.
type slow struct {
	pawl.Tool
	wait func() time.Duration
}

func (s slow) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	time.Sleep(s.wait())
	return s.Tool.Run(ctx, inv)
}
