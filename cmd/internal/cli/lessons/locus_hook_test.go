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
)

// writeProtected: whoever is shown an entry may scribble on it; the run, the
// log and the model see none of it.
func writeProtected(t *testing.T) {
	scribble := func(b []byte) {
		for i := range b {
			b[i] = 'X'
		}
	}
	vandal := func(s *pawl.State, e pawl.Entry) engine.Direction {
		switch ev := e.Event.(type) {
		case pawl.ToolStarted:
			scribble(ev.Args)
		case pawl.ToolFinished:
			scribble(ev.Result)
		case pawl.ModelReplied:
			for _, p := range ev.Reply.Parts {
				if c, ok := p.(pawl.Call); ok {
					scribble(c.Args)
				}
			}
		}
		for c := range s.Calls() {
			scribble(c.Args)
			scribble(c.Result)
		}
		return engine.Direction{}
	}
	nothing := func(*pawl.State, pawl.Entry) engine.Direction { return engine.Direction{} }
	for name, c := range map[string]struct {
		hook, watcher func(*pawl.State, pawl.Entry) engine.Direction
	}{
		"hook":    {vandal, nothing},
		"watcher": {nothing, vandal},
	} {
		t.Run(name, func(t *testing.T) {
			j := memory.New()
			agent := looker(t, nil)
			model := agent.Model.(*ear)
			e := engine.New(j, hooks(directed{"vandal", c.hook}))
			h := begin(t, e, agent)
			for entry := range h.Entries(t.Context()) {
				c.watcher(new(pawl.State), entry)
			}
			ends(t, h, pawl.Success)
			if r, _ := result(model.last(), "c_2"); r.Text() != "look of 2" {
				t.Errorf("the model was told %q", r.Text())
			}
			for c := range state(t, j).Calls() {
				if !strings.HasPrefix(string(c.Result), `"look of`) || !strings.HasPrefix(string(c.Args), `{"n"`) {
					t.Errorf("the log has %s of %s", c.Result, c.Args)
				}
			}
			sound(t, e, agent)
		})
	}
}

// loggedWhenOver: of calls that run at once the quick one is in the journal
// while the slow one runs.
func loggedWhenOver(t *testing.T) {
	j := disk(t)
	out := make(chan struct{})
	agent := pawl.Agent{Name: "both", Model: says(t, pawl.Do(call("slow", 1), call("quick", 1)), pawl.Say("done")), Tools: []pawl.Tool{
		does("slow", pawl.Read, func(context.Context, int) (string, error) { <-out; return "slow", nil }), echo("quick", pawl.Read, nil),
	}}
	h := begin(t, engine.New(j, nil), agent)
	soon(t, "the quick call is in the journal", func() bool {
		f := events[pawl.ToolFinished](t, j)
		return len(f) == 1 && f[0].Call == "c_2"
	})
	close(out)
	ends(t, h, pawl.Success)
}

func slowWatcher(t *testing.T) {
	bubble(t, func(t *testing.T) {
		model := scripted(t, "replies: [{text: \"step {{turn}}\", calls: [{tool: look, args: {n: \"{{turn}}\"}}]}]\nrepeat: last")
		agent := pawl.Agent{Name: "looker", Model: model, Limits: pawl.Limits{Iterations: 100, Tokens: 100_000_000}, Tools: []pawl.Tool{echo("look", pawl.Read, nil)}}
		j := memory.New()
		h := begin(t, engine.New(j, nil), agent)
		next := uint64(1)
		for e, err := range h.Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Seq == 0 {
				continue
			}
			if e.Seq != next {
				t.Fatalf("entry %d after %d", e.Seq, next-1)
			}
			next++
			time.Sleep(time.Second) // the run is long over
		}
		if n := len(log(t, j)); n < 400 || next != uint64(n+1) {
			t.Errorf("%d of %d entries were seen", next-1, n)
		}
	})
}

// retryCounts: a call that a hook has run again is one call, whose last result
// is what the model, the log and the state have.
func retryCounts(t *testing.T) {
	n := 0
	agent := pawl.Agent{Name: "reader", Model: says(t, do("read", 1), pawl.Say("done")), Tools: []pawl.Tool{
		does("read", pawl.Read, func(context.Context, int) (string, error) { n++; return fmt.Sprintf("result %d", n), nil }),
	}}
	model := agent.Model.(*ear)
	j := memory.New()
	again := directed{"again", func(_ *pawl.State, e pawl.Entry) engine.Direction {
		f, ok := e.Event.(pawl.ToolFinished)
		return engine.Direction{Retry: ok && string(f.Result) != `"result 3"`, Reason: "once more"}
	}}
	res := ends(t, begin(t, engine.New(j, hooks(again)), agent), pawl.Success)
	if r, _ := result(model.last(), "c_1"); r.Text() != "result 3" || n != 3 || res.ToolCalls != 1 {
		t.Errorf("the model sees %q, after %d runs and %d calls", r.Text(), n, res.ToolCalls)
	}
}

// neverContent: what a hook turns down again and again is not taken in the end.
func neverContent(t *testing.T) {
	model := scripted(t, "replies: [{text: bad}]\nrepeat: last")
	j := memory.New()
	strict := directed{"strict", func(_ *pawl.State, e pawl.Entry) engine.Direction {
		_, ok := e.Event.(pawl.ModelReplied)
		return engine.Direction{Retry: ok, Reason: "it is bad"}
	}}
	res := ends(t, begin(t, engine.New(j, hooks(strict)), pawl.Agent{Name: "a", Model: model}), pawl.PlanFailed)
	if res.Answer == "bad" || model.asked() != 6 || !strings.Contains(told(model.last()), "it is bad") {
		t.Errorf("the answer is %q after %d requests; the last says\n%s", res.Answer, model.asked(), told(model.last()))
	}
}

// hookPanics: a broken hook breaks neither the run nor the hooks after it.
func hookPanics(t *testing.T) {
	asked, count := 0, new(tally)
	broken := directed{"broken", func(*pawl.State, pawl.Entry) engine.Direction { panic("broken") }}
	after := directed{"after", func(*pawl.State, pawl.Entry) engine.Direction { asked++; return engine.Direction{} }}
	j := memory.New()
	agent := looker(t, count)
	e := engine.New(j, hooks(broken, after))
	ends(t, begin(t, e, agent), pawl.Success)
	if asked == 0 || count.of("look") != 2 {
		t.Errorf("the other hook was asked %d times; it looked %d times", asked, count.of("look"))
	}
	sound(t, e, agent)
}

// redactKeepsCalls: taking words out of a reply takes nothing else out of it.
func redactKeepsCalls(t *testing.T) {
	count := new(tally)
	reply := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Ada's number is 555-0100."}, call("look", 1)}}
	model := says(t, reply, pawl.Say("Call 555-0100."))
	o := &engine.Options{Filters: []engine.Filter{engine.FilterFunc(func(s string) string { return strings.ReplaceAll(s, "555-0100", "[phone]") })}}
	j := memory.New()
	agent := pawl.Agent{Name: "a", Model: model, Tools: []pawl.Tool{echo("look", pawl.Read, count)}}
	res := ends(t, begin(t, engine.New(j, o), agent), pawl.Success)
	if count.of("look") != 1 || res.Answer != "Call [phone]." || strings.Contains(told(model.last()), "555") {
		t.Errorf("it looked %d times and says %q; it was told\n%s", count.of("look"), res.Answer, told(model.last()))
	}
	for row, err := range j.Read(t.Context(), run, 1) {
		if err != nil || strings.Contains(string(row.Data), "555-0100") {
			t.Errorf("%v %s", err, row.Data)
		}
	}
}
