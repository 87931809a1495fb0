package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// taking is a tool whose calls take some time and write down that they ran.
func taking(l *ledger, name string, effect pawl.Effect, d time.Duration) pawl.Tool {
	return fake{name: name, effect: effect, limit: time.Hour, run: func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
		l.add(inv)
		select {
		case <-time.After(d):
			return pawl.Output{JSON: []byte(`"done"`)}, nil
		case <-ctx.Done():
			return pawl.Output{}, ctx.Err()
		}
	}}
}

// slowAt is a hook that takes its time over the entries of a type of run r.
func slowAt(typ string, d time.Duration) *engine.Options {
	return &engine.Options{Hooks: []engine.Hook{hookFunc(func(_ *pawl.State, e pawl.Entry) engine.Direction {
		if e.Run == "r" && e.Type() == typ {
			time.Sleep(d)
		}
		return engine.Direction{}
	})}}
}

// statuses are what became of the calls of a run, in order.
func statuses(r pawl.Result) (all []string) {
	for _, s := range r.Steps {
		for _, c := range s.Calls {
			all = append(all, c.Call+" "+c.Status)
		}
	}
	return all
}

func timeLimit(d time.Duration) pawl.Limits { return pawl.Limits{Time: d} }

// The clock is looked at before every call, also when the log does not say yet
// that the time is over: the call says so itself, and the others with it.
func TestClockBeforeEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		var told []string
		agent := pawl.Agent{
			Name: "writer", Limits: timeLimit(5 * time.Second),
			Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				if len(r.Messages) == 1 {
					return pawl.Do(call("put", 1), call("put", 2), call("put", 3)), nil
				}
				for _, p := range r.Messages[2].Parts {
					if r, ok := p.(pawl.ToolResult); ok {
						told = append(told, r.Text())
					}
				}
				return pawl.Say("done"), nil
			}),
			Tools: []pawl.Tool{taking(l, "put", pawl.Write, time.Second)},
		}
		j := newTap()
		e := engine.New(j, slowAt("tool.finished", 10*time.Second))
		res := ends(t, begin(t, e, agent), pawl.StatusExhausted)
		if got, want := statuses(res), []string{"c_1 ok", "c_2 not_run", "c_3 not_run"}; !slices.Equal(got, want) || l.len() != 1 {
			t.Errorf("the calls came to %q, and %d ran; want %q", got, l.len(), want)
		}
		if res.Reason.Leaf != "elapsed >= 5s" || res.ToolCalls != 1 {
			t.Errorf("it ended by %s with %d calls", res.Reason.Leaf, res.ToolCalls)
		}
		sound(t, e, j, agent, "r")
		h, err := engine.New(j, nil).Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: timeLimit(time.Minute)})
		must(t, err)
		ends(t, h, pawl.StatusSuccess)
		if len(told) != 3 || told[0] != "done" || !strings.HasPrefix(told[1], "not run: ") || told[2] != told[1] {
			t.Errorf("the model was told %q", told)
		}
		sound(t, e, j, agent, "r")
	})
}

// A log that says a call was not run while there was time is not what this build
// writes.
func TestNotRunTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := pawl.Agent{Name: "writer", Limits: timeLimit(5 * time.Second), Model: turns([]pawl.Call{call("put", 1), call("put", 2)}),
			Tools: []pawl.Tool{taking(&ledger{}, "put", pawl.Write, time.Second)}}
		j := newTap()
		ends(t, begin(t, engine.New(j, slowAt("tool.finished", 10*time.Second)), agent), pawl.StatusExhausted)
		replayed := func(move time.Duration) error {
			var lines [][]byte
			late := time.Duration(0)
			for e, err := range engine.Entries(t.Context(), j, "r", 1) {
				if refused, ok := e.Event.(pawl.ToolRefused); ok && refused.NotRun {
					late = move
				}
				e.Time = e.Time.Add(-late)
				line, bad := e.AppendJSON(nil)
				if err != nil || bad != nil {
					t.Fatal(err, bad)
				}
				lines = append(lines, line)
			}
			_, err := engine.New(cut(t, lines), nil).Replay(t.Context(), agent, "r")
			return err
		}
		if err := replayed(0); err != nil {
			t.Errorf("as it was written: %v", err)
		}
		if err := replayed(7 * time.Second); err == nil || !strings.Contains(err.Error(), "call c_2 did not run") {
			t.Errorf("seven seconds earlier: %v", err)
		}
	})
}

