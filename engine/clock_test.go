package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/process"
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

// proof is a command that ignores SIGTERM, as far as an engine can tell.
type proof struct{ job }

func (proof) Grace() time.Duration { return process.DefaultGrace + process.Settling }

// A run exceeds its time by at most a second. A command gets SIGTERM early enough to be killed by
// then; a function that ignores its context is left behind. A call that obeys has all of its time.
func TestOvershoot(t *testing.T) { // Promises: T15.
	killed := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		time.Sleep(process.Within(ctx, process.DefaultGrace))
		return "", ctx.Err()
	}
	ignores := func(context.Context) (string, error) { time.Sleep(time.Hour); return "", nil }
	obeys := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	using := func(do func(context.Context) (string, error), limit time.Duration, command bool) pawl.Agent {
		j := job{pawl.ToolInfo{Name: "work", Effect: pawl.Read, Timeout: limit}, func(ctx context.Context, _ pawl.Invocation) (string, error) { return do(ctx) }}
		a := pawl.Agent{Model: turns([]pawl.Call{call("work", 1)}, []pawl.Call{call("work", 2)}), Tools: []pawl.Tool{j}}
		if command {
			a.Tools[0] = proof{j}
		}
		return a
	}
	for what, c := range map[string]struct {
		agent    pawl.Agent
		limit    time.Duration
		from, to time.Duration
	}{
		"command":                     {using(killed, time.Hour, true), 30 * time.Second, 30 * time.Second, 31 * time.Second},
		"command in a short run":      {using(killed, time.Hour, true), 2 * time.Second, 2 * time.Second, 3 * time.Second},
		"command with its own limit":  {using(killed, 29*time.Second, true), 30 * time.Second, 30 * time.Second, 31 * time.Second},
		"command far from the end":    {using(killed, time.Second, true), time.Hour, 12 * time.Second, 12 * time.Second},
		"command in a very short run": {using(killed, time.Hour, true), 300 * time.Millisecond, 300 * time.Millisecond, 1300 * time.Millisecond},
		"function":                    {using(ignores, time.Hour, false), 300 * time.Millisecond, 300 * time.Millisecond, 800 * time.Millisecond},
		"function that obeys":         {using(obeys, time.Hour, false), 2500 * time.Millisecond, 2500 * time.Millisecond, 2500 * time.Millisecond},
		"model": {pawl.Agent{Model: pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
			_, err := ignores(ctx)
			return pawl.Reply{}, err
		})}, 300 * time.Millisecond, 300 * time.Millisecond, 800 * time.Millisecond},
		"retry": {pawl.Agent{Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassNetwork, Message: "no", RetryAfter: 2 * time.Second}
		})}, 300 * time.Millisecond, 0, 0}, // which is announced, and not waited for
		"observer": {pawl.Agent{Model: says(pawl.Say("")), Observer: func(ctx context.Context) (pawl.Observation, error) {
			_, err := killed(ctx)
			return pawl.Observation{}, err
		}}, 10 * time.Second, 10 * time.Second, 11 * time.Second},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed []pawl.Entry
				c.agent.Name, c.agent.Limits = "late", timeLimit(c.limit)
				h := begin(t, engine.New(newTap(), nil), c.agent)
				r, err := wait(t, h)
				for e := range h.Entries(t.Context()) {
					if f, is := e.Event.(pawl.ModelFailed); is && !f.RetryAt.IsZero() {
						failed = append(failed, e)
					}
				}
				took := time.Duration(r.ElapsedMS) * time.Millisecond
				if err != nil || took < c.from || took > c.to || failed != nil && what != "retry" {
					t.Errorf("%v after %v, want %v to %v; retries are announced in %v (%v)", r.Verdict, took, c.from, c.to, failed, err)
				}
				time.Sleep(time.Hour) // what was left behind returns
			})
		})
	}
}

// A model call in progress may end while its run is being suspended, for the grace that the engine gives,
// so that its reply is not bought twice.
func TestGraceOfModelCalls(t *testing.T) {
	for what, c := range map[string]struct {
		takes, grace, after time.Duration // after: when the run is suspended
		calls               int
	}{
		"ends within it":   {10 * time.Second, 20 * time.Second, 10 * time.Second, 1},
		"takes longer":     {time.Minute, 20 * time.Second, 21 * time.Second, 2},
		"none":             {10 * time.Second, 0, time.Second, 2},
		"a call's own end": {time.Minute, 50 * time.Second, 30 * time.Second, 2},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				agent := pawl.Agent{Name: "slow", Model: pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
					select {
					case <-time.After(c.takes):
						return pawl.Say("done"), nil
					case <-ctx.Done():
						return pawl.Reply{}, ctx.Err()
					}
				})}
				j, began := newTap(), time.Now()
				e := engine.New(j, &engine.Options{Grace: c.grace, Call: 30 * time.Second})
				ctx, stop := context.WithCancel(t.Context())
				h, err := e.Start(ctx, agent, "go", &engine.StartOptions{ID: "r"})
				must(t, err)
				time.Sleep(time.Second)
				stop()
				ends(t, h, pawl.StatusPaused)
				if took := time.Since(began); took != c.after {
					t.Errorf("suspended after %v, want %v", took, c.after)
				}
				agent.Model = says(pawl.Say("done"))
				if r := ends(t, resume(t, engine.New(j, nil), agent), pawl.StatusSuccess); r.Usage.ModelCalls != c.calls {
					t.Errorf("%d model calls, want %d", r.Usage.ModelCalls, c.calls)
				}
			})
		})
	}
}
