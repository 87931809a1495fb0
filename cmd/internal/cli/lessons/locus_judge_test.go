package lessons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

// judging is a model of another name that always says the same.
func judging(t testing.TB, says string) *ear {
	t.Helper()
	text, _ := json.Marshal(says) // a string always marshals
	return scripted(t, "replies: [{text: none}]\npurposes:\n  judge.reflexion: [{text: "+string(text)+"}]\n  judge.grounding: [{text: "+string(text)+"}]\n  judge.steer: [{text: "+string(text)+"}]")
}

// trying is an agent whose calls of try(n) come to what f says, for turns turns.
func trying(t testing.TB, turns int, args func(turn int) int, f func(n int) (string, error)) pawl.Agent {
	var replies []pawl.Reply
	for turn := range turns {
		replies = append(replies, do("try", args(turn+1)))
	}
	return pawl.Agent{Name: "trier", Model: says(t, append(replies, pawl.Say("done"))...), Tools: []pawl.Tool{
		does("try", pawl.Read, func(_ context.Context, n int) (string, error) { return f(n) }),
	}}
}

func upwards(turn int) int { return turn }

func fine(n int) (string, error) { return fmt.Sprintf("fine, %d", n), nil }

// judged are the turns after which a run was judged.
func judged(t testing.TB, j pawl.Journal) (turns []int) {
	for _, e := range log(t, j) {
		if _, ok := e.Event.(pawl.Reflected); ok {
			turns = append(turns, e.Iteration)
		}
	}
	return turns
}

// cadence: as often as was said, and besides where something went wrong or round
// in circles.
func cadence(t *testing.T) {
	failing := func(n int) (string, error) {
		if n == 3 {
			return "", errors.New("no")
		}
		return fine(n)
	}
	for _, c := range []struct {
		name string
		o    *judge.ReflexionOptions
		args func(int) int
		f    func(int) (string, error)
		want []int
	}{
		{"each", nil, upwards, fine, []int{1, 2, 3, 4, 5, 6}},
		{"third", &judge.ReflexionOptions{Every: 3}, upwards, fine, []int{3, 6}},
		{"third and error", &judge.ReflexionOptions{Every: 3}, func(turn int) int { return []int{1, 2, 4, 5, 3, 6}[turn-1] }, failing, []int{3, 5, 6}},
		{"error only", &judge.ReflexionOptions{Every: -1}, upwards, failing, []int{3}},
		{"loop only", &judge.ReflexionOptions{Every: -1}, func(turn int) int { return []int{1, 2, 1, 4, 5, 6}[turn-1] }, fine, []int{3}},
		{"neither", &judge.ReflexionOptions{Every: 100, IgnoreErrors: true, IgnoreLoops: true}, upwards, failing, nil},
	} {
		agent := trying(t, 6, c.args, c.f)
		agent.Policies = []pawl.Policy{judge.Reflexion(c.o)}
		_, j := inMemory(t, agent, pawl.Success)
		if got := judged(t, j); !slices.Equal(got, c.want) {
			t.Errorf("%s: judged after %v, want %v", c.name, got, c.want)
		}
	}
}

// modelJudges: the model that is to judge is asked, and what it says is in the
// log, told to the agent's model, and known to conditions.
func modelJudges(t *testing.T) {
	m := judging(t, `{"confidence": 0.93, "assessment": "It gets on.", "hint": "Look behind the door."}`)
	agent := trying(t, 3, upwards, fine)
	agent.Policies = []pawl.Policy{judge.Reflexion(&judge.ReflexionOptions{Model: m, Every: 2})}
	agent.Stop = stop.Confidence(0.9)
	res, j := inMemory(t, agent, pawl.Success)
	r := events[pawl.Reflected](t, j)
	if m.asked() != 1 || len(r) != 1 || r[0].Text != "It gets on." || r[0].Confidence != 0.93 || !strings.Contains(r[0].Hint, "Look behind the door.") {
		t.Errorf("asked %d times; the log has %+v", m.asked(), r)
	}
	if res.Iterations != 2 || res.Reason.Leaf != "confidence >= 0.9" || *res.Confidence != 0.93 {
		t.Errorf("it ended after %d turns: %v", res.Iterations, res.Reason)
	}
	agent = trying(t, 3, upwards, fine)
	agent.Policies = []pawl.Policy{judge.Reflexion(&judge.ReflexionOptions{Model: m, Every: 2})}
	inMemory(t, agent, pawl.Success)
	if got := told(agent.Model.(*ear).last()); strings.Count(got, "Look behind the door.") != 1 {
		t.Errorf("the model is told\n%s", got)
	}
}

