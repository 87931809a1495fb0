package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
)

// queued queues a run of an agent.
func queued(t *testing.T, j pawl.Journal, agent pawl.Agent, run string, labels map[string]string) {
	t.Helper()
	h, err := engine.New(j, nil).Queue(t.Context(), agent, "go", &engine.StartOptions{ID: run, Labels: labels})
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusQueued || h.ID() != run {
		t.Fatalf("run %s is %v, %v", h.ID(), r.Status, err)
	}
}

// takes is a model that takes a while.
func takes(d time.Duration) pawl.Model {
	return pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		select {
		case <-time.After(d):
			return pawl.Say("done"), nil
		case <-ctx.Done():
			return pawl.Reply{}, ctx.Err()
		}
	})
}

// Several workers drive all queued runs of their agent, each once and in turns of the
// tenants, with no more at once than they have slots, and at once when one is queued.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: takes(10 * time.Second)}
		for i := range 8 {
			queued(t, j, agent, fmt.Sprint("x", i), map[string]string{"tenant": "x"})
		}
		queued(t, j, agent, "y0", map[string]string{"tenant": "y"})
		queued(t, j, pawl.Agent{Name: "b", Model: says("b")}, "other", nil)
		began := time.Now()
		p1, p2 := works(t, j, agent, &worker.Options{Slots: 2}), works(t, j, agent, &worker.Options{Slots: 2})
		time.Sleep(9 * time.Second)
		for run, want := range map[string]pawl.Status{"x0": pawl.StatusRunning, "y0": pawl.StatusRunning, "x1": pawl.StatusRunning, "x2": pawl.StatusRunning, "x3": pawl.StatusQueued} {
			if s := status(t, j, run); s != want {
				t.Errorf("after 9 seconds %s is %v, not %v", run, s, want)
			}
		}
		time.Sleep(25 * time.Second)
		for i := range 8 {
			run := fmt.Sprint("x", i)
			if s, n := status(t, j, run), len(events(t, j, run, "run.resumed")); s != pawl.StatusSuccess || n != 1 {
				t.Errorf("%s is %v, resumed %d times, after %v", run, s, n, time.Since(began))
			}
		}
		if s := status(t, j, "other"); s != pawl.StatusQueued {
			t.Errorf("the run of another agent is %v", s)
		}
		queued(t, j, agent, "late", nil)
		time.Sleep(100 * time.Millisecond)
		if s := status(t, j, "late"); s != pawl.StatusRunning {
			t.Errorf("a run that was queued while workers wait is %v", s)
		}
		for _, p := range []*program{p1, p2} {
			if p.tries.Load() == 0 || p.log.Count("level=WARN")+p.log.Count("level=ERROR") > 0 {
				t.Errorf("a worker drove %d runs and says %s", p.tries.Load(), p.log.String())
			}
		}
	})
}

// Of an agent and of a tenant no more runs are driven at once than allowed, by all workers
// together, and when one ends the next is taken at once.
func TestCaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, slow := newDisk(), pawl.Agent{Name: "a", Model: takes(10*time.Second + 100*time.Millisecond)}
		for i := range 6 {
			queued(t, j, slow, fmt.Sprint("x", i), map[string]string{"tenant": "x"})
		}
		queued(t, j, slow, "y0", map[string]string{"tenant": "y"})
		queued(t, j, slow, "z0", map[string]string{"tenant": "z"})
		o := worker.Options{Slots: 10, MaxPerAgent: 3, MaxPerTenant: 2}
		works(t, j, slow, &o)
		works(t, j, slow, &o)
		driven := func(want ...string) {
			t.Helper()
			var got []string
			for h, err := range j.List(t.Context(), pawl.Query{Status: pawl.StatusRunning}) {
				must(t, err)
				got = append(got, h.Run)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%v are driven, not %v", got, want)
			}
		}
		time.Sleep(9 * time.Second)
		driven("x0", "y0", "z0")            // the agent's most
		time.Sleep(1200 * time.Millisecond) // 100 ms after their end
		driven("x1", "x2")                  // the tenant's most
		time.Sleep(time.Minute)
		for i := range 6 {
			if s := status(t, j, fmt.Sprint("x", i)); s != pawl.StatusSuccess {
				t.Errorf("x%d is %v", i, s)
			}
		}
	})
}

// A worker that is told to stop lets its runs go on for a while, and then queues those
// that have not ended; another goes on with them at once.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, quick, slow := newDisk(), pawl.Agent{Name: "a", Model: takes(3 * time.Second)}, pawl.Agent{Name: "a", Model: takes(time.Hour)}
		queued(t, j, slow, "slow", nil)
		p := works(t, j, slow, &worker.Options{Slots: 4, Reason: engine.ErrDrain})
		time.Sleep(time.Second)
		queued(t, j, slow, "later", nil)
		time.Sleep(time.Second)
		drained := time.Now()
		grace, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		p.worker.Drain(grace)
		if took := time.Since(drained); took != 5*time.Second {
			t.Errorf("it waited for %v", took)
		}
		p.end()
		h, err := runs.Head(t.Context(), j, "slow")
		if err != nil || h.Status != pawl.StatusQueued || runs.Owned(h.Lease) {
			t.Errorf("it is %v, owned %v, %v", h.Status, runs.Owned(h.Lease), err)
		}
		works(t, j, quick, &worker.Options{Slots: 4})
		time.Sleep(4 * time.Second)
		if s := status(t, j, "slow"); s != pawl.StatusSuccess {
			t.Errorf("another worker has it as %v", s)
		}
	})
}

