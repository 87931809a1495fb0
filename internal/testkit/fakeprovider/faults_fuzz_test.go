package fakeprovider_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// FuzzFaults combines faults, where they strike, how the answer is cut into
// pieces, and which requests they strike. Whatever comes of it, the run stops,
// nothing is put twice, no request is refused as malformed, and with a sound
// provider the run does what it was asked.
func FuzzFaults(f *testing.F) {
	faults := fakeprovider.Faults()
	wires := []fakeprovider.Wire{fakeprovider.Anthropic, fakeprovider.Chat, fakeprovider.Responses, fakeprovider.Google}
	for n := range faults {
		f.Add(uint8(n), uint8(n+3), uint8(n), uint8(n%9), uint8(n%8), uint8(1))
	}
	f.Fuzz(func(t *testing.T, first, second, wire, k, chunk, gap uint8) {
		w := wires[int(wire)%len(wires)]
		if adapters[w] == nil {
			return
		}
		a, b := faults[int(first)%len(faults)], faults[int(second)%len(faults)]
		for _, fault := range []fakeprovider.Fault{a, b} {
			if fault.Number == 1 || fault.Number == 66 || slices.Contains(hangs, fault.Name) {
				return // they take their time, and have it in TestFaults
			}
		}
		var sound atomic.Bool
		r := newRig(t, w, &fakeprovider.Options{Chunk: int(chunk) % 8, Seed: uint64(first), FaultFor: func(n int) fakeprovider.Fault {
			switch {
			case sound.Load():
			case n == 1:
				return a.At(int(k))
			case n == 2+int(gap)%3:
				return b.At(int(k))
			}
			return fakeprovider.Fault{}
		}})
		r.agent.Limits.Time = time.Minute
		res := r.start(t)
		for again := 0; res.Status != pawl.StatusSuccess && again < 3; again++ {
			if !res.Resumable {
				t.Fatalf("%v, %v: the run cannot go on: %v", a, b, res.Verdict)
			}
			sound.Store(again > 0)
			res = r.resume(t)
		}
		if res.Status != pawl.StatusSuccess || r.puts.Load() != 1 {
			t.Errorf("%v, %v on %v: %v: %s; it was put %d times", a, b, w, res.Verdict, res.Verdict.Detail, r.puts.Load())
		}
		if p := r.fake.Problems(); len(p) > 0 {
			t.Errorf("%v, %v on %v: the provider objects: %s", a, b, w, strings.Join(p, "; "))
		}
		if _, err := r.eng.Replay(t.Context(), r.agent, r.run.ID()); err != nil {
			t.Errorf("%v, %v on %v: %v", a, b, w, err)
		}
	})
}
