package lessons

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

// directed is a hook made of a function.
type directed struct {
	name string
	f    func(s *pawl.State, e pawl.Entry) engine.Direction
}

func (d directed) Name() string { return d.name }

func (d directed) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	return d.f(s, e)
}

func hooks(all ...engine.Hook) *engine.Options { return &engine.Options{Hooks: all} }

// looker looks twice and says what it saw.
func looker(t testing.TB, count *tally) pawl.Agent {
	return pawl.Agent{Name: "looker", Model: says(t, do("look", 1), do("look", 2), pawl.Say("done")), Tools: []pawl.Tool{echo("look", pawl.Read, count)}}
}

// directions: what a hook may direct it can, and the log says that it did.
func directions(t *testing.T) {
	for _, c := range []struct {
		name string
		d    engine.Direction
		want pawl.Status
		ran  int
	}{
		{"go on", engine.Direction{}, pawl.Success, 2},
		{"cancel", engine.Direction{Cancel: true, Reason: "too curious"}, pawl.Cancelled, 1},
		{"retry", engine.Direction{Retry: true, Reason: "look again"}, pawl.Success, 3},
	} {
		count, j := new(tally), memory.New()
		once := directed{"once", func(s *pawl.State, e pawl.Entry) engine.Direction {
			f, ok := e.Event.(pawl.ToolFinished)
			if call, _ := s.Call(f.Call); !ok || f.Call != "c_1" || call.Retries > 0 {
				return engine.Direction{}
			}
			return c.d
		}}
		res := ends(t, begin(t, engine.New(j, hooks(once)), looker(t, count)), c.want)
		if count.of("look") != c.ran {
			t.Errorf("%s: it looked %d times, want %d", c.name, count.of("look"), c.ran)
		}
		switch said := events[pawl.HookDirected](t, j); {
		case c.d == engine.Direction{}:
			if len(said) != 0 {
				t.Errorf("%s: the log says %+v", c.name, said)
			}
		case len(said) != 1 || said[0].Hook != "once" || said[0].Reason != c.d.Reason || said[0].Direction != c.name:
			t.Errorf("%s: the log says %+v", c.name, said)
		case c.d.Cancel && !strings.Contains(res.Reason.Detail, "too curious"):
			t.Errorf("%s: %v", c.name, res.Reason)
		}
	}
}

// toldApart: in the log and in the result.
func toldApart(t *testing.T) {
	agent := pawl.Agent{Name: "mixed", Model: says(t, do("put", 1), pawl.Do(call("put", 1), call("break", 1), call("put", 2)), pawl.Say("done")), Tools: []pawl.Tool{
		echo("put", pawl.Idempotent, nil),
		does("break", pawl.Read, func(context.Context, int) (string, error) { return "", fmt.Errorf("it is broken") }),
	}}
	res, j := inMemory(t, agent, pawl.Success)
	reused := events[pawl.ToolReused](t, j)
	if len(reused) != 1 || reused[0].Call != "c_2" || reused[0].Of != "c_1" {
		t.Errorf("reused: %+v", reused)
	}
	var got []string
	for _, s := range res.Steps {
		for _, c := range s.Calls {
			got = append(got, c.Status)
		}
	}
	if fmt.Sprint(got) != "[ok reused error ok]" {
		t.Errorf("the result says %v", got)
	}
}

func thinking(t *testing.T) {
	thought := pawl.Thinking{Text: "hm", Opaque: []byte(`{"signature":"abc"}`)}
	first := pawl.Reply{Parts: []pawl.Part{thought, pawl.Text{Text: "Let me look."}, call("look", 1)}}
	model := says(t, first, pawl.Reply{Parts: []pawl.Part{thought, pawl.Text{Text: "done"}}})
	res, j := inMemory(t, pawl.Agent{Name: "thinker", Model: model, Tools: []pawl.Tool{echo("look", pawl.Read, nil)}}, pawl.Success)
	if res.Answer != "done" || res.Steps[0].Thought != "Let me look." {
		t.Errorf("the answer is %q, the thought %q", res.Answer, res.Steps[0].Thought)
	}
	for _, r := range events[pawl.ModelReplied](t, j) {
		if p, ok := r.Reply.Parts[0].(pawl.Thinking); !ok || p.Text != "hm" {
			t.Errorf("the log has %+v first", r.Reply.Parts[0])
		}
	}
	sent, ok := model.last().Messages[1].Parts[0].(pawl.Thinking)
	if !ok || sent.Text != thought.Text || string(sent.Opaque) != string(thought.Opaque) {
		t.Errorf("sent back: %+v", model.last().Messages[1].Parts[0])
	}
}

