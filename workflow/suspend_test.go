package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// greedy is a model that replies with as many tokens as it may, and never has enough. Where it can,
// it asks a person first.
type greedy struct{ pawl.Model }

func (greedy) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "greedy", Price: &pawl.Price{Input: 1, Output: 10}}
}

var insatiable = greedy{pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	reply := pawl.Do(pawl.Call{Tool: "dig", Args: json.RawMessage(`{}`)})
	if len(r.Tools) > 1 && len(r.Messages) == 1 {
		reply = pawl.Do(pawl.Call{Tool: "ask_human", Args: json.RawMessage(`{"question":"Deeper?"}`)})
	}
	reply.Usage = pawl.Usage{Input: 10, Output: r.MaxTokens}
	return reply, nil
})}

// TestGreedyBranches holds that branches that all use whatever they may stay within the ceilings of
// the run together, whichever ceiling it is, also in branches of branches and over a pause.
func TestGreedyBranches(t *testing.T) {
	var dug atomic.Int64 // what is always new is progress
	dig := tool.Func("dig", "Dig.", func(context.Context, struct{}) (string, error) { return fmt.Sprint(dug.Add(1)), nil }, pawl.Read)
	digger := pawl.Agent{Name: "digger", Description: "Digs.", Model: insatiable, Tools: []pawl.Tool{dig}, Limits: pawl.Limits{Iterations: 1000, Tokens: 1_000_000, Cost: 100}}
	asker := digger
	asker.Name, asker.Tools = "asker", []pawl.Tool{tool.AskHuman(), dig}
	run := func(id string, a pawl.Agent) workflow.Step { return Step{ID: id, Agent: &a, Input: "Dig."} }
	for name, limits := range map[string]pawl.Limits{
		"tokens": {Iterations: 1000, Tokens: 60_000}, "cost": {Iterations: 1000, Tokens: 10_000_000, Cost: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			flow := New(pawl.Agent{Name: "flow", Model: insatiable, Limits: limits},
				Step{ID: "all", Parallel: [][]Step{
					{run("a", digger)}, {run("b", asker)},
					{{ID: "deep", Parallel: [][]Step{{run("c", digger)}, {run("d", digger), run("e", digger)}}}},
				}})
			j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
			must(t, err)
			defer j.Close()
			e := engine.New(j, nil)
			h, err := e.Start(t.Context(), flow, "Go.", nil)
			must(t, err)
			for pass := 0; ; pass++ {
				r, err := h.Wait(t.Context())
				must(t, err)
				used := r.Usage.Input + r.Usage.Output
				if used > limits.Tokens || limits.Cost > 0 && (r.CostUSD == nil || float64(*r.CostUSD) > limits.Cost) {
					t.Errorf("%v: it used %d of %d tokens, $%v of %v", r.Status, used, limits.Tokens, r.CostUSD, limits.Cost)
				}
				if r.Status.Ended() {
					if pass == 0 {
						t.Error("nobody was asked")
					}
					return
				}
				if len(r.Pending) != 1 {
					t.Fatalf("%v: %v", r.Verdict, r.Pending)
				}
				must(t, e.Answer(t.Context(), r.Pending[0].Run, r.Pending[0].Call, "ann", "dig on"))
				if h, err = e.Resume(t.Context(), flow, r.Run, nil); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A step waits for a person before or after it runs, who sees and may change what it runs
// with or what it has come to. Each decision is taken up by another engine.
func TestSuspend(t *testing.T) {
	w := &world{}
	graph := func(edges []Edge, nodes ...Step) func() pawl.Agent {
		return func() pawl.Agent { return workflow.Graph(w.agent(), nodes, edges...) }
	}
	steps := func(steps ...Step) func() pawl.Agent { return func() pawl.Agent { return New(w.agent(), steps...) } }
	before := func(id, text string) Step {
		return Step{ID: id, Suspend: workflow.Before, Single: &Single{Prompt: "say " + text}}
	}
	after := func(id, text string) Step {
		return Step{ID: id, Suspend: workflow.After, Single: &Single{Prompt: "say " + text}}
	}
	for _, c := range []struct {
		name    string
		agent   func() pawl.Agent
		decides []string // for each request: approve, deny, or the value in place of the one
		asked   []string
		want    string
	}{
		{"before a prompt", steps(before("a", "{{input}}"), say("b", "{{steps.a.output}}b")), []string{`"say y"`}, []string{`a before "say x"`}, "success: yb"},
		{"after a prompt", steps(after("a", "{{input}}"), say("b", "{{steps.a.output}}b")), []string{`"y"`}, []string{`a after "x"`}, "success: yb"},
		{"before a call", steps(Step{ID: "l", Suspend: workflow.Before, Tool: "look", Args: map[string]any{"word": "w"}}, say("b", "{{steps.l.output.word}}")),
			[]string{`{"word":"v"}`}, []string{`l before {"word":"w"}`}, "success: v"},
		{"around others", steps(
			Step{ID: "w", Suspend: workflow.After, While: "true", Max: 2, Do: []Step{before("a", "a{{steps.w.rounds}}")}},
			Step{ID: "f", Suspend: workflow.Before, ForEach: "input", If: `input != "x"`, Do: []Step{say("i", "i")}},
			Step{ID: "s", Suspend: workflow.After, Switch: "true", Cases: map[string][]Step{"true": {say("c", "c")}}}),
			[]string{"approve", "approve", "approve", `"d"`}, []string{`a before "say a"`, `a before "say a1"`, `w after "a1"`, `s after "c"`}, "success: d"},
		{"denied", steps(after("a", "{{input}}")), []string{"deny"}, []string{`a after "x"`}, "failed: step a: this call was denied: no; it was not run"},
		{"after null", steps(Step{ID: "s", Suspend: workflow.After, Switch: "true", Cases: map[string][]Step{"true": {}}}, say("e", "e[{{steps.s.output}}]")),
			[]string{"approve"}, []string{`s after null`}, "success: e[]"},
		{"a node", graph(edges(0, "a b"), before("a", "{{input}}"), after("b", "{{joined[0]}}b")), []string{"approve", `"z"`}, []string{`a before "say x"`, `b after "xb"`}, "success: z"},
		{"nodes at once", graph(edges(0, "a c", "b c"), after("a", "a"), Step{ID: "b", Suspend: workflow.Before, Tool: "look", Args: map[string]any{"word": "w"}}, say("c", "{{steps.a.output}}{{steps.b.output.size}}")),
			[]string{"approve", `{"word":"www"}`}, []string{`a after "a"`, `b before {"word":"w"}`}, "success: a3"},
		{"a node is denied", graph(edges(0, "a b"), after("a", "{{input}}"), say("b", "b")), []string{"deny"}, []string{`a after "x"`}, "failed: step a: flow-a ended as failed: step a: this call was denied: no; it was not run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
			must(t, err)
			defer j.Close()
			id, r := start(t, engine.New(j, nil), c.agent(), "x")
			var asked []string
			for r.Status == pawl.StatusWaitingApproval && len(asked) < len(c.decides) {
				p, e := r.Pending[0], engine.New(j, nil)
				var args struct {
					Step, When string
					Value      json.RawMessage
				}
				if err = json.Unmarshal(p.Args, &args); err != nil {
					t.Fatal(err)
				}
				switch how := c.decides[len(asked)]; how {
				case "deny":
					err = e.Deny(t.Context(), p.Run, p.Call, "test", "no", &engine.DenyOptions{Token: p.Token})
				case "approve":
					err = e.Approve(t.Context(), p.Run, p.Call, "test", &engine.ApproveOptions{Token: p.Token})
				default:
					edited := fmt.Appendf(nil, `{"step":%q,"when":%q,"value":%s}`, args.Step, args.When, how)
					err = e.Approve(t.Context(), p.Run, p.Call, "test", &engine.ApproveOptions{Token: p.Token, Args: edited})
				}
				must(t, err)
				asked = append(asked, args.Step+" "+args.When+" "+string(args.Value))
				r = resume(t, e, c.agent(), id, nil)
			}
			got := fmt.Sprintf("%v: %s", r.Status, r.Answer)
			if r.Status != pawl.StatusSuccess {
				got = fmt.Sprintf("%v: %s", r.Status, r.Reason.Detail)
			}
			if got != c.want || strings.Join(asked, "\n") != strings.Join(c.asked, "\n") {
				t.Errorf("got  %s after %q\nwant %s after %q", got, asked, c.want, c.asked)
			}
		})
	}
}
