package fakeprovider_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// A conversation that one model began, in the middle of its calls or at their
// end, is gone on with by another, whatever wires the two are on.
func TestFallbackAcrossWires(t *testing.T) {
	for from := range adapters {
		for to := range adapters {
			for at := 1; at <= 2; at++ {
				t.Run(fmt.Sprintf("%v to %v at %d", from, to, at), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, from, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
						if n == at {
							return fakeprovider.Must("quota-exhausted")
						}
						return fakeprovider.Fault{}
					}})
					client := &http.Client{Transport: &http.Transport{}}
					t.Cleanup(client.CloseIdleConnections)
					r.agent.Fallback = []pawl.Model{adapters[to](r.srv.URL, client)}
					res := r.start(t)
					if res.Status != pawl.StatusSuccess || r.puts.Load() != 1 {
						t.Errorf("%v: %s; it was put %d times", res.Verdict, res.Verdict.Detail, r.puts.Load())
					}
					r.sound(t)
					if list := r.fake.Requests(); list[at-1].Wire != from || list[at].Wire != to {
						t.Errorf("requests went to %v, then %v", list[at-1].Wire, list[at].Wire)
					}
				})
			}
		}
	}
}
