package workflow_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// host answers "say X" with X, and "wait" when the request is cancelled. It lets the
// others answer only once all of the given number wait.
func host(waiting int) pawl.Model {
	var all sync.WaitGroup
	all.Add(waiting)
	return pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		said := r.Messages[0].Text()
		if said == "wait" {
			if waiting > 0 {
				all.Done()
			}
			<-ctx.Done()
			return pawl.Reply{}, ctx.Err()
		}
		all.Wait()
		return pawl.Say(strings.TrimPrefix(said, "say ")), nil
	})
}

// Nodes that lose a race are cancelled while they run, and those that would follow them
// never begin.
func TestRace(t *testing.T) {
	wait := func(id string) Step { return Step{ID: id, Single: &Single{Prompt: "wait"}} }
	for _, c := range []struct {
		name    string
		nodes   []Step
		edges   []Edge
		waiting int
		want    string
		runs    string
	}{
		{"first", []Step{wait("slow"), say("fast", "fast"), say("end", "{{joined}}")}, edges(workflow.First, "slow end", "fast end"), 1,
			`success: ["fast"]`, "end success; fast success; slow cancelled"},
		{"two of three", []Step{wait("slow"), say("a", "a"), say("b", "b"), say("end", "{{joined}}")}, edges(2, "slow end", "a end", "b end"), 1,
			`success: ["a","b"]`, "a success; b success; end success; slow cancelled"},
		{"the way of a loser", []Step{wait("slow"), say("slower", "slower"), say("fast", "fast"), say("end", "{{joined}}"), say("after", "after {{joined}}")},
			join(edges(0, "slow slower", "end after"), edges(workflow.First, "slower end", "fast end")), 1,
			`success: after ["[\"fast\"]"]`, "after success; end success; fast success; slow cancelled"},
		{"both at once", []Step{say("a", "a"), say("b", "b"), say("later", "later"), say("end", "{{joined}}")},
			join(edges(0, "b later"), edges(workflow.First, "a end", "later end")), 0, `success: ["a"]`, "a success; b success|cancelled; end success"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := memory.New()
			e := engine.New(j, nil)
			agent := workflow.Graph(pawl.Agent{Name: "g", Model: host(c.waiting)}, c.nodes, c.edges...)
			id, r := start(t, e, agent, "x")
			if got := fmt.Sprintf("%v: %s", r.Status, r.Answer); got != c.want {
				t.Errorf("got  %s (%s)\nwant %s", got, r.Reason.Detail, c.want)
			}
			var runs []string
			for h, err := range j.List(t.Context(), pawl.Query{}) {
				must(t, err)
				if h.Run != id {
					runs = append(runs, strings.TrimPrefix(h.Agent, "g-")+" "+h.Status.String())
				}
			}
			got := sorted(runs)
			if got != c.runs && !strings.Contains(strings.ReplaceAll(c.runs, "success|cancelled", "success")+"|"+strings.ReplaceAll(c.runs, "success|cancelled", "cancelled"), got) {
				t.Errorf("runs %s, want %s", got, c.runs)
			}
			if _, err := e.Replay(t.Context(), agent, id); err != nil {
				t.Errorf("replay: %v", err)
			}
		})
	}
}

// A graph with a cycle, a race, a Write and a fan-out comes to the same end wherever its
// process dies.
func TestGraphSurvives(t *testing.T) {
	put := func(_ context.Context, in word) (string, error) { return in.Word, nil }
	log := pawltest.KillEverywhere(t, func() pawl.Agent {
		agent := pawl.Agent{Name: "g", Model: host(0), Tools: []pawl.Tool{tool.Func("put", "Put it away.", put, pawl.Write)}, Limits: pawl.Limits{Rounds: 3}}
		return workflow.Graph(agent, []Step{
			say("draft", "{{steps.draft.output}}z"),
			{ID: "each", ForEach: "input", Do: []Step{say("word", "{{item}}{{steps.draft.output}}")}},
			{ID: "keep", Tool: "put", Args: map[string]any{"word": "{{steps.each.output[0]}}"}},
			{ID: "slow", Single: &Single{Prompt: "wait"}}, say("fast", "{{joined[0]}}"),
			say("end", "{{joined}}"),
		}, join(
			edges(workflow.JoinAny, "- draft", `each draft if steps.draft.output != "zz"`),
			edges(0, "draft each", `each keep if steps.draft.output == "zz"`, "keep slow", "keep fast"),
			edges(workflow.First, "slow end", "fast end"),
		)...)
	}, `["a","b"]`, nil)
	last, ok := log[len(log)-1].Event.(pawl.RunStopped)
	if !ok || last.Status != pawl.StatusSuccess || last.Answer != `["azz"]` {
		t.Errorf("undisturbed it ends with %+v", log[len(log)-1].Event)
	}
}

// A node that waits for a person when the race is over is cancelled, and nobody is asked
// any more.
func TestRaceOverWaiting(t *testing.T) {
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	defer j.Close()
	e := engine.New(j, nil)
	agent := workflow.Graph(pawl.Agent{Name: "g", Model: host(0)}, []Step{
		{ID: "asks", Single: &Single{Prompt: "say no"}, Suspend: workflow.Before}, say("fast", "fast"), say("end", "{{joined}}"),
	}, edges(workflow.First, "asks end", "fast end")...)
	id, r := start(t, e, agent, "x")
	if r.Status != pawl.StatusSuccess || r.Answer != `["fast"]` || len(r.Pending) > 0 {
		t.Fatalf("%v %s, pending %v", r.Verdict, r.Answer, r.Pending)
	}
	child, err := engine.Load(t.Context(), j, id+".c_1")
	if err != nil || child.Status() != pawl.StatusCancelled {
		t.Errorf("the run of the node that waited is %v, %v", child.Status(), err)
	}
	if _, err := e.Replay(t.Context(), agent, id); err != nil {
		t.Errorf("replay: %v", err)
	}
}
