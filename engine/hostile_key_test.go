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
		must(t, closing.Close())
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
