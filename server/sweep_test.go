package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/tool"
)

// disk is a journal that others may open later.
type disk struct{ *memory.Journal }

// dorm has agents whose provider sends them away for a while.
type dorm struct {
	t       *testing.T
	journal disk
	store   server.Store // the journal of the server and its engines; nil: journal
	log     lines
	agents  map[string]pawl.Agent
	refuses bool // to make agents again

	mu    sync.Mutex
	turns map[string]int // of each input
}

// away is how long the provider is away for.
const away = 17 * time.Minute

func newDorm(t *testing.T) *dorm {
	d := &dorm{t: t, journal: disk{memory.New()}, turns: map[string]int{}, agents: map[string]pawl.Agent{}}
	// The first call of each input is refused, and all others are answered.
	limited := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		text := r.Messages[0].Text()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.turns[text]++
		if d.turns[text] == 1 {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassRateLimit, Message: "come back later", RetryAfter: away}
		}
		return pawl.Say("awake"), nil
	})
	sleeper := pawl.Agent{Name: "sleeper", Description: "Sleeps.", Model: limited}
	pay := tool.Func("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", nil }, pawl.Write)
	for _, a := range []pawl.Agent{
		sleeper,
		{Name: "parent", Tools: []pawl.Tool{tool.Agent(sleeper, nil)}, Model: first(pawl.Call{Tool: "sleeper", Args: json.RawMessage(`{"input":"of a parent"}`)})},
		{
			Name: "both", Tools: []pawl.Tool{pay, tool.Agent(sleeper, nil)}, Policies: []pawl.Policy{approval.For("pay")},
			Model: first(pawl.Call{Tool: "pay", Args: json.RawMessage(`{}`)}, pawl.Call{Tool: "sleeper", Args: json.RawMessage(`{"input":"of both"}`)}),
		},
	} {
		d.agents[a.Name] = a
	}
	return d
}

// first is a model that makes calls and then says something.
func first(calls ...pawl.Call) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) < 2 {
			return pawl.Do(calls...), nil
		}
		return pawl.Say("all done"), nil
	})
}

// Agents lists what is served, which "guest" is not.
func (d *dorm) Agents(context.Context) (list []client.Agent, err error) {
	for name := range d.agents {
		list = append(list, client.Agent{Name: name})
	}
	return list, nil
}

// Start is asked by nobody.
func (d *dorm) Start(context.Context, string, json.RawMessage) (worker.Work, error) {
	panic("nobody asks")
}

// Again makes the agent of a run again.
func (d *dorm) Again(_ context.Context, s *pawl.State, _ *server.Change) (worker.Work, error) {
	if d.refuses {
		return worker.Work{}, &client.Problem{Status: 409, Detail: "it is no more"}
	}
	return worker.Work{Agent: d.agents[s.Declaration().Agent], Engine: engine.New(d.served(), nil)}, nil
}

func (d *dorm) served() server.Store {
	if d.store != nil {
		return d.store
	}
	return d.journal
}

// Desk is an engine for signals.
func (d *dorm) Desk(*pawl.State) *engine.Engine { return engine.New(d.journal, nil) }

// put has a process that is gone have parked a run.
func (d *dorm) put(run string, agent pawl.Agent) pawl.Result {
	d.t.Helper()
	h, err := engine.New(d.journal, nil).Start(d.t.Context(), agent, run, &engine.StartOptions{ID: run})
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := h.Wait(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// serve serves until the test, or end, ends it.
func (d *dorm) serve() (s *server.Server, end func()) {
	d.t.Helper()
	s, err := server.New(d.served(), d, keys, &server.Options{Log: slog.New(slog.NewTextHandler(&d.log, nil))})
	if err != nil {
		d.t.Fatal(err)
	}
	var wake sync.WaitGroup
	wake.Go(func() { s.Sweep(d.t.Context()) })
	return s, func() {
		if err := s.Close(); err != nil {
			d.t.Error(err)
		}
		wake.Wait()
	}
}

// times are the types of entries of a run, and when they were made.
func (d *dorm) times(run, kind string) (at []time.Time) {
	d.t.Helper()
	for e, err := range engine.Entries(d.t.Context(), d.journal, run, 1) {
		if err != nil {
			d.t.Fatal(err)
		}
		if e.Type() == kind {
			at = append(at, e.Time)
		}
	}
	return at
}

func (d *dorm) status(run string) pawl.Status {
	d.t.Helper()
	s, err := engine.Load(d.t.Context(), d.journal, run)
	if err != nil {
		d.t.Fatal(err)
	}
	return s.Status()
}

// Runs that wait for a time go on when it has come, once among all servers, and
// whatever process parked them.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDorm(t)
		begun := time.Now()
		runs := []string{"one", "two", "parent"}
		for _, run := range runs {
			agent := d.agents["sleeper"]
			if run == "parent" {
				agent = d.agents["parent"]
			}
			if r := d.put(run, agent); r.Status != pawl.StatusPaused {
				t.Fatalf("%s is %v: %v", run, r.Status, r.Reason)
			}
		}
		guest := d.agents["sleeper"]
		guest.Name = "guest"
		d.put("guest", guest)
		_, end1 := d.serve()
		_, end2 := d.serve()
		synctest.Wait()
		time.Sleep(3 * time.Minute)
		d.put("late", d.agents["sleeper"]) // by somebody who tells nobody
		time.Sleep(away - 3*time.Minute - time.Second)
		for _, run := range runs {
			if s := d.status(run); s != pawl.StatusPaused {
				t.Errorf("%s is %v before its time", run, s)
			}
		}
		time.Sleep(10 * time.Minute)
		for _, run := range append(runs, "late") {
			at := d.times(run, "run.resumed")
			if s := d.status(run); s != pawl.StatusSuccess || len(at) != 1 {
				t.Errorf("%s is %v, resumed %v: %s", run, s, at, &d.log)
				continue
			}
			want := away
			if run == "late" {
				want += 3 * time.Minute
			}
			if took := at[0].Sub(begun); took < want || took > want+5*time.Minute {
				t.Errorf("%s slept for %v, not %v", run, took, want)
			}
		}
		if s := d.status("guest"); s != pawl.StatusPaused {
			t.Errorf("what is not served here is %v", s)
		}
		end1()
		end2()
		if strings.Contains(d.log.String(), "level=ERROR") || strings.Contains(d.log.String(), "level=WARN") {
			t.Errorf("%s", &d.log)
		}
	})
}

