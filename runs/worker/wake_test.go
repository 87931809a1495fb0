package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/tool"
)

// away is how long the provider of a sleeper is away for.
const away = 17 * time.Minute

// sleeper is an agent whose provider refuses the first call of each input.
func sleeper() pawl.Agent {
	var mu sync.Mutex
	refused := map[string]bool{}
	return pawl.Agent{Name: "sleeper", Description: "Sleeps.", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		input := r.Messages[0].Text()
		if !refused[input] {
			refused[input] = true
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassRateLimit, Message: "come back later", RetryAfter: away}
		}
		return pawl.Say("awake"), nil
	})}
}

// parked has a process that is gone have parked a run.
func parked(t *testing.T, j pawl.Journal, run string, agent pawl.Agent) {
	t.Helper()
	h, err := engine.New(j, nil).Start(t.Context(), agent, run, &engine.StartOptions{ID: run})
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Status.Ended() {
		t.Fatalf("%s is %v, %v", run, r.Status, err)
	}
}

// Runs that wait for a time go on when it has come, once among all workers, in the order of
// their times and not all at once.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), sleeper()
		begun := time.Now()
		const runs = 40
		for i := range runs {
			parked(t, j, fmt.Sprint("run", i), agent)
		}
		guest := agent
		guest.Name = "guest"
		parked(t, j, "guest", guest)
		first := sweeps(t, j, agent)
		second := sweeps(t, j, agent)
		time.Sleep(5 * time.Second)
		parked(t, j, "late", agent) // by somebody who tells nobody
		time.Sleep(away - 6*time.Second)
		if s := status(t, j, "run0"); s != pawl.StatusPaused {
			t.Errorf("it is %v before its time", s)
		}
		time.Sleep(time.Minute)
		perSecond := map[time.Duration]int{}
		var last time.Duration
		for i := range runs {
			at := events(t, j, fmt.Sprint("run", i), "run.resumed")
			if len(at) != 1 {
				t.Fatalf("run %d was resumed at %v: %s", i, at, first.log.String())
			}
			took := at[0].Sub(begun) - away
			perSecond[took.Truncate(time.Second)]++
			last = max(last, took)
		}
		for second, n := range perSecond {
			if most := map[bool]int{true: 12, false: 6}[second == 0]; n > most { // by two workers
				t.Errorf("%d runs went on within second %v", n, second)
			}
		}
		if late := events(t, j, "late", "run.resumed"); len(late) != 1 || late[0].Sub(begun) < away+5*time.Second {
			t.Errorf("the late one was resumed at %v", late)
		}
		if last < 5*time.Second || last > 25*time.Second {
			t.Errorf("the last one went on %v after its time", last)
		}
		if s := status(t, j, "guest"); s != pawl.StatusPaused {
			t.Errorf("what is not served here is %v", s)
		}
		for _, p := range []*program{first, second} {
			if n := p.log.Count("level=WARN") + p.log.Count("level=ERROR"); n > 0 {
				t.Errorf("%s", p.log.String())
			}
		}
	})
}

// A worker wakes a run that waits for a time, also beside an approval, whose request it leaves as it is. A
// signal that a run waits for wakes it early.
func TestWakeWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		pay := tool.Func("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", nil }, pawl.Write)
		agent := pawl.Agent{Name: "waiter", Tools: []pawl.Tool{pay, tool.Wait(&tool.WaitOptions{Signals: []string{"ready"}})}, Policies: []pawl.Policy{approval.For("pay")},
			Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				calls := []pawl.Call{{Tool: "wait", Args: json.RawMessage(`{"for":"1h","signal":"ready"}`)}, {Tool: "pay", Args: json.RawMessage(`{}`)}}
				if len(r.Messages) > 1 {
					return pawl.Say("awake"), nil
				}
				return pawl.Do(calls[:len(r.Messages[0].Text())]...), nil
			})}
		parked(t, j, "1", agent) // its input says how many calls it makes
		parked(t, j, "22", agent)
		parked(t, j, "3", agent)
		sweeps(t, j, agent)
		time.Sleep(30 * time.Minute)
		must(t, engine.New(j, nil).Say(t.Context(), "3", "ada", "go on", &engine.SayOptions{Signal: "ready"}))
		time.Sleep(29 * time.Minute)
		for run, want := range map[string]pawl.Status{"1": pawl.StatusPaused, "22": pawl.StatusWaitingApproval, "3": pawl.StatusSuccess} {
			if s := status(t, j, run); s != want {
				t.Errorf("before its time %s is %v, not %v", run, s, want)
			}
		}
		time.Sleep(time.Hour)
		for run, want := range map[string]pawl.Status{"1": pawl.StatusSuccess, "22": pawl.StatusWaitingApproval} {
			if s, n := status(t, j, run), len(events(t, j, run, "run.resumed")); s != want || n != 1 || len(events(t, j, run, "approval.expired")) > 0 {
				t.Errorf("after its time %s is %v, resumed %d times", run, s, n)
			}
		}
	})
}

// A worker that is closed wakes nobody. A run that waits for somebody, too, goes on with the
// child whose time has come, and waits on.
func TestWakeChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		pay := tool.Func("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", nil }, pawl.Write)
		both := pawl.Agent{Name: "both", Tools: []pawl.Tool{pay, tool.Agent(sleeper(), nil)}, Policies: []pawl.Policy{approval.For("pay")},
			Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
				return pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{}`)}, pawl.Call{Tool: "sleeper", Args: json.RawMessage(`{"input":"of both"}`)}), nil
			})}
		parked(t, j, "both", both)
		p := sweeps(t, j, both)
		synctest.Wait()
		p.end()
		time.Sleep(2 * away)
		if n := len(events(t, j, "both", "run.resumed")); n != 0 {
			t.Errorf("a worker that is closed resumed it %d times", n)
		}
		p = sweeps(t, j, both)
		time.Sleep(away)
		if child, s := status(t, j, "both.c_2"), status(t, j, "both"); child != pawl.StatusSuccess || s != pawl.StatusWaitingApproval || len(events(t, j, "both", "run.resumed")) != 1 {
			t.Errorf("the child is %v, and the run %v: %s", child, s, p.log.String())
		}
	})
}

// stalling is a journal that renews no lease for a while.
type stalling struct {
	disk
	stalls atomic.Bool
}

func (s *stalling) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if c.Epoch != 0 && c.TTL > 0 && s.stalls.Load() {
		return pawl.Lease{}, errors.New("not now")
	}
	return s.disk.Claim(ctx, c)
}

// A worker does not take a run from itself whose lease lapsed while it drives it: the lease is
// renewed at the next heartbeat.
func TestLapsedOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, free := &stalling{disk: newDisk()}, make(chan struct{})
		agent := pawl.Agent{Name: "a", Model: pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
			select {
			case <-free:
				return pawl.Say("done"), nil
			case <-ctx.Done():
				return pawl.Reply{}, ctx.Err()
			}
		})}
		p := sweeps(t, j, agent)
		h, err := p.worker.Drive(worker.Work{Agent: agent, Engine: p.Engine}, func(ctx context.Context) (*engine.Handle, error) {
			return p.Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
		})
		must(t, err)
		j.stalls.Store(true)
		time.Sleep(time.Minute)
		j.stalls.Store(false)
		time.Sleep(10 * time.Second)
		close(free)
		if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess || len(events(t, j, "r", "run.resumed")) != 0 {
			t.Errorf("it is %v, %v: %s", r.Status, err, p.log.String())
		}
	})
}