// everyStep: a condition that comes true in the midst of a turn ends the run
// there, before the calls of the reply, and before the next request.
func everyStep(t *testing.T) {
	for _, c := range []struct {
		stop       pawl.Condition
		ran, asked int
	}{
		{stop.TextMatches("I will"), 0, 1},
		{stop.ToolCalled("look"), 1, 1},
		{stop.ToolCalls(2), 2, 2},
	} {
		count := new(tally)
		step := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "I will look."}, call("look", 1)}}
		model := says(t, step, pawl.Do(call("look", 2)), pawl.Say("done"))
		agent := pawl.Agent{Name: "looker", Model: model, Stop: c.stop, Tools: []pawl.Tool{echo("look", pawl.Read, count)}}
		res, err := engine.Run(t.Context(), agent, "go")
		if err != nil || res.Reason.Leaf != c.stop.String() || count.of("look") != c.ran || model.asked() != c.asked {
			t.Errorf("%v: %v, %v; it looked %d times and was asked %d times", c.stop, res.Reason, err, count.of("look"), model.asked())
		}
	}
}

// leaf: the reason is the condition that held, not the whole of them, and what
// is printed can be read again.
func leaf(t *testing.T) {
	whole := stop.Any(
		stop.All(stop.ToolCalled("look"), stop.Metric(">=", 5)),
		stop.ToolCalledWith("look", "args.n == 2"),
		stop.Iterations(9))
	agent := looker(t, nil)
	agent.Goal = &pawl.Goal{Metric: new(metric), Success: stop.Metric(">=", 100)}
	agent.Stop = stop.Exhausted(whole)
	res, _ := inMemory(t, agent, pawl.Exhausted)
	if res.Reason.Leaf != `tool_called("look", args.n == 2)` || res.Reason.Condition != agent.Stop.String() {
		t.Errorf("%+v", res.Reason)
	}
	back, err := stop.Parse(res.Reason.Condition, nil)
	if err != nil || back.String() != agent.Stop.String() {
		t.Errorf("%v, %v", back, err)
	}
}

func conditions(t *testing.T) {
	for _, c := range []struct {
		stop  pawl.Condition
		turns int
	}{
		{stop.ToolCalled("look"), 1},
		{stop.ToolCalledWith("look", "args.n > 1"), 2},
		{stop.TextMatches(`(?i)^DONE$`), 3},
		{stop.When("looked twice", func(s *pawl.State) bool { return s.Succeeded("look") == 2 }), 2},
		{stop.All(stop.Not(stop.ToolCalledWith("look", "args.n == 1")), stop.ToolCalled("look")), 3},
	} {
		agent := looker(t, nil)
		agent.Stop = c.stop
		if res, _ := inMemory(t, agent, pawl.Success); res.Iterations != c.turns {
			t.Errorf("%v: it ended after %d turns, want %d", c.stop, res.Iterations, c.turns)
		}
	}
}

// bothBounds: a ceiling and the condition of the same words end a run in the
// same place for the same reason, and a wide condition does not widen the ceiling.
func bothBounds(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		stop  pawl.Condition
		want  string
	}{
		"ceiling":   {3, nil, "iterations >= 3"},
		"condition": {0, stop.Iterations(3), "iterations >= 3"},
		"wide":      {0, stop.Iterations(50), "iterations >= 20"},
	} {
		count := new(tally)
		model := scripted(t, "replies: [{calls: [{tool: look, args: {n: \"{{turn}}\"}}]}]\nrepeat: last")
		agent := pawl.Agent{Name: "looker", Model: model, Stop: c.stop, Limits: pawl.Limits{Iterations: c.limit}, Tools: []pawl.Tool{echo("look", pawl.Read, count)}}
		res, _ := inMemory(t, agent, pawl.Exhausted)
		if res.Reason.Leaf != c.want || fmt.Sprintf("iterations >= %d", count.of("look")) != c.want {
			t.Errorf("%s: %v after %d calls", name, res.Reason, count.of("look"))
		}
	}
}

