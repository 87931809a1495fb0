package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	flow "github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

const closeOne, closeTwo = `{"to":"ann","status":"done","note":"1"}`, `{"to":"ann","status":"done","note":"2"}`

// giving is an engine whose approver gives a permission with each approval.
func giving(j pawl.Journal, reach approval.Reach) *engine.Engine {
	return engine.New(j, &engine.Options{Approver: engine.ApproverFunc(func(context.Context, engine.Request) (engine.Decision, error) {
		return engine.Decision{Approve: true, Reach: reach, By: "ann"}, nil
	})})
}

// runToEnd starts a run and waits for it; what it asks is left for later.
func runToEnd(t *testing.T, e *engine.Engine, a pawl.Agent, o *engine.StartOptions) pawl.Result {
	t.Helper()
	h, err := e.Start(t.Context(), a, "Close ann as done.", o)
	must(t, err)
	r, err := h.Wait(t.Context())
	must(t, err)
	replays(t, e, a, r.Run)
	return r
}

// permissions are those of a journal, also those that are over.
func permissions(t *testing.T, j pawl.Journal) (all []approval.Permission) {
	t.Helper()
	for p, err := range engine.Permissions(t.Context(), j, true) {
		must(t, err)
		all = append(all, p)
	}
	return all
}

// TestStanding: which calls of a later run a permission covers, and the approver is told why it
// does not cover one that fits.
func TestStanding(t *testing.T) { // Promises: N6.
	free := approval.Reach{Scope: approval.ForAgent, Free: []string{"note"}, Times: 2}
	thread := approval.Reach{Scope: approval.ForThread}
	info := func(a pawl.Agent, change func(*pawl.ToolInfo)) pawl.Agent {
		i := a.Tools[0].Info()
		change(&i)
		a.Tools = []pawl.Tool{job{i, func(context.Context, pawl.Invocation) (string, error) { return "closed", nil }}}
		return a
	}
	for name, c := range map[string]struct {
		reach     approval.Reach
		o         engine.StartOptions // of the later run; the first is in the thread one, with the label team=ops
		calls     string
		agent     func(pawl.Agent) pawl.Agent
		meanwhile func(t *testing.T, j pawl.Journal)
		asked     string // why it is asked; empty: it is not
	}{
		"agent":             {reach: approval.Reach{Scope: approval.ForAgent}, calls: closeOne},
		"agent, other note": {reach: approval.Reach{Scope: approval.ForAgent}, calls: closeTwo, asked: "close needs approval"},
		"agent, any note":   {reach: free, calls: closeTwo},
		"another recipient": {reach: free, calls: `{"to":"bob","status":"done","note":"1"}`, asked: "close needs approval"},
		"run":               {reach: approval.Reach{Scope: approval.ForRun}, calls: closeOne, asked: "close needs approval"},
		"thread":            {reach: thread, calls: closeOne},
		"another thread":    {reach: thread, o: engine.StartOptions{Thread: "two"}, calls: closeOne, asked: "close needs approval"},
		"more labels":       {reach: free, o: engine.StartOptions{Labels: map[string]string{"team": "ops", "for": "x"}}, calls: closeTwo},
		"other labels":      {reach: free, o: engine.StartOptions{Labels: map[string]string{"team": "dev"}}, calls: closeTwo, asked: "close needs approval"},
		"another agent":     {reach: free, calls: closeTwo, agent: func(a pawl.Agent) pawl.Agent { a.Name = "other"; return a }, asked: "close needs approval"},
		"another schema": {reach: free, calls: closeTwo, agent: func(a pawl.Agent) pawl.Agent {
			return info(a, func(i *pawl.ToolInfo) { i.Description = "Closes and deletes." })
		}, asked: "by ann does not hold, since this changed: tool close"},
		"another reach": {reach: free, calls: closeTwo, agent: func(a pawl.Agent) pawl.Agent {
			return info(a, func(i *pawl.ToolInfo) { i.Reaches = []string{"to", "note"} })
		}, asked: "changed: flow close"},
		"another policy": {reach: free, calls: closeTwo, agent: func(a pawl.Agent) pawl.Agent {
			a.Policies = append(a.Policies, approval.ForEffect(pawl.Write))
			return a
		}, asked: "changed: policies"},
		"expired": {reach: free, calls: closeTwo, meanwhile: func(*testing.T, pawl.Journal) { time.Sleep(31 * 24 * time.Hour) }, asked: "by ann has expired"},
		"revoked": {reach: free, calls: closeTwo, meanwhile: func(t *testing.T, j pawl.Journal) {
			must(t, engine.Revoke(t.Context(), j, permissions(t, j)[0].ID, "bob"))
		}, asked: "by ann was revoked by bob"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := stored{memory.New()}
				own := map[string]string{"team": "ops"}
				if r := runToEnd(t, giving(j, c.reach), closer(closeOne), &engine.StartOptions{Thread: "one", Labels: own}); r.Status != pawl.StatusSuccess {
					t.Fatal(r.Verdict)
				}
				if c.meanwhile != nil {
					c.meanwhile(t, j)
				}
				agent, o := closer(c.calls), c.o
				replies := []pawl.Reply{pawl.Do(pawl.Call{Tool: "close", Args: json.RawMessage(c.calls)}), pawl.Say("done")}
				agent.Model = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
					reply := replies[0]
					replies = replies[1:]
					return reply, nil
				})
				if c.agent != nil {
					agent = c.agent(agent)
				}
				if o.Labels == nil {
					o.Labels = own
				}
				if o.Thread == "" && c.reach.Scope == approval.ForThread {
					o.Thread = "one"
				}
				r := runToEnd(t, engine.New(j, nil), agent, &o)
				why := ""
				if len(r.Pending) > 0 {
					why = r.Pending[0].Reason
				}
				if (why != "") != (c.asked != "") || !strings.Contains(why, c.asked) {
					t.Errorf("%v is asked because %q, want %q", r.Status, why, c.asked)
				}
				if used := permissions(t, j)[0].Used; (used == 1) != (c.asked == "") {
					t.Errorf("it was used %d times", used)
				}
			})
		})
	}
}

