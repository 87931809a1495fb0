package lessons

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/stop"
)

// lastIteration: the ceiling refuses a further turn, not the look at what the
// last one did; and the goal goes before the rule that repeating is no progress.
func lastIteration(t *testing.T) {
	for name, turns := range map[string]int{"exhausted": 1, "stopped": 2, "stuck": 4} {
		m, tries := new(metric), 0
		var replies []pawl.Reply
		for range turns {
			replies = append(replies, do("mend", 1))
		}
		model := says(t, replies...)
		agent := pawl.Agent{
			Name: "mender", Model: model, Limits: pawl.Limits{Iterations: turns},
			Goal: &pawl.Goal{Metric: m, Success: stop.Metric(">=", 1)},
			Tools: []pawl.Tool{does("mend", pawl.Write, func(context.Context, int) (string, error) {
				if tries++; tries == turns {
					m.set(1)
				}
				return "mended", nil
			})},
		}
		if name == "stopped" {
			agent.Stop = stop.Iterations(turns)
		}
		res, _ := inMemory(t, agent, pawl.Success)
		if res.Reason.Leaf != "metric >= 1" || model.asked() != turns {
			t.Errorf("%s: %v after %d model calls", name, res.Reason, model.asked())
		}
	}
}

// blame: of two actions, the first of which breaks something, the first is the
// one that explain says broke it.
func blame(t *testing.T) {
	m := new(metric)
	m.set(-1, "a")
	turn := func(name string, value float64, open ...string) pawl.Tool {
		return does(name, pawl.Write, func(context.Context, int) (string, error) { m.set(value, open...); return "done", nil })
	}
	agent := pawl.Agent{
		Name: "mender", Model: says(t, do("spoil", 1), do("mend", 1)),
		Goal:  &pawl.Goal{Metric: m, Success: stop.Metric(">=", 0)},
		Tools: []pawl.Tool{turn("spoil", -2, "a", "b"), turn("mend", 0)},
	}
	_, j := inMemory(t, agent, pawl.Success)
	report, err := explain.Of(engine.Entries(t.Context(), j, run, 1), nil)
	if err != nil || len(report.Attempts) != 2 {
		t.Fatalf("%d attempts, %v", len(report.Attempts), err)
	}
	first, second := report.Attempts[0], report.Attempts[1]
	if first.Iteration != 1 || !strings.Contains(first.Changes[0], "spoil") || !strings.Contains(first.Said, "broke b") {
		t.Errorf("the first is %+v", first)
	}
	if second.Iteration != 2 || !strings.Contains(second.Changes[0], "mend") || !strings.Contains(second.Said, "fixed a, b") {
		t.Errorf("the second is %+v", second)
	}
}

// failingDifferently: other arguments do not hide that nothing works.
func failingDifferently(t *testing.T) {
	model := scripted(t, `
replies: [{calls: [{tool: try, args: {n: "{{turn}}"}}]}]
repeat: last`)
	agent := pawl.Agent{Name: "trier", Model: model, Tools: []pawl.Tool{
		does("try", pawl.Read, func(_ context.Context, n int) (string, error) { return "", fmt.Errorf("%d does not fit", n) }),
	}}
	res, _ := inMemory(t, agent, pawl.NoProgress)
	if res.Iterations != 3 || res.Reason.Leaf != "tool_errors >= 3" {
		t.Errorf("it ended after %d turns: %v", res.Iterations, res.Reason)
	}
}

// polling: the same call again and again is progress while something else
// comes of it, and none when nothing does.
func polling(t *testing.T) {
	for name, c := range map[string]struct {
		sees func(n int) string
		want pawl.Status
	}{
		"changes": {func(n int) string { return fmt.Sprintf("%d%%", n) }, pawl.Success},
		"stays":   {func(int) string { return "0%" }, pawl.NoProgress},
	} {
		var replies []pawl.Reply
		for range 10 {
			replies = append(replies, do("poll", 1))
		}
		n := 0
		agent := pawl.Agent{Name: "poller", Model: says(t, append(replies, pawl.Say("done"))...), Tools: []pawl.Tool{
			does("poll", pawl.Read, func(context.Context, int) (string, error) { n++; return c.sees(n), nil }),
		}}
		t.Run(name, func(t *testing.T) { inMemory(t, agent, c.want) })
	}
}

// unpriced: a dollar ceiling that could not be kept is refused before the run.
func unpriced(t *testing.T) {
	agent := pawl.Agent{Name: "spender", Model: says(t, pawl.Say("done")), Limits: pawl.Limits{Cost: 1}}
	if _, err := engine.Run(t.Context(), agent, "go"); err == nil || !strings.Contains(err.Error(), "no price") {
		t.Errorf("a ceiling on the cost of a model without a price: %v", err)
	}
	priced := scripted(t, "replies: [{text: done}]\nprice: {input: 1, output: 1}")
	agent.Model, agent.Fallback = priced, []pawl.Model{says(t, pawl.Say("done"))}
	if _, err := engine.Run(t.Context(), agent, "go"); err == nil || !strings.Contains(err.Error(), "no price") {
		t.Errorf("a fallback without a price: %v", err)
	}
	// Nor does the ceiling come in by the back door.
	j := disk(t)
	agent = pawl.Agent{Name: "spender", Model: says(t, do("look", 1), pawl.Say("done")), Limits: pawl.Limits{Iterations: 1}, Tools: []pawl.Tool{echo("look", pawl.Read, nil)}}
	e := engine.New(j, nil)
	ends(t, begin(t, e, agent), pawl.Exhausted)
	if _, err := e.Resume(t.Context(), agent, run, &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 5, Cost: 1}}); err == nil || !strings.Contains(err.Error(), "no price") {
		t.Errorf("a ceiling given on resuming: %v", err)
	}
}

// marked: what is shown of a long result says that it is not all, and where
// the end of it matters the end is there.
func marked(t *testing.T) {
	long := "the beginning" + strings.Repeat("\nnothing of note", 20_000) + "\nFAILED: the end"
	whole := strings.Repeat("x", 10_000)
	j := disk(t)
	model := says(t, pawl.Do(call("long", 1), call("whole", 1)), pawl.Say("done"))
	agent := pawl.Agent{Name: "reader", Model: model, Tools: []pawl.Tool{
		does("long", pawl.Read, func(context.Context, int) (string, error) { return long, nil }),
		does("whole", pawl.Read, func(context.Context, int) (string, error) { return whole, nil }),
	}}
	ends(t, begin(t, engine.New(j, nil), agent), pawl.Success)
	if r, _ := result(model.last(), "c_2"); r.Text() != whole {
		t.Errorf("of 10,000 bytes the model was shown %d", len(r.Text()))
	}
	r, _ := result(model.last(), "c_1")
	text := r.Text()
	if !strings.HasPrefix(text, "the beginning") || !strings.HasSuffix(text, "FAILED: the end") || len(text) > 17<<10 || !strings.Contains(text, "left out") {
		t.Errorf("of a long result the model was shown %d bytes: %.40q…%q", len(text), text, text[max(0, len(text)-40):])
	}
	for _, f := range events[pawl.ToolFinished](t, j) {
		if f.Call != "c_1" {
			continue
		}
		kept, err := j.Blob(t.Context(), f.Blob)
		if err != nil || string(kept) != long || !f.Truncated {
			t.Errorf("the whole of it: %d bytes kept, %v", len(kept), err)
		}
	}
}
