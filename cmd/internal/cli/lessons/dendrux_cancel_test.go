package lessons

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// cancelWhilePausing: whoever cancels a run that is about to wait for somebody
// has cancelled it, whichever of the two is written first.
func cancelWhilePausing(t *testing.T) {
	for _, when := range []string{"before", "after", "released"} {
		t.Run(when, func(t *testing.T) {
			j := disk(t)
			here, there := engine.New(j, nil), engine.New(j, nil)
			done := false
			cancel := func() {
				if !done {
					done = true
					if err := there.Cancel(context.WithoutCancel(t.Context()), run, "ada", "enough"); err != nil {
						t.Error(err)
					}
				}
			}
			j.on(func(b pawl.Batch, write func() error) error {
				pausing := has(b, "run.paused")
				if pausing && when == "before" {
					cancel()
				}
				err := write()
				if pausing && when == "after" {
					cancel()
				}
				return err
			})
			j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
				if when == "released" && c.Epoch != 0 && c.TTL <= 0 {
					cancel()
				}
				return take()
			})
			agent := parked(t, nil)
			ends(t, begin(t, here, agent), pawl.Cancelled)
			if s := state(t, j); !done || s.Status() != pawl.Cancelled {
				t.Errorf("the journal says %v", s.Status())
			}
			if err := there.Cancel(t.Context(), run, "ada", "enough"); err == nil {
				t.Error("it is cancelled a second time")
			}
		})
	}
}

// givenUp: an owner that comes back to a run somebody else has ended meanwhile
// changes nothing.
func givenUp(t *testing.T) {
	j := disk(t)
	in, out := make(chan struct{}), make(chan struct{})
	agent := func() pawl.Agent {
		return pawl.Agent{Name: "worker", Model: says(t, pawl.Do(call("work", 1), call("ask", 1)), pawl.Say("done")), Tools: []pawl.Tool{
			does("work", pawl.Read, func(context.Context, int) (string, error) { close(in); <-out; return "worked", nil }), client("ask"),
		}}
	}
	const lease = 300 * time.Millisecond
	var asleep atomic.Bool // the owner, so that its lease lapses
	j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
		if asleep.Load() {
			return pawl.Lease{}, errors.New("asleep")
		}
		return take()
	})
	// The owner is one of another machine, of whom nobody can tell whether it lives.
	h := begin(t, engine.New(j, &engine.Options{Lease: lease, Owner: &engine.Owner{User: "sleeper"}}), agent())
	<-in
	asleep.Store(true)
	other := &tap{Journal: j.Journal}
	soon(t, "the lease lapses", func() bool {
		err := engine.New(other, nil).Cancel(t.Context(), run, "ada", "it hangs")
		return state(t, other).Status() == pawl.Cancelled || err != nil
	})
	before := state(t, other)
	if before.Status() != pawl.Cancelled {
		t.Fatalf("it is %v", before.Status())
	}
	asleep.Store(false)
	close(out)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if res, err := h.Wait(ctx); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("the first owner ends with %v, %v", res.Status, err)
	}
	if after := state(t, other); after.Seq() != before.Seq() || after.Status() != pawl.Cancelled {
		t.Errorf("the log went on from %d to %d and says %v", before.Seq(), after.Seq(), after.Status())
	}
}

// cancelInFlight: a cancel does not wait for the reply on its way, and a reply
// that comes all the same makes no success of it.
func cancelInFlight(t *testing.T) {
	for name, heeds := range map[string]bool{"heeds": true, "ignores": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				asked := make(chan struct{})
				model := pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
					close(asked)
					select {
					case <-time.After(time.Hour):
					case <-ctx.Done():
						if heeds {
							return pawl.Reply{}, ctx.Err()
						}
					}
					return pawl.Say("done"), nil
				})
				j := memory.New()
				e := engine.New(j, nil)
				h := begin(t, e, pawl.Agent{Name: "thinker", Model: model, Limits: pawl.Limits{Iterations: 1, Time: 10 * time.Hour}})
				<-asked
				began := time.Now()
				if err := e.Cancel(t.Context(), run, "ada", "enough"); err != nil {
					t.Fatal(err)
				}
				if res := ends(t, h, pawl.Cancelled); time.Since(began) > time.Second || res.Reason.Detail != "cancelled by ada: enough" {
					t.Errorf("after %v: %v", time.Since(began), res.Reason)
				}
				if s := state(t, j); s.Status() != pawl.Cancelled || s.InFlight() {
					t.Errorf("the journal says %v", s.Status())
				}
			})
		})
	}
}

// cancelWhileResuming: nor does a run that was just resumed stay behind as
// running, when it is cancelled in the midst of what it was resumed for.
func cancelWhileResuming(t *testing.T) {
	j := disk(t)
	e := engine.New(j, nil)
	in := make(chan struct{})
	agent := pawl.Agent{Name: "worker", Model: says(t, do("ask", 1), do("work", 1), do("work", 1), pawl.Say("done")), Tools: []pawl.Tool{
		client("ask"), does("work", pawl.Read, func(ctx context.Context, _ int) (string, error) {
			select {
			case in <- struct{}{}:
				<-ctx.Done()
				return "", ctx.Err()
			case <-time.After(100 * time.Millisecond): // nobody waits for it any more
				return "worked", nil
			}
		}),
	}}
	ends(t, begin(t, e, agent), pawl.WaitingClientTool)
	submit(t, e, "c_1", "1")
	h := resume(t, e, agent, nil)
	<-in
	if err := e.Cancel(t.Context(), run, "ada", "enough"); err != nil {
		t.Fatal(err)
	}
	ends(t, h, pawl.Cancelled)
	if s := state(t, j); s.Status() != pawl.Cancelled || s.InFlight() {
		t.Errorf("the journal says %v", s.Status())
	}
	if err := e.Cancel(t.Context(), run, "ada", "enough"); err == nil {
		t.Error("what is over can be cancelled")
	}
	ends(t, resume(t, e, agent, nil), pawl.Success)
}