// TestStandingUntrusted: a permission covers what the data-flow guard holds only if it names the
// values that the guard objects to.
func TestStandingUntrusted(t *testing.T) {
	for name, c := range map[string]struct {
		reach approval.Reach
		later string
		asked string
	}{
		"named":    {approval.Reach{Scope: approval.ForAgent}, closeOne, ""},
		"free":     {approval.Reach{Scope: approval.ForAgent, Free: []string{"note"}, Times: 5}, closeTwo, "leaves note free, and untrusted text may be behind its value"},
		"not held": {approval.Reach{Scope: approval.ForAgent, Free: []string{"status"}, Times: 5}, `{"to":"ann","status":"ann","note":"1"}`, ""},
	} {
		j := stored{memory.New()}
		read := tool.FuncWith("read", "Reads.", func(context.Context, struct{}) (string, error) { return "notes 1 and 2", nil }, pawl.Read, &tool.Options{Trust: pawl.Untrusted})
		build := func(args string) pawl.Agent {
			a := closer(args)
			a.Model = script.Replies(pawl.Do(pawl.Call{Tool: "read", Args: json.RawMessage(`{}`)}), pawl.Do(pawl.Call{Tool: "close", Args: json.RawMessage(args)}), pawl.Say("done"))
			a.Tools, a.Policies = append(a.Tools, read), []pawl.Policy{flow.DataFlow(nil)}
			return a
		}
		runToEnd(t, giving(j, c.reach), build(closeOne), nil)
		r := runToEnd(t, engine.New(j, nil), build(c.later), nil)
		if len(permissions(t, j)) != 1 || (len(r.Pending) > 0) != (c.asked != "") || c.asked != "" && !strings.Contains(r.Pending[0].Reason, c.asked) {
			t.Errorf("%s: %v %v, want %q", name, r.Status, r.Pending, c.asked)
		}
	}
}

