package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Of many who resume a run at once one gets it, however often it is let go of.
func TestResumeRace(t *testing.T) {
	j, l := newTap(), new(ledger)
	agent := spender(l.add)
	var engines []*engine.Engine
	for range 3 {
		engines = append(engines, engine.New(j, nil))
	}
	ctx, park := context.WithCancel(t.Context())
	j.on(func(_ pawl.Batch, write func() error) error { park(); return write() })
	h, err := engines[0].Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	ends(t, h, pawl.StatusPaused)
	j.on(nil)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			ctx, park := context.WithCancel(t.Context())
			defer park()
			time.AfterFunc(time.Duration(i)*50*time.Microsecond, park)
			h, err := engines[i%3].Resume(ctx, agent, "r", nil)
			var held *pawl.HeldError
			switch {
			case errors.As(err, &held), errors.Is(err, context.Canceled):
			case err != nil:
				if s, _ := engine.Load(t.Context(), j, "r"); s.Status() != pawl.StatusSuccess {
					t.Error(err)
				}
			default:
				if _, err := h.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s, _ := engine.Load(t.Context(), j, "r"); s.Status() != pawl.StatusSuccess {
		ends(t, resume(t, engines[1], agent), pawl.StatusSuccess)
	}
	for _, c := range []string{"pay c_3", "pay c_7"} {
		if l.count(c) != 1 {
			t.Errorf("%s took place %d times", c, l.count(c))
		}
	}
	sound(t, engines[0], j, agent, "r")
}

// Signals that come from several processes while the run lives, parks and is
// resumed are all read, once.
func TestLetterStorm(t *testing.T) {
	const most = 24
	var calls []pawl.Call
	for n := range most {
		calls = append(calls, call("client", n))
	}
	for round := range 10 {
		j, g := newTap(), newGate()
		here, there := engine.New(j, nil), engine.New(j, nil)
		agent := clerk(g, append(calls[:most:most], call("gate", 1)))
		h := begin(t, here, agent)
		<-g.in
		var all sync.WaitGroup
		for n := 1; n <= most; n++ {
			e := here
			if n%2 == 0 {
				e = there
			}
			for range 2 {
				all.Go(func() {
					if err := e.Submit(t.Context(), "r", fmt.Sprintf("c_%d", n), "x", json.RawMessage(`1`)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		time.Sleep(time.Duration(round) * 50 * time.Microsecond)
		g.out <- struct{}{}
		all.Wait()
		res, err := wait(t, h)
		must(t, err)
		if res.Status == pawl.StatusWaitingClientTool {
			res = ends(t, resume(t, there, agent), pawl.StatusSuccess)
		}
		if res.Status != pawl.StatusSuccess {
			t.Error(res.Verdict)
		}
		given := map[string]int{}
		for entry := range entriesOf(t, j, "r") {
			if r, ok := entry.Event.(pawl.ClientToolReturned); ok {
				given[r.Call]++
			}
		}
		for call, n := range given {
			if n != 1 {
				t.Errorf("%s was answered %d times", call, n)
			}
		}
		sound(t, here, j, agent, "r")
	}
}

// A run that is cancelled at about the time it ends has one end, and its owner says
// the same of it as the log.
func TestCancelRace(t *testing.T) {
	seen := map[pawl.Status]int{}
	for round := range 200 {
		j := newTap()
		here, there := engine.New(j, nil), engine.New(j, nil)
		agent := spender(func(pawl.Invocation) { time.Sleep(100 * time.Microsecond) })
		h := begin(t, here, agent)
		time.Sleep(time.Duration(round) * 10 * time.Microsecond)
		cancelled := []*engine.Engine{here, there}[round%2].Cancel(t.Context(), "r", "x", "enough") == nil
		res, err := wait(t, h)
		s, _ := engine.Load(t.Context(), j, "r")
		stops := 0
		for _, line := range logOf(t, j, "r") {
			if strings.Contains(line, `"type":"run.stopped"`) {
				stops++
			}
		}
		if err != nil || stops != 1 || s.Status() != res.Status || s.InFlight() || !cancelled && res.Status != pawl.StatusSuccess {
			t.Fatalf("%d ends; the log says %v, its owner %v, %v", stops, s.Status(), res.Status, err)
		}
		seen[res.Status]++
		sound(t, here, j, agent, "r")
	}
	if seen[pawl.StatusSuccess]+seen[pawl.StatusCancelled] != 200 || seen[pawl.StatusCancelled] == 0 {
		t.Errorf("the runs have come to %v", seen)
	}
}

// A run whose id was taken and whose first entry never became durable can
// still be started: its id may be somebody's key against doing it twice.
func TestStartAgain(t *testing.T) {
	j := newTap()
	e := engine.New(j, nil)
	j.on(func(pawl.Batch, func() error) error { return errDisk })
	if _, err := e.Start(t.Context(), spender(new(ledger).add), "go", &engine.StartOptions{ID: "r"}); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	j.on(nil)
	agent := spender(new(ledger).add)
	ends(t, begin(t, e, agent), pawl.StatusSuccess)
	sound(t, e, j, agent, "r")
	if _, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"}); !errors.Is(err, pawl.ErrRunExists) {
		t.Errorf("start of a run there is: %v", err)
	}
}
