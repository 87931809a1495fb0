package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// TestFinishedBesideOthers: what a call came to is durable while those beside it
// still run, whether it came back alone or with others.
func TestFinishedBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 9 // in threes
		j := newTap()
		var all []pawl.Call
		for n := range calls {
			all = append(all, call("wait", n))
		}
		wait := fake{name: "wait", effect: pawl.Read, run: func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
			var in struct{ N int }
			if err := json.Unmarshal(inv.Args, &in); err != nil {
				return pawl.Output{}, err
			}
			round := in.N / 3
			time.Sleep(time.Duration(round+1) * time.Second)
			log := strings.Join(logOf(t, j, "r"), "\n")
			if n := strings.Count(log, `"type":"tool.finished"`); n < 3*round {
				t.Errorf("call %d is about to finish, and the journal has %d results", in.N, n)
			}
			return pawl.Output{JSON: json.RawMessage("1")}, nil
		}}
		agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{wait}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) > 1 {
				return pawl.Say("done"), nil
			}
			return pawl.Do(all...), nil
		})}
		if res := ends(t, begin(t, engine.New(j, nil), agent), pawl.StatusSuccess); res.ToolCalls != calls {
			t.Errorf("%d calls were made", res.ToolCalls)
		}
	})
}

// TestBackTogether: what is back when the journal is asked is one commit. On a disk
// that syncs in a millisecond or two, 50 calls of 10 ms would wait for 50 of them.
func TestBackTogether(t *testing.T) { // Promises: L5.
	synctest.Test(t, func(t *testing.T) {
		const calls = 50
		j := newTap()
		commits := 0
		j.on(func(b pawl.Batch, write func() error) error {
			if bytes.Contains(bytes.Join(b.Records, nil), []byte(`"type":"tool.finished"`)) {
				commits++
			}
			time.Sleep(time.Millisecond)
			return write()
		})
		wait := fake{name: "wait", effect: pawl.Read, run: func(context.Context, pawl.Invocation) (pawl.Output, error) {
			time.Sleep(10 * time.Millisecond)
			return pawl.Output{JSON: json.RawMessage("1")}, nil
		}}
		agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{wait}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) > 1 {
				return pawl.Say("done"), nil
			}
			var all []pawl.Call
			for n := range calls {
				all = append(all, call("wait", n))
			}
			return pawl.Do(all...), nil
		})}
		if res := ends(t, begin(t, engine.New(j, nil), agent), pawl.StatusSuccess); res.ToolCalls != calls {
			t.Errorf("%d calls were made", res.ToolCalls)
		}
		if commits > 2 { // the first, and all that came back meanwhile
			t.Errorf("what came back at once took %d commits", commits)
		}
	})
}

// TestDecisionIsForOneCall: that one call was approved says nothing of its equal.
func TestDecisionIsForOneCall(t *testing.T) {
	j, l := newTap(), new(ledger)
	agent := payer(l, call("pay", 1))
	agent.Model = turns([]pawl.Call{call("pay", 1)}, []pawl.Call{call("pay", 1)})
	e := engine.New(j, nil)
	ends(t, begin(t, e, agent), pawl.StatusWaitingApproval)
	for n, c := range []string{"c_1", "c_2"} {
		must(t, e.Approve(t.Context(), "r", c, "me", nil))
		want := []pawl.Status{pawl.StatusWaitingApproval, pawl.StatusSuccess}[n]
		if res, err := wait(t, resume(t, e, agent)); err != nil || res.Status != want || l.len() != n+1 {
			t.Fatalf("after %d decisions the run is %v, and it paid %d times: %v", n+1, res.Status, l.len(), err)
		}
	}
}

// TestHeartbeat: a run stays its owner's for as long as that lives.
func TestHeartbeat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := newTap()
		agent := pawl.Agent{Name: "a", Model: says(calls("sleep", 1)), Tools: []pawl.Tool{
			job{pawl.ToolInfo{Name: "sleep", Effect: pawl.Write, Timeout: time.Hour}, func(context.Context, pawl.Invocation) (string, error) {
				time.Sleep(10 * time.Minute)
				return "slept", nil
			}},
		}}
		run := start(t, engine.New(j, nil), agent)
		for range 50 {
			time.Sleep(11 * time.Second)
			for h, err := range j.List(t.Context(), pawl.Query{}) {
				if err != nil || !h.Lease.Until.After(time.Now()) {
					t.Errorf("the lease has lapsed at %v (%v)", h.Lease.Until, err)
				}
			}
			if t.Failed() {
				break
			}
		}
		ends(t, run, pawl.StatusSuccess)
	})
}

// TestTurnsWriteAlike: what a turn writes does not grow with the turns before it.
func TestTurnsWriteAlike(t *testing.T) {
	var plan [][]pawl.Call
	for n := range 90 {
		plan = append(plan, []pawl.Call{call("look", 10+n)})
	}
	agent := spender(func(pawl.Invocation) {})
	agent.Model, agent.Limits = turns(plan...), pawl.Limits{Iterations: 100, Tokens: 100_000_000}
	j := newTap()
	ends(t, begin(t, engine.New(j, nil), agent), pawl.StatusSuccess)
	early, late := 0, 0
	for _, line := range logOf(t, j, "r")[:4*90] {
		e, err := pawl.DecodeEntry([]byte(line))
		must(t, err)
		switch {
		case e.Iteration > 10 && e.Iteration <= 20:
			early += len(line)
		case e.Iteration > 80:
			late += len(line)
		}
	}
	if early == 0 || late > early*11/10 {
		t.Errorf("ten turns wrote %d bytes early and %d late", early, late)
	}
}

// TestResultsGivenAreCapped: what a client returns and what a person says of a call
// is cut to the size that the tool's own results have.
func TestResultsGivenAreCapped(t *testing.T) {
	const most = 16 << 10
	long := json.RawMessage(`"` + strings.Repeat("long ", 20_000) + `"`)
	j, l := newTap(), new(ledger)
	agent := clerk(newGate(), []pawl.Call{call("client", 1)}, []pawl.Call{call("pay", 1)})
	last := new(pawl.Request)
	model := agent.Model.(pawl.ModelFunc)
	agent.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) { *last = r; return model(ctx, r) })
	agent.Tools = append(agent.Tools, fake{name: "pay", effect: pawl.Write, run: func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
		l.add(inv)
		return pawl.Output{}, nil
	}})
	e := engine.New(j, nil)
	ends(t, begin(t, e, agent), pawl.StatusWaitingClientTool)
	must(t, e.Submit(t.Context(), "r", "c_1", "x", long))
	j.on(func(b pawl.Batch, write func() error) error {
		if has(b, "tool.finished") {
			return errDisk // so that the outcome of the payment is unknown
		}
		return write()
	})
	if _, err := wait(t, resume(t, e, agent)); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	j.on(nil)
	ends(t, resume(t, e, agent), pawl.StatusWaitingDoubt)
	must(t, e.Resolve(t.Context(), "r", "c_2", "x", engine.Happened(long)))
	ends(t, resume(t, e, agent), pawl.StatusSuccess)
	results := 0
	for _, m := range last.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(pawl.ToolResult); ok {
				results++
				if len(r.Text()) > most+300 || len(r.Text()) < most/2 {
					t.Errorf("the model is given %d bytes of %s, want %d", len(r.Text()), r.Call, most)
				}
			}
		}
	}
	if results != 2 || l.len() != 1 {
		t.Errorf("%d results, %d payments", results, l.len())
	}
}
