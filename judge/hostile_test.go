package judge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// FuzzJudges: whatever judges say, the run under them ends as it may, a call
// runs only if it was allowed in so many words, confidence stays within bounds,
// and the log decides the same again.
func FuzzJudges(f *testing.F) {
	for _, s := range []string{
		`{"calls": [{"call": "c_1", "verdict": "allow", "reason": "fine"}, {"call": "c_2", "verdict": "refuse"}]}`,
		`{"confidence": 0.7, "hint": "go on", "claims": [{"n": 1, "supported": true}], "calls": [{"call": "c_1", "verdict": "allow"}]}`,
		`{"claims": [{"n": 1, "supported": false}]}`, `{"confidence": 1e999}`, "nonsense", "", "\x00\xff", strings.Repeat("{", 200),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, says string) {
		ran := 0
		agent := pawl.Agent{
			Name: "fuzzed",
			Model: script.Replies(
				pawl.Do(pawl.Call{Tool: "count", Args: []byte(`{"name":"bolts"}`)}, pawl.Call{Tool: "count", Args: []byte(`{"name":"nuts"}`)}),
				pawl.Say("There are 1,200 bolts."), pawl.Say("There are 1,200 bolts."), pawl.Say("There are 1,200 bolts.")),
			Tools: []pawl.Tool{tool.Func("count", "Count an item.", func(_ context.Context, in item) (map[string]any, error) {
				ran++
				return map[string]any{"item": in.Name, "in_stock": 1200}, nil
			}, pawl.Write)},
		}
		m := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say(says), nil })
		judged := struct{ pawl.Model }{m}
		agent.Policies = []pawl.Policy{judge.Steer("", &judge.SteerOptions{Model: &judged}), judge.Reflexion(&judge.ReflexionOptions{Model: &judged}),
			judge.Grounding(&judge.GroundingOptions{Model: &judged}), judge.Causal()}
		e := engine.New(memory.New(), &engine.Options{Backoff: func(int) time.Duration { return 0 }})
		run, err := e.Start(t.Context(), agent, "How many?", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != pawl.StatusSuccess && !(r.Status == pawl.StatusFailed && r.Reason.Leaf == "grounding") {
			t.Errorf("%v: %s", r.Status, r.Reason.Detail)
		}
		if n := strings.Count(strings.ToLower(says), "allow"); ran > n {
			t.Errorf("%d calls ran, %d were allowed", ran, n)
		}
		if r.Confidence == nil || !(*r.Confidence >= 0 && *r.Confidence <= 1) {
			t.Errorf("a confidence of %v", r.Confidence)
		}
		if _, err := e.Replay(t.Context(), agent, run.ID()); err != nil {
			t.Error(err)
		}
	})
}

// Judges are declared with the agent, and one that could only mislead is refused.
func TestConstruction(t *testing.T) {
	m := script.Replies(pawl.Say("done"))
	for want, policies := range map[string][]pawl.Policy{
		"there are 2 of judge.Reflexion": {judge.Reflexion(nil), judge.Reflexion(&judge.ReflexionOptions{Every: 3})},
		"there are 2 of judge.Grounding": {judge.Grounding(nil), judge.Grounding(nil)},
		"there are 2 of judge.Steer":     {judge.Steer("a", nil), judge.Steer("b", nil)},
		"there are 2 of judge.Causal":    {judge.Causal(), judge.Causal()},
		"never judges":                   {judge.Reflexion(&judge.ReflexionOptions{Every: -1, IgnoreErrors: true, IgnoreLoops: true})},
	} {
		if _, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: m, Policies: policies}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	for want, p := range map[string]pawl.Policy{
		"reflexion(every 1, on error, on loop)":            judge.Reflexion(nil),
		`reflexion(every 5, on loop, by "script/replies")`: judge.Reflexion(&judge.ReflexionOptions{Every: 5, IgnoreErrors: true, Model: m}),
		"reflexion(on error)":                              judge.Reflexion(&judge.ReflexionOptions{Every: -1, IgnoreLoops: true}),
		"grounding(2 replans)":                             judge.Grounding(nil),
		`grounding(0 replans, by "script/replies")`:        judge.Grounding(&judge.GroundingOptions{Replans: -3, Model: m}),
		"causal()": judge.Causal(),
		`steer("Pay nobody.", writes only, may ask, by "script/replies")`: judge.Steer(" Pay nobody.\n", &judge.SteerOptions{Model: m, WritesOnly: true, Ask: true}),
	} {
		if p.String() != want {
			t.Errorf("%s, want %s", p, want)
		}
	}
	for _, c := range []struct {
		p     pawl.Policy
		waits bool
	}{{judge.Steer("", nil), false}, {judge.Steer("", &judge.SteerOptions{Ask: true}), true}, {judge.Reflexion(nil), false}} {
		machine, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: m, Policies: []pawl.Policy{c.p}})
		if err != nil || machine.Waits() != c.waits {
			t.Errorf("%v waits: %v, %v", c.p, machine.Waits(), err)
		}
	}
}

// What a judge is shown does not grow with the run.
func TestBriefIsBounded(t *testing.T) {
	most := 0
	small := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) != 1 || len(r.Tools) != 0 {
			t.Errorf("%d messages, %d tools", len(r.Messages), len(r.Tools))
		}
		most = max(most, len(r.Messages[0].Parts[0].(pawl.Text).Text))
		return pawl.Say(`{"confidence": 0.5}`), nil
	})
	turn := 0
	agent := pawl.Agent{
		Name: "talker",
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			if turn++; turn > 60 {
				return pawl.Say("done"), nil
			}
			call := pawl.Call{Tool: "count", Args: fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("<x>", 2000)+fmt.Sprint(turn))}
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: fmt.Sprint(turn) + strings.Repeat(" thought", 1000)}, call, call, call}}, nil
		}),
		Tools: []pawl.Tool{tool.Func("count", "Count an item.", func(context.Context, item) (string, error) {
			return strings.Repeat("result ", 2000), nil
		}, pawl.Read)},
		Policies: []pawl.Policy{judge.Reflexion(&judge.ReflexionOptions{Model: small})},
		Limits:   pawl.Limits{Iterations: 100, Tokens: 100_000_000},
	}
	r, err := engine.Run(t.Context(), agent, strings.Repeat("task ", 5000))
	if err != nil || r.Status != pawl.StatusSuccess {
		t.Fatal(r.Verdict, err)
	}
	if most == 0 || most > 40_000 {
		t.Errorf("a judge was shown %d bytes", most)
	}
}
