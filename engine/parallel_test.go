package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// crowd counts the calls in flight, of all tools and of each.
type crowd struct {
	mu    sync.Mutex
	now   map[string]int
	most  map[string]int
	order []string // in which calls started
}

func (c *crowd) enter(inv pawl.Invocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now, c.most = map[string]int{}, map[string]int{}
	}
	for _, of := range []string{"all", inv.Tool, inv.Run} {
		c.now[of]++
		c.most[of] = max(c.most[of], c.now[of])
	}
	c.order = append(c.order, inv.Run+" "+inv.Call)
}

func (c *crowd) exit(inv pawl.Invocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range []string{"all", inv.Tool, inv.Run} {
		c.now[of]--
	}
}

// busy is a tool whose calls take a while among others.
type busy struct {
	info  pawl.ToolInfo
	crowd *crowd
	takes time.Duration
}

func (b busy) Info() pawl.ToolInfo {
	b.info.Input = []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	return b.info
}

func (b busy) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	b.crowd.enter(inv)
	defer b.crowd.exit(inv)
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
		return pawl.Output{}, ctx.Err()
	}
	return pawl.Output{JSON: inv.Args}, nil
}

const tick = 10 * time.Millisecond

// reply is n calls of each tool, in turn.
func reply(n int, tools ...string) (all []pawl.Call) {
	for i := range n {
		for k, name := range tools {
			all = append(all, call(name, i*len(tools)+k))
		}
	}
	return all
}

// free holds that no call has kept its share of the process.
func free(t *testing.T) {
	t.Helper()
	if used, waiting := engine.Held(); used != 0 || waiting != 0 {
		t.Errorf("%d shares are in use when all is over, and %d calls wait", used, waiting)
	}
}

func external(name string) pawl.ToolInfo {
	return pawl.ToolInfo{Name: name, Description: "Goes out.", Effect: pawl.Read, External: true}
}

// In one process run four times as many calls as in one run, and every run gets on.
func TestCallsOfAProcess(t *testing.T) {
	for _, c := range []struct{ runs, calls, agent, most int }{
		{12, 10, 0, 40},
		{6, 2, 2, 8},
		{9, 1, 1, 4}, // a call that is alone waits, too
	} {
		synctest.Test(t, func(t *testing.T) {
			var crowd crowd
			agent := pawl.Agent{Name: "busy", MaxParallel: c.agent, Model: turns(reply(c.calls, "out")), Tools: []pawl.Tool{busy{external("out"), &crowd, tick}}}
			e := engine.New(newTap(), nil)
			var all []*engine.Handle
			began := time.Now()
			for i := range c.runs {
				h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: fmt.Sprint("r", i)})
				must(t, err)
				all = append(all, h)
			}
			for _, h := range all {
				ends(t, h, pawl.StatusSuccess)
			}
			if got := crowd.most["all"]; got != c.most {
				t.Errorf("%+v: %d calls were in flight in the process", c, got)
			}
			if took, want := time.Since(began), time.Duration((c.runs*c.calls+c.most-1)/c.most)*tick; took != want {
				t.Errorf("%+v: it took %v, want %v", c, took, want)
			}
			free(t)
		})
	}
}

