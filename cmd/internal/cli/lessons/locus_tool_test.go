package lessons

import (
	"context"
	"encoding/json"
	"errors"
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

// readsWhy: of every way in which a call can come to nothing the model is told
// in words.
func readsWhy(t *testing.T) {
	model := says(t, pawl.Do(call("fail", 1), call("panic", 1), call("late", 1), call("nothere", 1), pawl.Call{Tool: "fail", Args: []byte(`{"n":"one"}`)}, call("pay", 1), call("ok", 1)), pawl.Say("done"))
	agent := pawl.Agent{Name: "a", Model: model, Policies: []pawl.Policy{refusing{"pay"}}, Tools: []pawl.Tool{
		does("fail", pawl.Read, func(context.Context, int) (string, error) { return "", errors.New("the shop is closed") }),
		does("panic", pawl.Read, func(context.Context, int) (string, error) { panic("no more paper") }),
		tool.FuncWith("late", "Is late.", func(ctx context.Context, _ number) (string, error) { <-ctx.Done(); return "", ctx.Err() }, pawl.Read, &tool.Options{Timeout: 20 * time.Millisecond}),
		echo("pay", pawl.Write, nil), echo("ok", pawl.Read, nil),
	}}
	inMemory(t, agent, pawl.Success)
	for id, want := range map[string]string{
		"c_1": "the shop is closed", "c_2": "no more paper", "c_3": "timed out: no result within 20ms",
		"c_4": `there is no tool "nothere"; there are fail, panic, late, pay, ok`, "c_5": "n: ", "c_6": "nobody may", "c_7": "ok of 1",
	} {
		r, ok := result(model.last(), id)
		if !ok || !strings.Contains(r.Text(), want) || r.Failed != (id != "c_7") {
			t.Errorf("of %s the model is told %q, failed %v; want %q", id, r.Text(), r.Failed, want)
		}
	}
}

// once refuses calls of the first turn.
type once struct{}

func (once) String() string { return "once" }

func (once) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if s.Iteration() > 1 {
		return step
	}
	return refusing{"put"}.Review(s, step)
}

// refusedThenRun: a refusal is no result that could be given again, and no call
// that has happened.
func refusedThenRun(t *testing.T) {
	count := new(tally)
	model := says(t, do("put", 1), do("put", 1), pawl.Say("done"))
	agent := pawl.Agent{Name: "a", Model: model, Policies: []pawl.Policy{once{}}, Stop: stop.ToolCalled("put"), Tools: []pawl.Tool{echo("put", pawl.Idempotent, count)}}
	res, j := inMemory(t, agent, pawl.Success)
	if count.of("put") != 1 || res.Iterations != 2 || len(events[pawl.ToolReused](t, j)) != 0 {
		t.Errorf("it ran %d times in %d turns", count.of("put"), res.Iterations)
	}
}

func failureNotReused(t *testing.T) {
	n, key := 0, ""
	agent := pawl.Agent{Name: "a", Model: says(t, do("put", 1), do("put", 1), do("put", 1), pawl.Say("done")), Tools: []pawl.Tool{
		tool.Func("put", "Puts.", func(ctx context.Context, _ number) (string, error) {
			inv, _ := tool.InvocationFrom(ctx)
			if n++; key != "" && key != inv.Key {
				t.Errorf("the keys are %s and %s", key, inv.Key)
			}
			if key = inv.Key; n == 1 {
				return "", errors.New("try again")
			}
			return "put", nil
		}, pawl.Idempotent),
	}}
	model := agent.Model.(*ear)
	inMemory(t, agent, pawl.Success)
	if r, _ := result(model.last(), "c_3"); n != 2 || r.Text() != "put" || r.Failed {
		t.Errorf("it ran %d times, and the third call was told %q", n, r.Text())
	}
}

// oneAndTrue: arguments that some languages take for the same are not, neither
// in one reply nor across replies.
func oneAndTrue(t *testing.T) {
	values := []string{"1", "true", `"1"`, "1.5", "null", "[1]"}
	var calls []pawl.Call
	for _, v := range values {
		calls = append(calls, pawl.Call{Tool: "put", Args: []byte(`{"v":` + v + `}`)})
	}
	ran := map[string]int{}
	agent := pawl.Agent{Name: "a", Serial: true, Model: says(t, pawl.Do(calls...), pawl.Do(calls...), pawl.Say("done")), Tools: []pawl.Tool{
		tool.Func("put", "Puts.", func(_ context.Context, a struct {
			V json.RawMessage `json:"v"`
		}) (string, error) {
			ran[string(a.V)]++
			return "put " + string(a.V), nil
		}, pawl.Idempotent),
	}}
	model := agent.Model.(*ear)
	_, j := inMemory(t, agent, pawl.Success)
	for i, v := range values {
		r, _ := result(model.last(), fmt.Sprintf("c_%d", len(values)+i+1))
		if ran[v] != 1 || r.Text() != "put "+v {
			t.Errorf("%s ran %d times, and again is told %q", v, ran[v], r.Text())
		}
	}
	if n := len(events[pawl.ToolReused](t, j)); n != len(values) {
		t.Errorf("%d results were used again", n)
	}
}

func defaultTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		agent := pawl.Agent{Name: "a", Model: says(t, do("wait", 1), pawl.Say("done")), Tools: []pawl.Tool{
			does("wait", pawl.Read, func(ctx context.Context, _ int) (string, error) { <-ctx.Done(); return "", ctx.Err() }),
		}}
		began := time.Now()
		if inMemory(t, agent, pawl.Success); time.Since(began) != time.Minute {
			t.Errorf("it waited %v", time.Since(began))
		}
	})
}

// capHolds: whichever way a result comes, the model is given so much of it.
func capHolds(t *testing.T) {
	const most = 1000
	long := strings.Repeat("long ", 20_000)
	o := &tool.Options{MaxOutput: most}
	agent := func() pawl.Agent {
		return pawl.Agent{Name: "a", Model: says(t, pawl.Do(call("put", 1), call("put", 1), call("fail", 1), call("pay", 1), call("ask", 1)), do("put", 1), pawl.Say("done")), Tools: []pawl.Tool{
			tool.FuncWith("put", "Puts.", func(context.Context, number) (string, error) { return long, nil }, pawl.Idempotent, o),
			tool.FuncWith("fail", "Fails.", func(context.Context, number) (string, error) { return "", errors.New(long) }, pawl.Read, o),
			tool.FuncWith("pay", "Pays.", func(context.Context, number) (string, error) { return long, nil }, pawl.Write, o),
			client("ask"),
		}}
	}
	short := func(t *testing.T, r pawl.Request) {
		t.Helper()
		for id, most := range map[string]int{"c_1": most, "c_2": most, "c_3": most, "c_4": most, "c_5": 16 << 10, "c_6": most} {
			if res, ok := result(r, id); !ok || len(res.Text()) > most+300 {
				t.Errorf("of %s the model is given %d bytes, want %d", id, len(res.Text()), most)
			}
		}
	}
	j := disk(t)
	a := agent()
	e := engine.New(j, nil)
	ends(t, begin(t, e, a), pawl.WaitingClientTool)
	submit(t, e, "c_5", `"`+long+`"`)
	ends(t, resume(t, e, a, nil), pawl.Success)
	short(t, a.Model.(*ear).last())

	// What is run again because a log was cut short, and what a person says
	// came of a call, is no exception.
	started := 0
	for i, e := range log(t, j) {
		if s, ok := e.Event.(pawl.ToolStarted); ok && s.Tool == "pay" {
			started = i + 1
		}
	}
	again := cut(t, j, started)
	a, e = agent(), engine.New(again, nil)
	ends(t, resume(t, e, a, nil), pawl.WaitingDoubt)
	if err := e.Happened(t.Context(), run, "c_4", "ada", json.RawMessage(`"`+long+`"`)); err != nil {
		t.Fatal(err)
	}
	ends(t, resume(t, e, a, nil), pawl.WaitingClientTool)
	submit(t, e, "c_5", `1`)
	ends(t, resume(t, e, a, nil), pawl.Success)
	short(t, a.Model.(*ear).last())
}

// bothKept: two large results of one tool in one turn are two.
func bothKept(t *testing.T) {
	j := disk(t)
	agent := pawl.Agent{Name: "a", Model: says(t, pawl.Do(call("read", 1), call("read", 2)), pawl.Say("done")), Tools: []pawl.Tool{
		does("read", pawl.Read, func(_ context.Context, n int) (string, error) { return strings.Repeat(fmt.Sprint(n), 100_000), nil }),
	}}
	ends(t, begin(t, engine.New(j, nil), agent), pawl.Success)
	kept := 0
	for _, f := range events[pawl.ToolFinished](t, j) {
		data, err := j.Blob(t.Context(), f.Blob)
		if want := strings.Repeat(f.Call[2:], 100_000); err != nil || string(data) != want {
			t.Errorf("of %s %d bytes are kept, %v", f.Call, len(data), err)
		}
		kept++
	}
	if kept != 2 {
		t.Errorf("%d calls", kept)
	}
}

