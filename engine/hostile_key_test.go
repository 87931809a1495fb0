package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// However many start a run under one key, in however many engines, there is one
// run, its effects take place once, and everybody gets its result.
func TestKeyRace(t *testing.T) {
	for _, thread := range []string{"", "talk"} {
		j, l := memory.New(), new(ledger)
		agent := spender(l.add)
		engines := []*engine.Engine{engine.New(j, nil), engine.New(j, nil), engine.New(j, nil)}
		var all sync.WaitGroup
		var mu sync.Mutex
		runs, found := map[string]int{}, 0
		for i := range 24 {
			all.Go(func() {
				h, err := engines[i%3].Start(t.Context(), agent, "go", &engine.StartOptions{Key: "k", Thread: thread})
				if err != nil {
					t.Error(err)
					return
				}
				r, err := wait(t, h)
				if err != nil || r.Status != pawl.StatusSuccess || r.Run != h.ID() {
					t.Errorf("%s: %v, %v", r.Run, r.Status, err)
				}
				n := 0
				for e, err := range h.Entries(t.Context()) {
					if n++; err != nil || e.Seq != 0 && e.Run != r.Run {
						t.Error(e.Seq, err)
					}
				}
				if n < len(logOf(t, j, r.Run)) {
					t.Errorf("%d entries were seen", n)
				}
				mu.Lock()
				defer mu.Unlock()
				if runs[h.ID()]++; h.Found() {
					found++
				}
			})
		}
		all.Wait()
		if len(runs) != 1 || found != 23 || l.count("pay c_3") != 1 || l.count("pay c_7") != 1 {
			t.Errorf("in thread %q: runs %v, %d found, effects %v", thread, runs, found, l.lines)
		}
	}
}

// Killed at any append of its first step, a run under a key is one run when it is
// started again, and goes on.
func TestKeyKilled(t *testing.T) {
	for _, durable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			j, l := newTap(), new(ledger)
			agent := spender(l.add)
			o := &engine.StartOptions{Key: "k"}
			j.on(func(_ pawl.Batch, write func() error) error {
				if durable {
					if err := write(); err != nil {
						t.Error(err)
					}
				}
				return errors.New("killed")
			})
			j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
				if c.Epoch > 0 { // the dead let go of nothing
					return pawl.Lease{}, errors.New("killed")
				}
				return take()
			})
			if _, err := engine.New(j, &engine.Options{Owner: &engine.Owner{User: "dead"}}).Start(t.Context(), agent, "go", o); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatal(err)
			}
			j.on(nil)
			j.onClaim(nil)
			e := engine.New(j, nil)
			h, err := e.Start(t.Context(), agent, "go", o)
			must(t, err)
			r, err := h.Wait(t.Context())
			if durable { // nobody knows yet that its owner is gone; when the lease has lapsed, everybody does
				if err != nil || r.Status != pawl.StatusInterrupted || !r.Resumable || !h.Found() {
					t.Fatal(r.Status, err)
				}
				h, err = e.Start(t.Context(), agent, "go", o)
				must(t, err)
				r, err = wait(t, h)
			}
			if err != nil || r.Status != pawl.StatusSuccess || h.Found() != durable || l.count("pay c_3") != 1 {
				t.Errorf("%v, %v, found %v, %v", r.Status, err, h.Found(), l.lines)
			}
			sound(t, e, j, agent, r.Run)
			heads := 0
			for range j.List(t.Context(), pawl.Query{}) {
				heads++
			}
			if heads != 1 {
				t.Errorf("there are %d runs", heads)
			}
			time.Sleep(time.Minute)
		})
	}
}

// What differs under one key is refused, and named together with the first.
func TestKeyConflict(t *testing.T) {
	j := memory.New()
	agent, _ := chatter()
	e := engine.New(j, nil)
	h, err := e.Start(t.Context(), agent, "one", &engine.StartOptions{Key: "k"})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	other := agent
	other.Prompt = "Be brief."
	for _, c := range []struct {
		agent pawl.Agent
		input string
		parts []string
	}{{agent, "two", []string{"input"}}, {other, "one", []string{"prompt"}}, {other, "two", []string{"prompt", "input"}}} {
		_, err := e.Start(t.Context(), c.agent, c.input, &engine.StartOptions{Key: "k"})
		var conflict *engine.KeyError
		if !errors.As(err, &conflict) || conflict.Run != h.ID() || cmp.Diff(conflict.Parts, c.parts) != "" {
			t.Errorf("%s: %v", c.input, err)
		}
	}
	for _, o := range []*engine.StartOptions{{Key: "l"}, {Key: "k", Thread: "talk"}, {}} {
		again, err := e.Start(t.Context(), agent, "one", o)
		if err != nil || again.ID() == h.ID() || again.Found() {
			t.Errorf("%+v: %v", o, err)
		} else {
			ends(t, again, pawl.StatusSuccess)
		}
	}
	limited := agent
	limited.Limits.Tokens = 10 // which bounds the other run no more
	if again, err := e.Start(t.Context(), limited, "one", &engine.StartOptions{Key: "k"}); err != nil || again.ID() != h.ID() {
		t.Error(err)
	}
}

// A run that somebody else drives, or that waits, is found as it stands; watching it
// ends with the context or the engine, and the run does not.
func TestKeyFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := memory.New()
		agent, _ := chatter()
		goOn := make(chan struct{})
		agent.Model = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			<-goOn
			return pawl.Say("done"), nil
		})
		o := &engine.StartOptions{Key: "k"}
		first, err := engine.New(j, nil).Start(t.Context(), agent, "one", o)
		must(t, err)
		here, stop := context.WithCancel(t.Context())
		closing := engine.New(j, nil)
		ended, err := closing.Start(here, agent, "one", o)
		must(t, err)
		shut, err := closing.Start(t.Context(), agent, "one", o)
		must(t, err)
		patient := engine.New(j, nil)
		h, err := patient.Start(t.Context(), agent, "one", o)
		must(t, err)
		time.Sleep(time.Minute)
		stop()
		if _, err := ended.Wait(t.Context()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := closing.Close(); err != nil {
			t.Error(err)
		}
		if _, err := shut.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Error(err)
		}
		if _, err := closing.Start(t.Context(), agent, "one", o); err == nil {
			t.Error("a closed engine found it")
		}
		close(goOn)
		want := ends(t, first, pawl.StatusSuccess)
		got := ends(t, h, pawl.StatusSuccess)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Minute)
	})
}

// An id that would break a path, an address, a command line or the ids of children is refused.
func TestRunID(t *testing.T) {
	e, agent := engine.New(memory.New(), nil), spender(new(ledger).add)
	for _, id := range []string{" ", "a/b c", "../x", "..", "-x", "a\x00", "a\n", "é", "last", "r.c_1", strings.Repeat("a", 129)} {
		if _, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: id}); err == nil || !strings.Contains(err.Error(), "run id ") {
			t.Errorf("start %q: %v", id, err)
		}
		if _, err := e.Fork(t.Context(), agent, "r", 1, &engine.ForkOptions{ID: id}); err == nil || !strings.Contains(err.Error(), "run id ") {
			t.Errorf("fork %q: %v", id, err)
		}
	}
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "tenant:Order_1.v-2"})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
}