func cancelReaches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		in := make(chan struct{})
		var why error
		agent := pawl.Agent{Name: "waiter", Model: says(t, pawl.Do(call("wait", 1), call("wait", 2)), pawl.Say("done")), Tools: []pawl.Tool{
			tool.FuncWith("wait", "Waits.", func(ctx context.Context, a number) (string, error) {
				if a.N == 1 {
					in <- struct{}{}
				}
				<-ctx.Done()
				if a.N == 1 {
					why = context.Cause(ctx)
				}
				return "", ctx.Err()
			}, pawl.Read, &tool.Options{Timeout: time.Hour}),
		}}
		j := memory.New()
		e := engine.New(j, nil)
		h := begin(t, e, agent)
		<-in
		began := time.Now()
		if err := e.Cancel(t.Context(), run, "ada", "enough"); err != nil {
			t.Fatal(err)
		}
		ends(t, h, pawl.Cancelled)
		if took := time.Since(began); took > 0 || why == nil || !strings.Contains(why.Error(), "cancelled") {
			t.Errorf("after %v, because %v", took, why)
		}
		for _, f := range events[pawl.ToolFinished](t, j) {
			if f.Status != pawl.ToolCancelled || f.Abandoned {
				t.Errorf("%s is %v", f.Call, f.Status)
			}
		}
	})
}

// askedAgain: not before the provider's time, and errors are retried, not only
// replies without words.
func askedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		least time.Duration
	}{
		"rate limit": {"{error: {class: rate_limit, message: slow down, retry_after: 20s}}", 20 * time.Second},
		"broken off": {"{text: half, error: {class: truncated, message: cut}}", 0},
		"empty":      {"{text: \"\"}", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				model := scripted(t, "replies: [{attempts: ["+c.first+", {text: done}]}]")
				began := time.Now()
				res, _ := inMemory(t, pawl.Agent{Name: "a", Model: model}, pawl.Success)
				if took := time.Since(began); took < c.least || model.asked() != 2 || res.Answer != "done" || res.Iterations != 1 {
					t.Errorf("after %v and %d requests in %d turns: %q", took, model.asked(), res.Iterations, res.Answer)
				}
			})
		})
	}
}

// hooksInOrder: hooks are asked as they stand in the list, about each entry of
// the log, once.
func hooksInOrder(t *testing.T) {
	j := memory.New()
	var order []string
	var seen [2][]uint64
	watch := func(i int, name string) engine.Hook {
		return directed{name, func(_ *pawl.State, e pawl.Entry) engine.Direction {
			order = append(order, name)
			seen[i] = append(seen[i], e.Seq)
			return engine.Direction{}
		}}
	}
	ends(t, begin(t, engine.New(j, hooks(watch(0, "first"), watch(1, "second"))), looker(t, nil)), pawl.Success)
	for i, name := range order {
		if want := []string{"first", "second"}[i%2]; name != want {
			t.Fatalf("asked in the order %v", order)
		}
	}
	all := log(t, j)
	for i := range seen {
		// The last entry ends the run: there is nothing left to direct.
		if n := len(seen[i]); n < len(all)-1 {
			t.Errorf("hook %d was asked about %v of %d entries", i+1, seen[i], len(all))
		}
		for k, seq := range seen[i] {
			if seq != uint64(k+1) {
				t.Errorf("hook %d was asked about %v", i+1, seen[i])
				break
			}
		}
	}
}

// equalArguments: how a document is written does not matter, what it says does.
func equalArguments(t *testing.T) {
	count := new(tally)
	put := func(args string) pawl.Call { return pawl.Call{Tool: "put", Args: []byte(args)} }
	type pair struct {
		A string `json:"a,omitempty"`
		N *int   `json:"n,omitempty"`
	}
	agent := pawl.Agent{Name: "putter", Model: says(t, pawl.Do(put(`{"a":"é","n":0}`)), pawl.Do(put(`{ "n": 0, "a": "\u00e9" }`)),
		pawl.Do(put(`{"a":"é"}`)), pawl.Say("done")), Tools: []pawl.Tool{
		tool.Func("put", "Puts.", func(_ context.Context, p pair) (string, error) {
			count.add(fmt.Sprint(p.A, p.N == nil))
			return "put", nil
		}, pawl.Idempotent),
	}}
	_, j := inMemory(t, agent, pawl.Success)
	if reused := events[pawl.ToolReused](t, j); len(reused) != 1 || reused[0].Call != "c_2" || count.of("éfalse") != 1 || count.of("étrue") != 1 {
		t.Errorf("reused %+v, ran %v", reused, count.seen)
	}
}
