package engine_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// acme is a model of the provider acme.
type acme struct{ pawl.Model }

func (acme) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: "acme/one"} }

// stored is a journal that outlives an engine, and is a limiter.
type stored struct{ *memory.Journal }

// asking starts n runs of one call each, alternately on the engines, and returns them.
func asking(t *testing.T, n int, agent pawl.Agent, engines ...*engine.Engine) (all []*engine.Handle) {
	t.Helper()
	for i := range n {
		h, err := engines[i%len(engines)].Start(t.Context(), agent, "go", nil)
		must(t, err)
		synctest.Wait() // so that it has its turn before the next one
		all = append(all, h)
	}
	return all
}

// waits is how long a call of so many tokens would wait, of which a minute has 60,000.
func waits(t *testing.T, j engine.Limiter, tokens int) time.Duration {
	t.Helper()
	wait, err := j.Reserve(t.Context(), "acme", 0, time.Duration(tokens)*time.Millisecond, -1)
	must(t, err)
	return wait
}

// Calls of all engines on one journal share the rate of their provider. A wait is logged,
// and not counted as time of the run.
func TestRateOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		o := &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 3}}}
		began := time.Now()
		all := asking(t, 6, pawl.Agent{Name: "a", Model: acme{says(pawl.Say("done"))}}, engine.New(j, o), engine.New(j, o))
		for i, h := range all {
			r, err := h.Wait(t.Context())
			want := time.Duration(max(0, i-2)) * 20 * time.Second
			if took := time.Since(began); err != nil || r.Status != pawl.StatusSuccess || took != want || r.ElapsedMS != 0 {
				t.Errorf("run %d is %v after %v and %d ms, %v; it was to take %v", i, r.Status, took, r.ElapsedMS, err, want)
			}
			for _, e := range events[pawl.ModelCalled](t, j, h.ID()) {
				if e.Waited != want {
					t.Errorf("run %d waited %v, not %v", i, e.Waited, want)
				}
			}
		}
		other := asking(t, 1, pawl.Agent{Name: "b", Model: says(pawl.Say("done"))}, engine.New(j, o))[0]
		if _, err := other.Wait(t.Context()); err != nil || time.Since(began) != time.Minute {
			t.Errorf("a model of another provider: %v", err)
		}
	})
}

// A call reserves what it may use, and takes what it has used.
func TestRateOfTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		o := &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 60, Tokens: 60_000}}}
		used := pawl.Usage{Input: 100, Output: 1400}
		reply := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: used}
		replies := make(chan error)
		model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return reply, <-replies })
		agent := pawl.Agent{Name: "a", Model: acme{model}, Sampling: pawl.Sampling{MaxTokens: 20_000}}
		e := engine.New(j, o)
		h := asking(t, 1, agent, e)[0]
		if reserved := waits(t, j, 60_000); reserved < 20*time.Second || reserved > 21*time.Second {
			t.Errorf("a call in progress has reserved %v", reserved)
		}
		replies <- nil
		ended(t, h)
		if left := waits(t, j, 60_000); left != 1500*time.Millisecond {
			t.Errorf("after a reply %v are taken", left)
		}
		h = asking(t, 1, agent, e)[0]
		replies <- &pawl.ModelError{Class: pawl.ClassAuth, Message: "no"}
		ended(t, h)
		if left := waits(t, j, 60_000); left > 1500*time.Millisecond {
			t.Errorf("after a refusal %v are taken", left)
		}
	})
}

// A run whose call would wait for more than 5 minutes is paused, goes on when its time has
// come, and replays.
func TestRateParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		e := engine.New(j, &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 1}}})
		agent := pawl.Agent{Name: "a", Model: acme{says(pawl.Say("done"))}}
		began := time.Now()
		all := asking(t, 7, agent, e)
		last := all[6]
		r, err := last.Wait(t.Context())
		if err != nil || r.Status != pawl.StatusPaused || time.Since(began) != 0 {
			t.Fatalf("a run without a turn is %v after %v, %v", r.Status, time.Since(began), err)
		}
		paused := events[pawl.RunPaused](t, j, last.ID())[0]
		if paused.Rate != "acme" || paused.WakeAt.Sub(began) != 6*time.Minute || !strings.Contains(paused.Reason, "the rate of acme is used up") {
			t.Errorf("it is paused by %+v", paused)
		}
		time.Sleep(time.Until(paused.WakeAt))
		if h, err := e.Resume(t.Context(), agent, last.ID(), nil); err != nil {
			t.Error(err)
		} else if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess || time.Since(began) != 6*time.Minute {
			t.Errorf("resumed, it is %v after %v, %v", r.Status, time.Since(began), err)
		}
		for _, h := range all {
			replays(t, e, agent, h.ID())
		}
	})
}

// A run that ends while its call waits gives its turn back.
func TestRateGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		e := engine.New(j, &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 1}}})
		all := asking(t, 4, pawl.Agent{Name: "a", Model: acme{says(pawl.Say("done"))}}, e)
		before := waits(t, j, 0)
		must(t, e.Cancel(t.Context(), all[1].ID(), "me", "enough"))
		if r, err := all[1].Wait(t.Context()); err != nil || r.Status != pawl.StatusCancelled {
			t.Errorf("the run is %v, %v", r.Status, err)
		}
		if after := waits(t, j, 0); before-after != time.Minute {
			t.Errorf("calls wait %v, before they waited %v", after, before)
		}
		must(t, e.Close())
		if after := waits(t, j, 0); after != 0 {
			t.Errorf("after all runs were suspended calls wait %v", after)
		}
	})
}

// Ready says when a run would wait, and rates that cannot be held are refused.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := stored{memory.New()}
		agent := pawl.Agent{Name: "a", Model: acme{says(pawl.Say("done"))}}
		rates := map[string]engine.Rate{"acme": {Tokens: 6000}}
		e := engine.New(j, &engine.Options{Rates: rates})
		for wait, busy := range map[time.Duration]bool{5 * time.Second: false, 12 * time.Second: true} {
			_, err := j.Reserve(t.Context(), "acme", 0, time.Minute+wait, math.MaxInt64)
			must(t, err)
			err = e.Ready(t.Context(), agent, 0)
			if busy != (err != nil) || busy && err.Error() != "calls to acme wait 12s for the rate that it is asked at; try again later, or raise the rate" {
				t.Errorf("when calls wait %v: %v", wait, err)
			}
			if err := engine.New(j, &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 60}}}).Ready(t.Context(), agent, 66); err == nil {
				t.Error("66 runs that have just begun do not count")
			}
			must(t, engine.New(j, nil).Ready(t.Context(), agent, 0))
			time.Sleep(time.Hour)
		}
		for want, e := range map[string]*engine.Engine{
			"must not be negative":  engine.New(j, &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: -1}}}),
			"not an engine.Limiter": engine.New(struct{ pawl.Journal }{j}, &engine.Options{Rates: rates}),
		} {
			if _, err := e.Start(t.Context(), agent, "go", nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a start without %q: %v", want, err)
			}
		}
	})
}

// events are the entries of a type in a run's log.
func events[E pawl.Event](t *testing.T, j pawl.Journal, run string) (all []E) {
	t.Helper()
	for e := range entriesOf(t, j, run) {
		if e, ok := e.Event.(E); ok {
			all = append(all, e)
		}
	}
	return all
}