// Calls that were not run are no errors of their tools: the run has run out of
// time, and does not count as getting nowhere.
func TestNotRunIsNoToolError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		agent := pawl.Agent{
			Name: "writer", Limits: pawl.Limits{Time: 5 * time.Second, ToolErrors: 1}, Model: turns([]pawl.Call{call("put", 1), call("put", 2)}),
			Tools: []pawl.Tool{taking(l, "put", pawl.Write, time.Second)},
		}
		e := engine.New(newTap(), slowAt("model.replied", 10*time.Second))
		res := ends(t, begin(t, e, agent), pawl.StatusExhausted)
		if got := statuses(res); !slices.Equal(got, []string{"c_1 not_run", "c_2 not_run"}) || l.len() != 0 {
			t.Errorf("the calls came to %q, and %d ran", got, l.len())
		}
	})
}

// What a person has approved stays approved when the time is over.
func TestApprovedCallWaitsForTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		agent := pawl.Agent{
			Name: "payer", Limits: timeLimit(5 * time.Second), Model: turns([]pawl.Call{call("pay", 1), call("pay", 2), call("put", 3)}),
			Tools:    []pawl.Tool{taking(l, "pay", pawl.Write, 6*time.Second), taking(l, "put", pawl.Write, 4*time.Second)},
			Policies: []pawl.Policy{approval.For("pay")},
		}
		j := newTap()
		e := engine.New(j, slowAt("tool.finished", 2*time.Second))
		ends(t, begin(t, e, agent), pawl.StatusWaitingApproval)
		for _, c := range []string{"c_1", "c_2"} {
			must(t, e.Approve(t.Context(), "r", c, "test", nil))
		}
		res := ends(t, resume(t, e, agent), pawl.StatusExhausted)
		if got, want := statuses(res), []string{"c_1 approved", "c_2 approved", "c_3 ok"}; !slices.Equal(got, want) || l.len() != 1 {
			t.Errorf("the calls came to %q, want %q; %v ran", got, want, l.lines)
		}
		sound(t, e, j, agent, "r")
		h, err := e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: timeLimit(time.Minute)})
		must(t, err)
		ends(t, h, pawl.StatusSuccess)
		if l.count("pay c_1") != 1 || l.count("pay c_2") != 1 || l.len() != 3 {
			t.Errorf("what ran: %v", l.lines)
		}
		sound(t, e, j, agent, "r")
	})
}

// twice is a loop that has two calls to make, and no other way.
type twice struct{}

func (twice) Name() string { return "twice" }

func (twice) Next(s *pawl.State) pawl.Step {
	if _, begun := s.Step("one"); !begun {
		return pawl.Act{Calls: []pawl.Classified{{Call: call("put", 1), Step: "one"}, {Call: call("put", 2), Step: "two"}}}
	}
	status, leaf := pawl.StatusSuccess, "done"
	if two, _ := s.Step("two"); !two.OK {
		status, leaf = pawl.StatusFailed, "two failed"
	}
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf}}
}

// The calls of a loop are all it has: they wait for time and do not fail.
func TestLoopCallWaitsForTime(t *testing.T) {
	for _, typ := range []string{"tool.finished", "none"} { // by the clock, and by the log
		synctest.Test(t, func(t *testing.T) {
			l := &ledger{}
			var took atomic.Int64 // an abandoned call may still be reading it
			took.Store(int64(3 * time.Second))
			if typ == "none" {
				took.Store(int64(6 * time.Second))
			}
			run := func(context.Context, pawl.Invocation) (pawl.Output, error) {
				time.Sleep(time.Duration(took.Load()))
				return pawl.Output{JSON: []byte(`"done"`)}, nil
			}
			agent := pawl.Agent{
				Name: "steps", Limits: timeLimit(5 * time.Second), Model: turns(), Loop: twice{},
				Tools: []pawl.Tool{fake{name: "put", effect: pawl.Write, limit: time.Hour, run: func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
					l.add(inv)
					return run(ctx, inv)
				}}},
			}
			j := newTap()
			e := engine.New(j, slowAt(typ, 10*time.Second))
			res := ends(t, begin(t, e, agent), pawl.StatusExhausted)
			if got := statuses(res); l.len() != 1 || len(got) != 2 || got[1] != "c_2 undecided" {
				t.Errorf("%s: the calls came to %q; %v ran", typ, got, l.lines)
			}
			sound(t, e, j, agent, "r")
			took.Store(0)
			h, err := engine.New(j, nil).Resume(t.Context(), agent, "r", &engine.ResumeOptions{Limits: timeLimit(time.Minute)})
			must(t, err)
			ends(t, h, pawl.StatusSuccess)
			if l.count("put c_2") != 1 || l.len() != 2 {
				t.Errorf("%s: what ran: %v", typ, l.lines)
			}
			sound(t, e, j, agent, "r")
		})
	}
}