// A call that waits for room in the process when the time is over is not started,
// nor is one whose run is cancelled or parked meanwhile; parked, it is run later.
func TestWaitingForTheProcess(t *testing.T) {
	for _, what := range []string{"time", "cancel", "park"} {
		synctest.Test(t, func(t *testing.T) {
			var crowd crowd
			agent := pawl.Agent{Name: "busy", MaxParallel: 1, Model: turns(reply(1, "out")), Tools: []pawl.Tool{busy{external("out"), &crowd, 10 * time.Second}}}
			j := newTap()
			e := engine.New(j, nil)
			var all []*engine.Handle
			for i := range 4 {
				h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: fmt.Sprint("other", i)})
				must(t, err)
				all = append(all, h)
			}
			synctest.Wait()
			if what == "time" {
				agent.Limits = timeLimit(3 * time.Second)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			h, err := e.Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
			must(t, err)
			time.Sleep(time.Second)
			want, status := pawl.StatusExhausted, "[c_1 not_run]"
			switch what {
			case "cancel":
				want, status = pawl.StatusCancelled, "[c_1 undecided]"
				must(t, e.Cancel(t.Context(), "r", "test", "enough"))
			case "park":
				want, status = pawl.StatusPaused, "[c_1 undecided]"
				stop()
			}
			res := ends(t, h, want)
			if got := fmt.Sprint(statuses(res)); got != status {
				t.Errorf("%s: the calls came to %s, want %s", what, got, status)
			}
			if slices.Contains(crowd.order, "r c_1") {
				t.Errorf("%s: the call ran", what)
			}
			for _, h := range all {
				ends(t, h, pawl.StatusSuccess)
			}
			sound(t, e, j, agent, "r")
			if what == "park" {
				ends(t, resume(t, e, agent), pawl.StatusSuccess)
			}
			free(t)
		})
	}
}

// Runs that are calls of others leave the process to the calls that they make:
// however many there are, they come to an end.
func TestChildrenLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crowd crowd
		clerk := pawl.Agent{
			Name: "clerk", Description: "Goes out.", MaxParallel: 1, Model: turns(reply(2, "out")),
			Tools: []pawl.Tool{busy{external("out"), &crowd, tick}},
		}
		agent := pawl.Agent{
			Name: "boss", MaxParallel: 1, Model: turns([]pawl.Call{ask("clerk"), ask("clerk")}),
			Tools: []pawl.Tool{tool.Agent(clerk, &tool.AgentOptions{Effect: pawl.Read})},
		}
		j := newTap()
		e := engine.New(j, nil)
		var all []*engine.Handle
		for i := range 12 {
			h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: fmt.Sprint("r", i)})
			must(t, err)
			all = append(all, h)
		}
		for i, h := range all {
			ends(t, h, pawl.StatusSuccess)
			sound(t, e, j, agent, fmt.Sprint("r", i))
		}
		if crowd.most["all"] != 4 {
			t.Errorf("%d calls were in flight", crowd.most["all"])
		}
		free(t)
	})
}

// A call that is left behind, that panics or ends its goroutine gives its place to
// the next one, and so does one whose journal fails.
func TestPlacesAreGivenBack(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	stuck := func(context.Context, pawl.Invocation) (pawl.Output, error) { <-end; return pawl.Output{}, nil }
	broken := func(context.Context, pawl.Invocation) (pawl.Output, error) { panic("broken") }
	for name, run := range map[string]func(context.Context, pawl.Invocation) (pawl.Output, error){"stuck": stuck, "broken": broken} {
		for _, n := range []int{1, 3} {
			agent := pawl.Agent{Name: "busy", MaxParallel: 1, Model: turns(reply(n, "look")), Tools: []pawl.Tool{
				quick{fake{name: "look", effect: pawl.Read, limit: tick, run: run}}}}
			res, err := engine.Run(t.Context(), agent, "go")
			if err != nil || res.ToolCalls != n {
				t.Errorf("%s: %v, %v: %d of %d calls ran", name, res.Verdict, err, res.ToolCalls, n)
			}
			free(t)
			for _, typ := range []string{"tool.started", "tool.finished"} {
				j := newTap()
				j.on(func(b pawl.Batch, write func() error) error {
					if has(b, typ) {
						return fmt.Errorf("the disk is full")
					}
					return write()
				})
				h, err := engine.New(j, nil).Start(t.Context(), agent, "go", nil)
				must(t, err)
				if _, err := wait(t, h); err == nil {
					t.Errorf("%s: the run went on although %s could not be written", name, typ)
				}
				free(t)
			}
		}
	}
}