// confidence: work that goes well makes confident within a few turns, work that
// does not takes it away, and what is recorded is what counts.
func confidence(t *testing.T) {
	agent := trying(t, 19, upwards, fine)
	agent.Policies, agent.Stop = []pawl.Policy{judge.Reflexion(nil)}, stop.Confidence(0.85)
	res, j := inMemory(t, agent, pawl.Success)
	r := events[pawl.Reflected](t, j)
	if res.Iterations > 8 || res.Reason.Leaf != "confidence >= 0.85" || r[len(r)-1].Confidence != *res.Confidence {
		t.Errorf("after %d turns: %v", res.Iterations, res.Reason)
	}
	for i := 1; i < len(r); i++ { // what is gained is what is missing, times one rate
		want := r[i-1].Confidence + (r[0].Confidence-0.5)/0.5*(1-r[i-1].Confidence)
		if d := r[i].Confidence - want; d > 0.001 || d < -0.001 {
			t.Errorf("after %v it is %v, want %v", r[i-1].Confidence, r[i].Confidence, want)
		}
	}
	agent = trying(t, 6, upwards, func(n int) (string, error) {
		if n > 3 {
			return "", errors.New("no")
		}
		return fine(n)
	})
	agent.Limits.ToolErrors = 9
	agent.Policies = []pawl.Policy{judge.Reflexion(nil)}
	_, j = inMemory(t, agent, pawl.Success)
	if r = events[pawl.Reflected](t, j); len(r) != 6 || r[5].Confidence >= r[2].Confidence || r[5].Confidence > 0.3 {
		t.Errorf("three good turns and three bad ones: %+v", r)
	}
}

// loops: going through pages is no loop, doing the same is, also by turns; and
// it is told while there is time to do something else.
func loops(t *testing.T) {
	for _, c := range []struct {
		name string
		args func(int) int
		want bool
	}{
		{"pages", upwards, false},
		{"the same", func(int) int { return 1 }, true},
		{"two by turns", func(turn int) int { return turn % 2 }, true},
	} {
		agent := trying(t, 6, c.args, fine)
		agent.Policies = []pawl.Policy{judge.Reflexion(&judge.ReflexionOptions{Every: -1}), progress.NoProgress(0, 0, "")}
		_, j := inMemory(t, agent, pawl.Success)
		r := events[pawl.Reflected](t, j)
		if (len(r) > 0) != c.want {
			t.Errorf("%s: judged %+v", c.name, r)
			continue
		}
		if at := judged(t, j); c.want && (at[0] > 3 || !strings.Contains(told(agent.Model.(*ear).last()), r[0].Hint) || r[0].Hint == "") {
			t.Errorf("%s: told after turn %d: %q", c.name, at[0], r[0].Hint)
		}
	}
}

// reader answers from one result, as often as it is sent back.
func reader(t testing.TB, found string, answers ...string) pawl.Agent {
	replies := []pawl.Reply{do("read", 1)}
	for _, a := range answers {
		replies = append(replies, pawl.Say(a))
	}
	return pawl.Agent{Name: "reader", Model: says(t, replies...), Tools: []pawl.Tool{
		does("read", pawl.Read, func(context.Context, int) (string, error) { return found, nil }),
	}}
}

// sentBack counts the answers about which the model was told something.
func sentBack(t testing.TB, j pawl.Journal) (n int) {
	for _, g := range events[pawl.Grounded](t, j) {
		if g.Hint != "" {
			n++
		}
	}
	return n
}

const report = "Build 4711 finished on 12 March. 100 tests passed, 3 tests failed. The deployment was not started."