// A worker leaves runs alone that it cannot resume, says so once for each, and takes the
// others; one with the right version takes them.
func TestVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		old := pawl.Agent{Name: "a", Version: "1", Prompt: "Be kind.", Model: says("1")}
		now := pawl.Agent{Name: "a", Version: "2", Prompt: "Be quick.", Model: says("2")}
		var first []string
		for i := range 5 {
			run := fmt.Sprint("old", i)
			queued(t, j, old, run, nil)
			first = append(first, run)
		}
		p := works(t, j, now, &worker.Options{Slots: 2})
		time.Sleep(time.Second)
		queued(t, j, now, "new", nil)
		time.Sleep(time.Hour)
		if s := status(t, j, "new"); s != pawl.StatusSuccess {
			t.Errorf("the run of its version is %v", s)
		}
		if n := p.log.Count("run cannot be resumed"); n != 5 || p.tries.Load() > 100 {
			t.Errorf("it said so %d times in %d tries: %s", n, p.tries.Load(), p.log.String())
		}
		works(t, j, old, &worker.Options{Slots: 2})
		time.Sleep(5 * time.Second)
		for _, run := range first {
			if s := status(t, j, run); s != pawl.StatusSuccess {
				t.Errorf("%s is %v", run, s)
			}
		}
	})
}

// A worker with labels takes only runs that have them, queued or not.
func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: says("done")}
		queued(t, j, agent, "ops", map[string]string{"team": "ops"})
		queued(t, j, agent, "dev", map[string]string{"team": "dev"})
		for _, team := range []string{"ops", "dev"} {
			lost := agent
			lost.Labels = map[string]string{"team": team}
			left(t, j, "lost-"+team, lost)
		}
		works(t, j, agent, &worker.Options{Labels: map[string]string{"team": "ops"}})
		time.Sleep(time.Minute)
		var done []string
		for _, run := range []string{"ops", "dev", "lost-ops", "lost-dev"} {
			if status(t, j, run) == pawl.StatusSuccess {
				done = append(done, run)
			}
		}
		if !slices.Equal(done, []string{"ops", "lost-ops"}) {
			t.Errorf("it drove %v", done)
		}
	})
}

// A queued run can be resumed and cancelled by hand, and one queued under a key is queued
// once.
func TestQueuedByHand(t *testing.T) {
	j, agent := newDisk(), pawl.Agent{Name: "a", Model: says("done")}
	e := engine.New(j, nil)
	queued(t, j, agent, "r", nil)
	h, err := e.Resume(t.Context(), agent, "r", nil)
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
		t.Errorf("resumed it is %v, %v", r.Status, err)
	}
	queued(t, j, agent, "c", nil)
	must(t, e.Cancel(t.Context(), "c", "me", "changed my mind"))
	if s := status(t, j, "c"); s != pawl.StatusCancelled {
		t.Errorf("cancelled it is %v", s)
	}
	for i := range 2 {
		h, err := e.Queue(t.Context(), agent, "go", &engine.StartOptions{Key: "k"})
		if err != nil || h.Found() != (i == 1) {
			t.Errorf("queued %d times under a key: found %v, %v", i+1, h != nil && h.Found(), err)
		}
	}
	if _, err := e.Queue(t.Context(), agent, "go", &engine.StartOptions{Labels: map[string]string{"priority": "high"}}); err == nil {
		t.Error("a priority that is no number was taken")
	}
	queued(t, j, agent, "first", map[string]string{"priority": "1"})
	at := runs.Positions{Journal: j}
	for run, want := range map[string]int{"first": 1, h.ID(): 0} {
		now, err := runs.Head(t.Context(), j, run)
		must(t, err)
		if n, err := at.Of(t.Context(), now); err != nil || n != want {
			t.Errorf("run %s stands at %d, %v", run, n, err)
		}
	}
	var page strings.Builder
	worker.New(j, nil, &worker.Options{Slots: 7}).WriteMetrics(&page)
	for _, want := range []string{"pawl_worker_slots 7\n", "pawl_worker_busy 0\n"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the metrics lack %q: %s", want, page.String())
		}
	}
}

// A queued run whose agent takes longer to make than its lease lasts is driven by the worker that
// took it, not taken in turns.
func TestSlowAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		agent := pawl.Agent{Name: "a", Model: says("done")}
		all := []*program{works(t, j, agent, &worker.Options{}), works(t, j, agent, &worker.Options{})}
		for _, p := range all {
			p.slow = 2 * lease
		}
		for _, run := range []string{"r", "s", "t"} { // the first worker takes all of them, and loses some
			queued(t, j, agent, run, nil)
		}
		time.Sleep(5 * lease)
		if n := all[0].tries.Load() + all[1].tries.Load(); n != 3 {
			t.Errorf("their agents were made %d times", n)
		}
		for _, run := range []string{"r", "s", "t"} {
			if s := status(t, j, run); s != pawl.StatusSuccess {
				t.Errorf("%s is %v", run, s)
			}
		}
	})
}
