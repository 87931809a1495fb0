package engine_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// hookFunc is a hook made of a function.
type hookFunc func(s *pawl.State, e pawl.Entry) engine.Direction

func (hookFunc) Name() string { return "picky" }

func (f hookFunc) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	return f(s, e)
}

// recorded returns the lines of a run's log.
func recorded(t *testing.T, j pawl.Journal) (lines [][]byte) {
	t.Helper()
	for row, err := range j.Read(t.Context(), "r", 1) {
		must(t, err)
		lines = append(lines, row.Data)
	}
	return lines
}

// cut is a journal whose log ends early, as its writer's death left it.
func cut(t *testing.T, lines [][]byte) *memory.Journal {
	t.Helper()
	j := memory.New()
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Hour, New: true})
	if err == nil {
		err = j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: lease.Epoch, Records: lines})
	}
	if err == nil {
		_, err = j.Claim(t.Context(), pawl.Claim{Run: "r", Epoch: lease.Epoch})
	}
	must(t, err)
	return j
}

// stuck is a hook that does not return from a reply until the test closes free. It stores the type
// of the latest entry.
func stuck(free chan struct{}, last *atomic.Value) hookFunc {
	return func(_ *pawl.State, e pawl.Entry) engine.Direction {
		last.Store(e.Type())
		if e.Type() == "model.replied" {
			<-free
		}
		return engine.Direction{Cancel: e.Type() == "model.replied", Reason: "too late"}
	}
}

// A hook that does not return is left behind: the run goes on without it, the
// log says so, and what the hook says later counts for nothing.
func TestHookThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer func() { close(free); synctest.Wait() }()
		var last atomic.Value
		watched := 0
		other := hookFunc(func(*pawl.State, pawl.Entry) engine.Direction { watched++; return engine.Direction{} })
		agent := pawl.Agent{Name: "slow", Model: turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{seeing("look")}}
		j := newTap()
		e := engine.New(j, &engine.Options{Hooks: []engine.Hook{stuck(free, &last), other}})
		began := time.Now()
		result, err := begin(t, e, agent).Wait(t.Context())
		if err != nil || result.Status != pawl.StatusSuccess {
			t.Fatalf("ended as %v: %v", result.Status, err)
		}
		if took := time.Since(began); took < 30*time.Second || took > 35*time.Second {
			t.Errorf("the run waited %v for its hook", took)
		}
		left := 0
		for entry := range entriesOf(t, j, "r") {
			if d, ok := entry.Event.(pawl.HookDirected); ok {
				left++
				if d.Hook != "picky" || d.Direction != "left behind" {
					t.Errorf("%+v", d)
				}
			}
		}
		if left != 1 || last.Load() != "model.replied" || watched < 4 {
			t.Errorf("left behind %d times, last asked about %v, the other about %d", left, last.Load(), watched)
		}
		replays(t, e, agent, "r")
		must(t, e.Close())
	})
}

// A run that is cancelled does not wait for its hooks.
func TestHookDoesNotHoldACancelUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer func() { close(free); synctest.Wait() }()
		var last atomic.Value
		e := engine.New(newTap(), &engine.Options{Hooks: []engine.Hook{stuck(free, &last)}})
		h := begin(t, e, pawl.Agent{Name: "slow", Model: turns()})
		synctest.Wait()
		began := time.Now()
		must(t, e.Cancel(t.Context(), "r", "ada", "enough"))
		result, err := wait(t, h)
		if err != nil || result.Status != pawl.StatusCancelled || time.Since(began) > 2*time.Second {
			t.Errorf("ended as %v after %v: %v", result.Status, time.Since(began), err)
		}
		must(t, e.Close())
	})
}

// listing is a hook that lists the runs it watches.
type listing struct {
	name, of string
	saw      map[string][]string // by run: who saw it
}

func (l listing) Name() string { return l.name }

func (l listing) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	if who := l.name + " of " + l.of; !slices.Contains(l.saw[e.Run], who) {
		l.saw[e.Run] = append(l.saw[e.Run], who)
	}
	return engine.Direction{}
}

// The hooks of an agent watch its runs and their children, also where a child is
// resumed without its parents. A child's own hook replaces one of the same name.
func TestHooksOfAgents(t *testing.T) {
	j, l := newTap(), &ledger{}
	clerk := paying(l)
	desk := pawl.Agent{Name: "desk", Description: "Has it paid.", Model: turns([]pawl.Call{ask("clerk")}), Tools: []pawl.Tool{tool.Agent(clerk, nil)}}
	agent := boss(clerk)
	agent.Model, agent.Tools = turns([]pawl.Call{ask("desk")}), []pawl.Tool{tool.Agent(desk, nil)}
	names := map[string][]string{"boss": {"log", "retry"}, "desk": {"count"}, "clerk": {"retry"}}
	saw := map[string][]string{}
	o := &engine.Options{
		Hooks: []engine.Hook{listing{"all", "engine", saw}},
		HooksOf: func(d pawl.Declaration) (all []engine.Hook) {
			for _, name := range names[d.Agent] {
				all = append(all, listing{name, d.Agent, saw})
			}
			return all
		},
	}
	e := engine.New(j, o)
	h := begin(t, e, agent)
	ends(t, h, pawl.StatusWaitingApproval)
	clerks := []string{"all of engine", "retry of clerk", "count of desk", "log of boss"}
	want := map[string][]string{
		"r":         {"all of engine", "log of boss", "retry of boss"},
		"r.c_1":     {"all of engine", "count of desk", "log of boss", "retry of boss"},
		"r.c_1.c_1": clerks,
	}
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Errorf("who watched (-want +got):\n%s", diff)
	}

	clear(saw)
	own, err := e.AgentOf(t.Context(), agent, "r.c_1.c_1")
	must(t, err)
	h, err = engine.New(j, o).Resume(t.Context(), own, "r.c_1.c_1", nil)
	must(t, err)
	ends(t, h, pawl.StatusWaitingApproval)
	if diff := cmp.Diff(map[string][]string{"r.c_1.c_1": clerks}, saw); diff != "" {
		t.Errorf("who watched the child alone (-want +got):\n%s", diff)
	}
}