// notDone: neither a done tool nor a last word ends a run whose goal is not
// reached; when it is, the answer is what was handed in.
func notDone(t *testing.T) {
	m := new(metric)
	complete := func(answer string) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: "__complete__", Args: []byte(`{"answer":"` + answer + `"}`)})
	}
	model := says(t, complete("all done"), pawl.Say("really"), do("mend", 1), complete("mended"))
	agent := pawl.Agent{Name: "a", Builtins: true, Model: model, Goal: &pawl.Goal{Metric: m, Success: stop.Metric(">=", 1)}, Tools: []pawl.Tool{
		does("mend", pawl.Write, func(context.Context, int) (string, error) { m.set(1); return "mended", nil }),
	}}
	j := disk(t)
	res := ends(t, begin(t, engine.New(j, nil), agent), pawl.Success)
	if res.Iterations != 3 || res.Reason.Leaf != "metric >= 1" {
		t.Errorf("it ended after %d turns: %v", res.Iterations, res.Reason)
	}
	refuted := 0
	for _, p := range events[pawl.ProgressJudged](t, j) {
		if p.Judgement == pawl.Refuted {
			refuted++
		}
	}
	if refuted != 2 || !strings.Contains(told(model.last()), "the goal is not reached") {
		t.Errorf("it was refuted %d times and told\n%s", refuted, told(model.last()))
	}
	m.set(1)
	agent.Goal, agent.Model = nil, says(t, pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "bye"}, complete("mended").Parts[0]}})
	if res, err := engine.Run(t.Context(), agent, "go"); err == nil {
		t.Errorf("it ran in memory: %v", res.Verdict) // it may ask a person
	}
	j = disk(t)
	if res := ends(t, begin(t, engine.New(j, nil), agent), pawl.Success); res.Answer != "mended" {
		t.Errorf("the answer is %q", res.Answer)
	}
}

func siblings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		model := says(t, pawl.Do(call("wait", 1), call("wait", 0), call("wait", 2)), pawl.Say("done"))
		agent := pawl.Agent{Name: "a", Model: model, Tools: []pawl.Tool{
			does("wait", pawl.Read, func(ctx context.Context, n int) (string, error) {
				if n == 0 {
					return "", errors.New("no")
				}
				select {
				case <-time.After(time.Duration(n) * time.Second):
					return fmt.Sprintf("waited %d", n), nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}),
		}}
		ends(t, begin(t, engine.New(memory.New(), nil), agent), pawl.Success)
		for id, want := range map[string]string{"c_1": "waited 1", "c_2": "no", "c_3": "waited 2"} {
			if r, _ := result(model.last(), id); !strings.Contains(r.Text(), want) {
				t.Errorf("%s: %q", id, r.Text())
			}
		}
	})
}

// checkedFirst: a tool sees only arguments of the kinds it has declared, and
// nothing is made to fit.
func checkedFirst(t *testing.T) {
	ran := 0
	type order struct {
		N     int  `json:"n"`
		Quick bool `json:"quick,omitempty"`
	}
	bad := []string{`{}`, `{"n":"3"}`, `{"n":3,"quick":"yes"}`, `{"n":3,"qick":true}`, `{"n":3.5}`, `[3]`, `"{\"n\":3}"`, `{"n":null}`}
	var replies []pawl.Reply
	for _, args := range bad {
		replies = append(replies, pawl.Do(pawl.Call{Tool: "order", Args: []byte(args)}, call("look", len(replies))))
	}
	model := says(t, append(replies, pawl.Say("done"))...)
	agent := pawl.Agent{Name: "a", Model: model, Tools: []pawl.Tool{
		tool.Func("order", "Orders.", func(context.Context, order) (string, error) { ran++; return "ordered", nil }, pawl.Write),
		echo("look", pawl.Read, nil),
	}}
	inMemory(t, agent, pawl.Success)
	if ran != 0 {
		t.Errorf("it ran %d times", ran)
	}
	for i, args := range bad {
		if r, _ := result(model.last(), fmt.Sprintf("c_%d", 2*i+1)); !r.Failed || !strings.Contains(r.Text(), "arguments") {
			t.Errorf("of %s the model is told %q", args, r.Text())
		}
	}
}

// noCall: nothing that is said runs anything, whatever it looks like.
func noCall(t *testing.T) {
	count := new(tally)
	answer := `You can call pay(n=5) later, or {"tool":"pay","args":{"n":5}}. Final answer: 42.`
	agent := pawl.Agent{Name: "a", Model: says(t, pawl.Say(answer)), Tools: []pawl.Tool{echo("pay", pawl.Write, count)}}
	if res, _ := inMemory(t, agent, pawl.Success); res.Answer != answer || count.of("pay") != 0 {
		t.Errorf("it paid %d times and says %q", count.of("pay"), res.Answer)
	}
}
