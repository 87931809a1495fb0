package fakeprovider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// TestFaults lets every fault strike the reply with the calls, and the one that
// ends the run, on every wire where it can occur. Whatever it is, no effect
// happens twice, no later request is one that the provider refuses, the log
// replays to the same decisions, and in the end, resumed if need be, the run
// does what it was asked.
func TestFaults(t *testing.T) { // Promises: B2, N9.
	for _, f := range fakeprovider.Faults() {
		c, ok := cases[f.Name]
		if !ok {
			t.Errorf("what is right under %s (%d)?", f.Name, f.Number)
			continue
		}
		for _, w := range f.Wires {
			if adapters[w] == nil {
				continue
			}
			want := c.does
			if other, ok := c.on[w]; ok {
				want = other
			}
			t.Run(fmt.Sprintf("%02d/%s/%v", f.Number, f.Name, w), func(t *testing.T) {
				t.Parallel()
				struck := false
				for at := 1; at <= 2; at++ {
					struck = strike(t, w, f, at, want, c) || struck
				}
				if !struck {
					t.Error("it found nothing to strike")
				}
				if t.Failed() {
					t.Logf("under %s (%s) pawl %s", f.Name, f.About, c.why)
				}
			})
		}
	}
}

// strike lets a fault strike one request and reports whether it found anything.
func strike(t *testing.T, w fakeprovider.Wire, f fakeprovider.Fault, at int, want string, c faultCase) bool {
	r := newRig(t, w, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
		if n == at {
			return f
		}
		return fakeprovider.Fault{}
	}})
	if slices.Contains(hangs, f.Name) {
		r.impatient(t)
	}
	r.agent.Model = dear{r.agent.Model}
	res := r.start(t)
	if !slices.ContainsFunc(r.fake.Requests(), func(q fakeprovider.Request) bool { return q.Struck }) {
		return false
	}
	if at == 1 && c.cost > 0 {
		r.booked(t, c.cost)
	}
	got := r.verdict(t, res)
	if at == 2 && c.end != "" {
		want = c.end
	}
	if list := r.fake.Requests(); c.wait > 0 && len(list) > at && list[at].At.Sub(list[at-1].At) < c.wait-10*time.Millisecond {
		t.Errorf("request %d: the next came after %v, want %v at least", at, list[at].At.Sub(list[at-1].At), c.wait)
	}
	if !slices.Contains(strings.Split(want, " | "), got) {
		t.Errorf("request %d: %s, want %s; %v: %s", at, got, want, res.Verdict, res.Verdict.Detail)
	}
	if got != "fine" && at == 1 && r.puts.Load() > 0 && res.Status != pawl.StatusSuccess {
		t.Errorf("request %d: it was put, though the reply was no good", at)
	}
	if res.Status != pawl.StatusSuccess {
		if !res.Resumable {
			t.Errorf("request %d: the run cannot go on: %v", at, res.Verdict)
			return true
		}
		res = r.resume(t)
	}
	if res.Status != pawl.StatusSuccess {
		t.Errorf("request %d: with a sound provider the run ends %v: %s", at, res.Verdict, res.Verdict.Detail)
	}
	if n := r.puts.Load(); n != 1 {
		t.Errorf("request %d: it was put %d times", at, n)
	}
	if p := r.fake.Problems(); len(p) > 0 {
		t.Errorf("request %d: the provider objects: %s", at, strings.Join(p, "; "))
	}
	if _, err := r.eng.Replay(t.Context(), r.agent, r.run.ID()); err != nil {
		t.Errorf("request %d: %v", at, err)
	}
	if res.Usage.Output > res.Usage.ModelCalls*4096 || res.Usage.Input < 0 {
		t.Errorf("request %d: usage %+v", at, res.Usage)
	}
	return true
}

// dear gives a model a price at which writing to a cache costs the most, so
// that booking at less than the reservation shows.
type dear struct{ pawl.Model }

func (d dear) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "house/dear", Price: &pawl.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 2}}
}

// booked checks what the first attempt that failed is booked at.
func (r *rig) booked(t *testing.T, want booking) {
	t.Helper()
	var called pawl.ModelCalled
	for e, err := range r.run.Entries(t.Context()) {
		must(t, err)
		switch e := e.Event.(type) {
		case pawl.ModelCalled:
			called = e
		case pawl.ModelFailed:
			u, ok := e.Usage, false
			switch want {
			case free:
				ok = u == (pawl.Usage{}) && e.Cost == 0
			case used:
				ok = u.Input == 1000 && u.Output <= 100 && e.Cost == dear{}.Describe().Price.Cost(u)
			case most: // the input is known if the stream had begun with its usage
				ok = u.Output == called.MaxTokens && e.Cost > 0 && (u.Input == 1000 || u.Total() == called.Reserved && e.Cost == called.Cost)
			}
			if !ok {
				t.Errorf("%v is booked at %+v, $%v, of %d reserved with %d of output, $%v", e.Class, u, e.Cost, called.Reserved, called.MaxTokens, called.Cost)
			}
			return
		}
	}
	t.Error("no attempt failed")
}