// byValues: without a model, by the values of the answer. What it says about them
// takes a judge.
func byValues(t *testing.T) {
	for _, c := range []struct {
		answer string
		good   bool
	}{
		{"Build 4711 finished on 12 March, and 3 tests failed.", true},
		{"Build 4711 finished on March 12th.", true},
		{"The deployment was not started.", true},
		{"The deployment was started.", true},
		{"1000 tests passed in build 4711.", false},
		{"Build 4712 finished on 12 March.", false},
		{"Build 4711 finished on 13 March.", false},
	} {
		agent := reader(t, report, c.answer, "Build 4711 finished on 12 March.")
		agent.Policies = []pawl.Policy{judge.Grounding(nil)}
		model := agent.Model.(*ear)
		res, j := inMemory(t, agent, pawl.Success)
		if n := sentBack(t, j); (n == 0) != c.good || model.asked() != 2+n || c.good && res.Answer != c.answer {
			t.Errorf("%q was sent back %d times; the model was asked %d times", c.answer, n, model.asked())
		}
	}
}

// longEvidence: the end of a long result counts as much as its beginning.
func longEvidence(t *testing.T) {
	agent := reader(t, strings.Repeat("Nothing of note happened at the station.\n", 100)+report, "Build 4711 finished on 12 March, and 3 tests failed.")
	agent.Policies = []pawl.Policy{judge.Grounding(nil)}
	if _, j := inMemory(t, agent, pawl.Success); sentBack(t, j) != 0 {
		t.Errorf("%+v", events[pawl.Grounded](t, j))
	}
}

// ungrounded: an answer that stays baseless, or says the opposite, is no
// success; what is wrong with it is said to the model and to people. Without a
// judge that takes a strict policy and a value that appears nowhere.
func ungrounded(t *testing.T) {
	const baseless = "Build 4711 was paid for by the city of Trondheim with 9000 crowns."
	for _, c := range []struct {
		answer, told string
		model        *ear
	}{
		{baseless, "9000", nil},
		{baseless, "Trondheim", judging(t, `{"claims":[{"n":1,"supported":false,"why":"nothing says so"}]}`)},
		{"The deployment of build 4711 was started.", "started", judging(t, `{"claims":[{"n":1,"supported":false,"why":"it was not"}]}`)},
	} {
		o := &judge.GroundingOptions{Strict: c.model == nil}
		if c.model != nil {
			o.Model = c.model
		}
		agent := reader(t, report, c.answer, c.answer, c.answer)
		agent.Policies = []pawl.Policy{judge.Grounding(o)}
		model := agent.Model.(*ear)
		res, j := inMemory(t, agent, pawl.Failed)
		if n := sentBack(t, j); n != 3 || !strings.Contains(res.Reason.Detail, c.told) || !strings.Contains(told(model.last()), c.told) {
			t.Errorf("%q: sent back %d times: %v; the model was told\n%s", c.answer, n, res.Reason, told(model.last()))
		}
	}
}

// anyDress: a judge is understood in whatever dress it puts its scores, and a
// claim it says nothing of is not held to be wrong.
func anyDress(t *testing.T) {
	for _, says := range []string{
		`{"claims":[{"n":1,"supported":true,"why":"it says so"}]}`,
		"```json\n{\"claims\": [{\"claim\": \"1\", \"score\": 0.9}]}\n```",
		"**CLAIM 1:** 0.9 - the result says so",
		"CLAIM 1 – 0.9", "CLAIM 1 — supported", "Claim [1]: 0.9", "1. 0.9",
		"I find nothing wrong with it.", "", `{"claims":[]}`, `{"claims":[{"n":7,"supported":false}]}`,
	} {
		agent := reader(t, report, "Build 4711 finished on 12 March, and 3 tests failed.")
		m := judging(t, says)
		if says == "" { // an empty reply is a failed call
			m = scripted(t, "replies: [{text: none}]\npurposes: {judge.grounding: [{error: {class: auth, message: no}}]}")
		}
		agent.Policies = []pawl.Policy{judge.Grounding(&judge.GroundingOptions{Model: m})}
		_, j := inMemory(t, agent, pawl.Success)
		if m.asked() != 1 || sentBack(t, j) != 0 {
			t.Errorf("%q: asked %d times, %+v", says, m.asked(), events[pawl.Grounded](t, j))
		}
	}
}