// TestStandingChild: a child run is covered if its agent is, whichever run called it.
func TestStandingChild(t *testing.T) {
	j := stored{memory.New()}
	runToEnd(t, giving(j, approval.Reach{Scope: approval.ForAgent}), closer(closeOne), nil)
	child := closer(closeOne)
	child.Description = "Closes."
	boss := pawl.Agent{Name: "boss", Model: turns([]pawl.Call{ask("closer")}), Tools: []pawl.Tool{tool.Agent(child, nil)}}
	if r := runToEnd(t, engine.New(j, nil), boss, nil); r.Status != pawl.StatusSuccess || permissions(t, j)[0].Used != 1 {
		t.Errorf("%v: %v", r.Status, r.Pending)
	}
	boss.Policies, boss.Model = child.Policies, turns([]pawl.Call{ask("closer")})
	if r := runToEnd(t, engine.New(j, nil), boss, nil); len(r.Pending) != 1 || !strings.Contains(r.Pending[0].Reason, "changed: policies") {
		t.Errorf("under the policies of its parent, too: %v: %v", r.Status, r.Pending)
	}
}

// TestStandingBatch: a permission also covers the calls that were asked about together with its own.
func TestStandingBatch(t *testing.T) {
	j, asked := memory.New(), ""
	e := engine.New(j, &engine.Options{Approver: engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
		asked += " " + r.Call
		return engine.Decision{Approve: true, Reach: approval.Reach{Scope: approval.ForRun, Free: []string{"note"}, Times: 2}}, nil
	})})
	a, one := closer(), pawl.Call{Tool: "close", Args: json.RawMessage(closeOne)}
	a.Model = turns([]pawl.Call{one, one, {Tool: "close", Args: json.RawMessage(closeTwo)}, one})
	if r := runToEnd(t, e, a, nil); r.Status != pawl.StatusSuccess || asked != " c_1 c_4" {
		t.Errorf("%v, asked about%s", r.Verdict, asked)
	}
}

// TestStandingRace: runs at once use a permission as often as it says, and no more.
func TestStandingRace(t *testing.T) {
	j := stored{memory.New()}
	runToEnd(t, giving(j, approval.Reach{Scope: approval.ForAgent, Times: 3}), closer(closeOne), nil)
	var ran atomic.Int64
	var handles []*engine.Handle
	engines := []*engine.Engine{engine.New(j, nil), engine.New(j, nil)}
	for i := range 12 {
		h, err := engines[i%2].Start(t.Context(), closer(closeOne), "go", nil)
		must(t, err)
		handles = append(handles, h)
	}
	for _, h := range handles {
		r, err := h.Wait(t.Context())
		must(t, err)
		if r.Status == pawl.StatusSuccess {
			ran.Add(1)
		}
	}
	if all := permissions(t, j); ran.Load() != 3 || len(all) != 1 || all[0].Used != 3 {
		t.Errorf("%d runs were covered: %+v", ran.Load(), all)
	}
}

// TestStandingKills: killed at any write, before or after it is made, runs may lose a use of a
// permission, and never have one that it does not allow.
func TestStandingKills(t *testing.T) { // Promises: N6.
	for n := 1; n < 60; n++ {
		for _, after := range []bool{false, true} {
			finished := false
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					d := &dying{Journal: store, left: n, after: after}
					agent := func() pawl.Agent { return closer(closeOne, closeOne, closeOne, closeOne) }
					e := giving(d, approval.Reach{Scope: approval.ForAgent, Times: 2})
					h, err := e.Start(t.Context(), agent(), "go", &engine.StartOptions{ID: "run"})
					if err == nil {
						_, err = h.Wait(t.Context())
					}
					_ = e.Close()
					finished = err == nil
					time.Sleep(time.Minute) // until the leases have lapsed
					s, err := engine.Load(t.Context(), store, "run")
					if err != nil || s.Seq() == 0 || s.Status().Ended() {
						return
					}
					j := stored{store}
					h, err = giving(j, approval.Reach{}).Resume(t.Context(), agent(), "run", nil)
					must(t, err)
					_, err = h.Wait(t.Context())
					must(t, err)
					used := map[string]int{}
					for _, e := range events[pawl.ApprovalDecided](t, j, "run") {
						if e.Times == 0 {
							used[e.Permission]++
						}
					}
					for _, p := range permissions(t, j) {
						if used[p.ID] > p.Used || p.Used > 2 {
							t.Errorf("%s was used %d times by the log, and %d times by the journal", p.ID, used[p.ID], p.Used)
						}
					}
				})
			})
			if finished {
				return
			}
		}
	}
}