// Runs that are due together go on one after the other, in the order of their
// times, and those that come meanwhile after them.
func TestWakeMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDorm(t)
		begun := time.Now()
		const runs = 40
		for i := range runs {
			d.put(fmt.Sprintf("run%02d", i), d.agents["sleeper"])
		}
		time.Sleep(5 * time.Second)
		d.put("late", d.agents["sleeper"])
		_, end := d.serve()
		time.Sleep(away + time.Minute)
		at := map[time.Duration]int{}
		var last time.Duration
		for i := range runs {
			resumed := d.times(fmt.Sprintf("run%02d", i), "run.resumed")
			if len(resumed) != 1 {
				t.Fatalf("run %d was resumed %v: %s", i, resumed, &d.log)
			}
			took := resumed[0].Sub(begun) - away
			if at[took.Truncate(time.Second)]++; took > last {
				last = took
			}
		}
		for second, n := range at {
			if most := map[bool]int{true: 6, false: 3}[second == 0]; n > most {
				t.Errorf("%d runs went on within second %v", n, second)
			}
		}
		if last < 15*time.Second || last > 25*time.Second {
			t.Errorf("the last one went on %v after its time", last)
		}
		if late := d.times("late", "run.resumed"); len(late) != 1 || late[0].Sub(begun)-away < last {
			t.Errorf("the late one was resumed at %v", late)
		}
		end()
	})
}

// A run that waits for somebody, too, goes on with the child whose time has come,
// and waits on.
func TestWakeChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDorm(t)
		if r := d.put("both", d.agents["both"]); !slices.Contains([]pawl.Status{pawl.StatusWaitingApproval, pawl.StatusPaused}, r.Status) {
			t.Fatalf("it is %v", r.Status)
		}
		_, end := d.serve()
		defer end()
		time.Sleep(2 * away)
		if s := d.status("both.c_2"); s != pawl.StatusSuccess {
			t.Errorf("the child is %v: %s", s, &d.log)
		}
		if s := d.status("both"); s != pawl.StatusWaitingApproval {
			t.Errorf("the run is %v", s)
		}
		if n := len(d.times("both", "run.resumed")); n != 1 {
			t.Errorf("it was resumed %d times", n)
		}
	})
}

// A server that is closed wakes nobody; what cannot go on is told once and tried
// again by the next.
func TestWakeNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDorm(t)
		d.put("one", d.agents["sleeper"])
		_, end := d.serve()
		synctest.Wait()
		end()
		time.Sleep(2 * away)
		if s := d.status("one"); s != pawl.StatusPaused {
			t.Errorf("it is %v", s)
		}
		d.refuses = true
		_, end = d.serve()
		time.Sleep(time.Hour)
		end()
		if s, n := d.status("one"), strings.Count(d.log.String(), "cannot be resumed"); s != pawl.StatusPaused || n != 1 {
			t.Errorf("it is %v, and that was told %d times: %s", s, n, &d.log)
		}
		d.refuses = false
		_, end = d.serve()
		synctest.Wait()
		if s := d.status("one"); s != pawl.StatusSuccess {
			t.Errorf("it is %v: %s", s, &d.log)
		}
		end()
	})
}

// A server does not take a run from itself whose lease lapsed while it drives it:
// the lease is renewed at the next heartbeat.
func TestSweepOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDorm(t)
		free := make(chan struct{})
		busy := d.agents["sleeper"]
		busy.Model = pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
			select {
			case <-free:
				return pawl.Say("done"), nil
			case <-ctx.Done():
				return pawl.Reply{}, ctx.Err()
			}
		})
		d.agents["sleeper"] = busy
		d.put("one", pawl.Agent{Name: "sleeper", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassRateLimit, Message: "come back later", RetryAfter: away}
		})})
		stalled := &stalling{disk: d.journal}
		d.store = stalled
		_, end := d.serve()
		time.Sleep(away + time.Minute)
		if s := d.status("one"); s != pawl.StatusRunning {
			t.Fatalf("it is %v: %s", s, &d.log)
		}
		stalled.renewals.Store(true)
		time.Sleep(time.Minute)
		stalled.renewals.Store(false)
		time.Sleep(10 * time.Second)
		close(free)
		synctest.Wait()
		if s, n := d.status("one"), len(d.times("one", "run.resumed")); s != pawl.StatusSuccess || n != 1 {
			t.Errorf("it is %v, resumed %d times: %s", s, n, &d.log)
		}
		end()
	})
}

// stalling is a journal that renews no lease for a while.
type stalling struct {
	disk
	renewals atomic.Bool
}

func (s *stalling) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if c.Epoch != 0 && c.TTL > 0 && s.renewals.Load() {
		return pawl.Lease{}, errors.New("not now")
	}
	return s.disk.Claim(ctx, c)
}