// graph is what a run recorded of its causes.
func graph(t testing.TB, j pawl.Journal) (g judge.Graph) {
	t.Helper()
	found := events[pawl.CausesFound](t, j)
	if len(found) != 1 {
		t.Fatalf("causes were found %d times", len(found))
	}
	if err := json.Unmarshal(found[0].Graph, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// next is a tool that leads from one node to the next.
func next(ways map[string]string) pawl.Tool {
	return tool.Func("next", "Tells the next node.", func(_ context.Context, a struct {
		Node string `json:"node"`
	}) (string, error) {
		return ways[a.Node], nil
	}, pawl.Read)
}

func visit(nodes ...string) (replies []pawl.Reply) {
	for _, n := range nodes {
		replies = append(replies, pawl.Do(pawl.Call{Tool: "next", Args: []byte(`{"node":"` + n + `"}`)}))
	}
	return append(replies, pawl.Say("done"))
}

// trueCycles: what comes back to itself is a cycle, what only leads there is no
// part of it, and that two calls stand side by side makes neither lead to the other.
func trueCycles(t *testing.T) {
	ways := map[string]string{"start-00": "node-c3", "node-c3": "node-a1", "node-a1": "node-b2", "node-b2": "node-a1"}
	agent := pawl.Agent{Name: "walker", Policies: []pawl.Policy{judge.Causal()}, Tools: []pawl.Tool{next(ways), echo("look", pawl.Read, nil)},
		Model: says(t, visit("start-00", "node-c3", "node-a1", "node-b2", "node-a1")...)}
	_, j := inMemory(t, agent, pawl.Success)
	g := graph(t, j)
	if len(g.Cycles) != 1 || !slices.Equal(g.Cycles[0].Calls, []string{"c_3", "c_4", "c_5"}) {
		t.Errorf("the cycles are %+v", g.Cycles)
	}
	agent.Model = says(t, visit("start-00", "node-c3", "node-a1", "node-b2")...)
	_, j = inMemory(t, agent, pawl.Success)
	if g := graph(t, j); len(g.Cycles) != 0 || len(g.Edges) != 3 {
		t.Errorf("a way without a cycle: %+v", g)
	}
	agent.Model = says(t, do("look", 1), do("look", 2), do("look", 1), pawl.Say("done"))
	_, j = inMemory(t, agent, pawl.Success)
	if g := graph(t, j); len(g.Cycles)+len(g.Edges)+len(g.Contradictions) != 0 {
		t.Errorf("calls that share nothing: %+v", g)
	}
}

// steering: a call runs if the judge says so, and only then.
func steering(t *testing.T) {
	for _, c := range []struct {
		name, says string
		ask        bool
		want       pawl.Status
		told       string
	}{
		{"allow", `{"calls":[{"call":"c_1","verdict":"allow"}]}`, false, pawl.Success, "pay of 1"},
		{"refuse", `{"calls":[{"call":"c_1","verdict":"refuse","reason":"not that much"}]}`, false, pawl.Success, "not that much"},
		{"ask", `{"calls":[{"call":"c_1","verdict":"ask","reason":"who knows"}]}`, true, pawl.WaitingApproval, ""},
		{"nonsense", "PROCEED", false, pawl.Success, "gave no verdict"},
		{"nonsense, with somebody to ask", "PROCEED", true, pawl.WaitingApproval, ""},
		{"of another call", `{"calls":[{"call":"c_9","verdict":"allow"}]}`, false, pawl.Success, "no usable verdict"},
		{"both", `{"calls":[{"call":"c_1","verdict":"allow"},{"call":"c_1","verdict":"refuse"}]}`, false, pawl.Success, "no usable verdict"},
		{"down", "", false, pawl.Success, "gave no verdict"},
	} {
		count, j := new(tally), disk(t)
		model := says(t, do("pay", 1), pawl.Say("done"))
		m := judging(t, c.says)
		if c.says == "" {
			m = scripted(t, "replies: [{text: none}]\npurposes: {judge.steer: [{error: {class: auth, message: no}}]}")
		}
		agent := pawl.Agent{Name: "payer", Model: model, Tools: []pawl.Tool{echo("pay", pawl.Write, count)},
			Policies: []pawl.Policy{judge.Steer("Pay little.", &judge.SteerOptions{Model: m, Ask: c.ask})}}
		ends(t, begin(t, engine.New(j, nil), agent), c.want)
		if want := map[bool]int{true: 1}[c.name == "allow"]; count.of("pay") != want {
			t.Errorf("%s: it paid %d times", c.name, count.of("pay"))
		}
		if r, ok := result(model.last(), "c_1"); c.told != "" && (!ok || !strings.Contains(r.Text(), c.told)) {
			t.Errorf("%s: the model is told %q", c.name, r.Text())
		}
	}
}