// A child run has what is left of its parent's time when it starts, not when its
// call was decided about.
func TestChildHasWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		clerk := pawl.Agent{
			Name: "clerk", Description: "Writes.", Model: turns([]pawl.Call{call("put", 1)}),
			Tools: []pawl.Tool{taking(l, "put", pawl.Write, 7*time.Second)},
		}
		agent := pawl.Agent{
			Name: "boss", Limits: timeLimit(10 * time.Second), Model: turns([]pawl.Call{ask("clerk"), ask("clerk"), ask("clerk")}),
			Tools: []pawl.Tool{tool.Agent(clerk, nil)},
		}
		j := newTap()
		e := engine.New(j, nil)
		began := time.Now()
		res := ends(t, begin(t, e, agent), pawl.StatusExhausted)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a run of 10 s took %v", took)
		}
		if got, want := statuses(res), []string{"c_1 ok", "c_2 error", "c_3 not_run"}; !slices.Equal(got, want) {
			t.Errorf("the calls came to %q, want %q", got, want)
		}
		sound(t, e, j, agent, "r")
		j = newTap()
		e = engine.New(j, slowAt("model.replied", 6*time.Second)) // which no entry says before the child starts
		began = time.Now()
		ends(t, begin(t, e, agent), pawl.StatusExhausted)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("with a slow hook, a run of 10 s took %v", took)
		}
		sound(t, e, j, agent, "r")
	})
}

// What a run of a reply has used is known before the next one is allocated its share.
func TestChildrenAreAllocatedAgain(t *testing.T) {
	clerk := pawl.Agent{
		Name: "clerk", Description: "Writes.", Tools: []pawl.Tool{taking(&ledger{}, "put", pawl.Write, 0)},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: pawl.Usage{Input: 30_000, Output: 10}}, nil // more than was reserved
		}),
	}
	agent := pawl.Agent{
		Name: "boss", Limits: pawl.Limits{Tokens: 20_000}, Model: turns([]pawl.Call{ask("clerk"), ask("clerk")}),
		Tools: []pawl.Tool{tool.Agent(clerk, nil)},
	}
	j := newTap()
	e := engine.New(j, nil)
	res := ends(t, begin(t, e, agent), pawl.StatusExhausted)
	if res.Usage.Input > 40_000 {
		t.Errorf("a limit of 20,000 tokens, used up by the first of two runs, let the second begin: %d are used", res.Usage.Input)
	}
	if got, want := fmt.Sprint(statuses(res)), "[c_1 ok c_2 refused]"; got != want {
		t.Errorf("the calls came to %s, want %s", got, want)
	}
	sound(t, e, j, agent, "r")
}

// Neither a model nor the world is asked when there is no time.
func TestNothingIsAskedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, looked := 0, 0
		agent := pawl.Agent{
			Name: "late", Limits: timeLimit(5 * time.Second), Tools: []pawl.Tool{taking(&ledger{}, "look", pawl.Read, 0)},
			Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
				asked++
				return pawl.Do(call("look", asked)), nil
			}),
		}
		e := engine.New(newTap(), slowAt("tool.finished", 10*time.Second))
		res := ends(t, begin(t, e, agent), pawl.StatusExhausted)
		if asked != 1 || res.Usage.ModelCalls != 1 {
			t.Errorf("the model was asked %d times, and %d calls are booked", asked, res.Usage.ModelCalls)
		}
		agent.Observer = func(context.Context) (pawl.Observation, error) {
			looked++
			return pawl.Observation{Text: "fine"}, nil
		}
		asked = 0
		ends(t, begin(t, engine.New(newTap(), slowAt("tool.finished", 10*time.Second)), agent), pawl.StatusExhausted)
		if looked != 1 {
			t.Errorf("the world was looked at %d times", looked)
		}
	})
}
