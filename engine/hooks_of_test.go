package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

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
