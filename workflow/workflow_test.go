package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// The words of the package, which read better bare in tables.
type (
	Step   = workflow.Step
	Single = workflow.Single
)

var New, OneOf = workflow.New, workflow.OneOf

// world is what the tools of the tests act on.
type world struct {
	mu    sync.Mutex
	asked []string
	calls []string
	fail  map[string]int // how often a word fails still
	at    int            // tools running
	most  int            // of them at once
}

func (w *world) agent() pawl.Agent {
	return pawl.Agent{Name: "flow", Model: w.model(), Tools: w.tools()}
}

// model answers what it is told to: a prompt "say X" with X.
func (w *world) model() pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		var texts []string
		for _, m := range r.Messages {
			texts = append(texts, m.Text())
		}
		w.mu.Lock()
		w.asked = append(w.asked, strings.Join(texts, " | "))
		w.mu.Unlock()
		_, said, _ := strings.Cut(r.Messages[0].Text(), "say ")
		if first, then, ok := strings.Cut(said, " then "); ok {
			if said = first; len(r.Messages) > 1 {
				said = then
			}
		}
		return pawl.Say(said), nil
	})
}

type word struct {
	Word string `json:"word"`
}

func (w *world) tools() []pawl.Tool {
	do := func(name string, effect pawl.Effect) pawl.Tool {
		return tool.Func(name, "Take a word.", func(_ context.Context, in word) (map[string]any, error) {
			w.mu.Lock()
			w.calls = append(w.calls, name+" "+in.Word)
			w.at++
			w.most = max(w.most, w.at)
			fails := w.fail[in.Word] > 0
			if fails {
				w.fail[in.Word]--
			}
			w.mu.Unlock()
			time.Sleep(20 * time.Millisecond)
			w.mu.Lock()
			w.at--
			w.mu.Unlock()
			if fails {
				return nil, errors.New("no such word: " + in.Word)
			}
			return map[string]any{"word": in.Word, "size": len(in.Word), "list": []string{in.Word, in.Word + "!"}}, nil
		}, effect)
	}
	return []pawl.Tool{do("look", pawl.Read), do("put", pawl.Write)}
}

func look(id, word string) Step {
	return Step{ID: id, Tool: "look", Args: map[string]any{"word": word}}
}

func TestSteps(t *testing.T) { // Promises: B6.
	for _, c := range []struct {
		name   string
		input  string
		steps  []Step
		want   string // status: answer, or status: detail
		asked  string
		called string
	}{
		{"chain", "cat",
			[]Step{look("a", "{{input}}"), {ID: "b", Single: &Single{Prompt: "say {{steps.a.output.word}} of {{steps.a.output.size}}"}}},
			"success: cat of 3", "say cat of 3", "look cat"},
		{"typed arguments", `{"w": "dog", "n": 12345678901234567890}`,
			[]Step{{ID: "sub", Agent: new(New(pawl.Agent{Name: "sub", Model: (&world{}).model()}, Step{ID: "x", Single: &Single{Prompt: "say {{input.n}} {{input.t}}"}})), Input: map[string]any{"n": "{{input.n}}", "t": "<{{input.n}}>"}},
				{ID: "l", Tool: "look", Args: map[string]any{"word": "{{ steps.sub.output }}"}}},
			`success: {"list":["12345678901234567890 <12345678901234567890>","12345678901234567890 <12345678901234567890>!"],"size":43,"word":"12345678901234567890 <12345678901234567890>"}`, "", ""},
		{"route", "x",
			[]Step{{ID: "kind", Single: &Single{Prompt: "say bug", Output: OneOf("bug", "question")}},
				{ID: "go", Switch: "steps.kind.output", Cases: map[string][]Step{"bug": {look("b", "bug")}, "question": {look("q", "question")}}},
				{ID: "end", Single: &Single{Prompt: "say {{steps.go.output.word}} {{steps.q.output}}."}}},
			"success: bug .", "say bug; say bug .", "look bug"},
		{"route to default", "x",
			[]Step{{ID: "go", Switch: "input", Cases: map[string][]Step{"y": {look("b", "bug")}}, Default: []Step{look("d", "def")}}},
			`success: {"list":["def","def!"],"size":3,"word":"def"}`, "", "look def"},
		{"no case", "x",
			[]Step{{ID: "go", Switch: "input", Cases: map[string][]Step{"y": {look("b", "bug")}, "z": {look("c", "bug")}}}},
			`failed: step go: input is "x", for which there is no case (there are y, z, and no default)`, "", ""},
		{"left out", "x",
			[]Step{{ID: "a", Tool: "look", Args: map[string]any{"word": "a"}, If: "input == \"y\""}, {ID: "b", Single: &Single{Prompt: "say [{{steps.a.output.word}}]"}, If: "steps.a.output == null"}},
			"success: []", "say []", ""},
		{"parallel", "x",
			[]Step{look("a", "aa"), {ID: "p", Parallel: [][]Step{
				{look("b", "{{steps.a.output.word}}b")},
				{{ID: "c", Single: &Single{Prompt: "say 42"}}},
				{look("b2", "c"), {ID: "d", Single: &Single{Prompt: "say {{steps.b2.output.size}} {{input}}"}}},
			}}, {ID: "e", Single: &Single{Prompt: "say {{steps.p.output[0].word}} {{steps.p.output[1]}} {{steps.p.output[2]}}"}}},
			"success: aab 42 1 x", "", ""},
		{"a text stays a text", "x",
			[]Step{{ID: "p", Parallel: [][]Step{{{ID: "c", Single: &Single{Prompt: "say 42"}}}}}},
			`success: ["42"]`, "say 42", ""},
		{"for each", `["a","b","c","d","e"]`,
			[]Step{{ID: "f", ForEach: "input", As: "w", Width: 2, Do: []Step{look("l", "{{w}}"), {ID: "s", Single: &Single{Prompt: "say {{steps.l.output.word}}{{w}}"}}}}},
			`success: ["aa","bb","cc","dd","ee"]`, "", ""},
		{"for none", `[]`,
			[]Step{{ID: "f", ForEach: "input", Do: []Step{look("l", "{{item}}")}}, {ID: "s", Single: &Single{Prompt: "say {{steps.f.output}}"}}},
			`success: []`, "say []", ""},
		{"for none, last", `[]`,
			[]Step{look("a", "a"), {ID: "f", ForEach: "input", Do: []Step{look("l", "{{item}}")}}},
			`success: []`, "", "look a"},
		{"for none, in a case", `[]`,
			[]Step{{ID: "w", Switch: "true", Cases: map[string][]Step{"true": {look("a", "a"), {ID: "f", ForEach: "input", Do: []Step{look("l", "{{item}}")}}}}},
				{ID: "s", Single: &Single{Prompt: "say {{steps.w.output}}"}}},
			`success: []`, "say []", "look a"},
		{"for none, again and again", `[]`,
			[]Step{{ID: "w", While: "steps.w.rounds == null || steps.w.rounds < 3", Max: 5, Do: []Step{
				{ID: "f", ForEach: "input", Do: []Step{look("l", "{{item}}")}},
				{ID: "g", ForEach: "input", Do: []Step{look("m", "{{item}}")}}}},
				{ID: "s", Single: &Single{Prompt: "say {{steps.w.rounds}} {{steps.w.output}}"}}},
			`success: 3 []`, "", ""},
		{"for some, then none", `x`,
			[]Step{{ID: "w", While: "true", Max: 2, Do: []Step{
				look("a", "{{steps.a.output.word}}a"),
				{ID: "n", Switch: "steps.a.output.size", Cases: map[string][]Step{"1": {{ID: "p", Parallel: [][]Step{{look("b", "b")}}}}}, Default: []Step{}},
				{ID: "f", ForEach: "steps.f.output", If: "steps.f.output != null", Do: []Step{look("l", "{{item}}")}}}},
				{ID: "s", Single: &Single{Prompt: "say [{{steps.f.output}}]"}}},
			`success: []`, "", ""},
		{"items left out", `["a","b"]`,
			[]Step{{ID: "f", ForEach: "input", Do: []Step{{ID: "l", If: `item != "a"`, Tool: "look", Args: map[string]any{"word": "{{item}}"}}}},
				{ID: "g", ForEach: "input", Do: []Step{{ID: "w", Switch: "item", Cases: map[string][]Step{"a": {say("s", "{{item}}")}}, Default: []Step{}}}},
				say("e", "{{steps.f.output[1].word}}[{{steps.f.output[0]}}]{{steps.g.output}}{{steps.g.errors}}")},
			`success: b[]["a",null][null,null]`, "", "look b"},
		{"branches left out", `x`,
			[]Step{{ID: "p", Parallel: [][]Step{{{ID: "a", If: "false", Single: &Single{Prompt: "say a"}}}, {say("b", "b")}}}, say("e", "{{steps.p.output}}")},
			`success: [null,"b"]`, "", ""},
		{"for no list", `x`, []Step{{ID: "f", ForEach: "input", Do: []Step{look("l", "{{item}}")}}},
			"failed: step f: for_each: input is no list", "", ""},
		{"an item fails", `["a","bad","c"]`,
			[]Step{{ID: "f", ForEach: "input", Width: 1, Do: []Step{look("l", "{{item}}")}}},
			"failed: step f[2]: flow-f ended as failed: step l: no such word: bad", "", "look a; look bad"},
		{"an item fails and the others go on", `["a","bad","c"]`,
			[]Step{{ID: "f", ForEach: "input", Width: 1, OnError: "continue", Do: []Step{look("l", "{{item}}")}},
				{ID: "s", Single: &Single{Prompt: "say {{steps.f.output[1]}} {{steps.f.output[2].word}} {{steps.f.errors[1]}}"}}},
			"success: c flow-f ended as failed: step l: no such word: bad", "", "look a; look bad; look c"},
		{"while from nothing", "x",
			[]Step{{ID: "w", While: "steps.l.output == null || steps.l.output.size < 4", Max: 10, Do: []Step{look("l", "{{steps.l.output.word}}z")}},
				{ID: "s", Single: &Single{Prompt: "say {{steps.w.rounds}} {{steps.w.output.word}}"}}},
			"success: 4 zzzz", "say 4 zzzz", "look z; look zz; look zzz; look zzzz"},
		{"while, at most", "x",
			[]Step{{ID: "w", While: "true", Max: 2, Do: []Step{look("l", "a"), {ID: "v", While: "true", Max: 2, Do: []Step{look("m", "b")}}}}},
			`success: {"list":["b","b!"],"size":1,"word":"b"}`, "", "look a; look b; look b; look a; look b; look b"},
		{"while nothing", "x",
			[]Step{{ID: "w", While: "false", Max: 2, Do: []Step{look("l", "a")}}, {ID: "s", Single: &Single{Prompt: "say [{{steps.w.output}}]"}}},
			"success: []", "say []", ""},
		{"rounds of none", "x",
			[]Step{{ID: "o", While: "steps.o.rounds == null", Max: 3, Do: []Step{
				say("a", "{{steps.w.rounds}}"),
				{ID: "w", While: "steps.w.rounds != null", Max: 2, Do: []Step{look("l", "a")}},
				{ID: "b", If: "steps.w.rounds == 0", Single: &Single{Prompt: "say b{{steps.w.rounds}}"}}}},
				{ID: "v", If: "false", While: "true", Max: 2, Do: []Step{look("m", "a")}},
				{ID: "p", Parallel: [][]Step{{say("c", "{{steps.w.rounds}}{{steps.v.rounds}}")}}}},
			`success: ["00"]`, "say 0; say b0; say 00", ""},
		{"each within while", `[["a"],[],["c","d"]]`,
			[]Step{{ID: "w", While: "steps.n.output == null || steps.n.output.size < 3", Max: 9, Do: []Step{
				look("n", "{{steps.n.output.word}}x"),
				{ID: "which", Switch: "steps.n.output.size", Cases: map[string][]Step{
					"1": {{ID: "f1", ForEach: "input[0]", Do: []Step{{ID: "s1", Single: &Single{Prompt: "say {{item}}"}}}}},
					"2": {{ID: "f2", ForEach: "input[1]", Do: []Step{{ID: "s2", Single: &Single{Prompt: "say {{item}}"}}}}},
					"3": {{ID: "f3", ForEach: "input[2]", Do: []Step{{ID: "s3", Single: &Single{Prompt: "say {{item}}"}}}}},
				}}}}, {ID: "e", Single: &Single{Prompt: "say {{steps.f1.output}}{{steps.f2.output}}{{steps.f3.output}}{{steps.which.output}}"}}},
			`success: ["a"][]["c","d"]["c","d"]`, "", ""},
		{"branch within branch", `[[1,2],[3]]`,
			[]Step{look("o", "out"), {ID: "f", ForEach: "input", As: "row", Do: []Step{
				{ID: "g", ForEach: "row", As: "cell", Do: []Step{{ID: "s", Single: &Single{Prompt: "say {{cell}}{{steps.o.output.word}}"}}}}}}},
			`success: [["1out","2out"],["3out"]]`, "", ""},
		{"an agent", "cat",
			[]Step{{ID: "r", Agent: &pawl.Agent{Name: "other", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				return pawl.Say("heard " + r.Messages[0].Text()), nil
			})}, Input: "about {{input}}"}, {ID: "s", Single: &Single{Prompt: "say {{steps.r.output}}"}}},
			"success: heard about cat", "say heard about cat", ""},
		{"a reply that fits at the second try", "x",
			[]Step{{ID: "k", Single: &Single{Prompt: "say no idea then bug", Output: OneOf("bug", "question")}}},
			"success: bug", "", ""},
		{"a reply that never fits", "x",
			[]Step{{ID: "k", Single: &Single{Prompt: "say no idea", Output: OneOf("bug", "question")}}},
			"plan_failed: ", "", ""},
		{"a tool that fails", "x", []Step{look("a", "bad"), look("b", "b")}, "failed: step a: no such word: bad", "", "look bad"},
		{"wrong arguments", "x", []Step{{ID: "a", Tool: "look", Args: map[string]any{"word": 1}}},
			"failed: step a: invalid arguments: /word: value must be a string, got the number 1", "", ""},
		{"a hole in a text", `{"a":1}`, []Step{{ID: "a", Single: &Single{Prompt: "say {{input.b}}"}}},
			"failed: step a: prompt: there is no input.b: input is an object without it", "", ""},
		{"what is put in is no template", "{{steps.a.output}}", []Step{{ID: "a", Single: &Single{Prompt: "say {{input}}"}}, {ID: "b", Single: &Single{Prompt: "say {{steps.a.output}}"}}},
			"success: {{steps.a.output}}", "say {{steps.a.output}}; say {{steps.a.output}}", ""},
		{"nothing to ask", "  ", []Step{{ID: "a", Single: &Single{Prompt: "{{input}}"}}},
			"failed: step a: prompt: nothing is asked: the prompt comes to nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &world{fail: map[string]int{"bad": 1}}
			j := memory.New()
			e := engine.New(j, nil)
			agent := New(w.agent(), c.steps...)
			h, err := e.Start(t.Context(), agent, c.input, nil)
			must(t, err)
			r, err := h.Wait(t.Context())
			must(t, err)
			got := fmt.Sprintf("%v: %s", r.Status, r.Answer)
			if r.Status != pawl.StatusSuccess {
				got = fmt.Sprintf("%v: %s", r.Status, r.Reason.Detail)
			}
			if got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := strings.Join(w.asked, "; "); c.asked != "" && got != c.asked {
				t.Errorf("asked %s, want %s", got, c.asked)
			}
			if got := strings.Join(w.calls, "; "); c.called != "" && got != c.called {
				t.Errorf("called %s, want %s", got, c.called)
			}
			if _, err := e.Replay(t.Context(), agent, h.ID()); err != nil {
				t.Errorf("replay: %v", err)
			}
		})
	}
}

// start begins a run of steps and waits for it to end or wait.
func start(t *testing.T, e *engine.Engine, agent pawl.Agent, input string) (string, pawl.Result) {
	t.Helper()
	h, err := e.Start(t.Context(), agent, input, nil)
	must(t, err)
	r, err := h.Wait(t.Context())
	must(t, err)
	return h.ID(), r
}

func resume(t *testing.T, e *engine.Engine, agent pawl.Agent, id string, o *engine.ResumeOptions) pawl.Result {
	t.Helper()
	h, err := e.Resume(t.Context(), agent, id, o)
	must(t, err)
	r, err := h.Wait(t.Context())
	must(t, err)
	if _, err := e.Replay(t.Context(), agent, id); err != nil {
		t.Errorf("replay: %v", err)
	}
	return r
}

// What failed is taken again when the run is resumed, and nothing else is.
func TestResumeFailed(t *testing.T) {
	for _, c := range []struct {
		name, input string
		steps       []Step
		before      string
		after       string
	}{
		{"a tool", "x", []Step{look("a", "a"), look("b", "bad"), look("c", "c")}, "look a; look bad", "look bad; look c"},
		{"an item", `["a","b","bad","d"]`, []Step{{ID: "f", ForEach: "input", Width: 3, Do: []Step{look("l", "{{item}}")}}},
			"look a; look b; look bad", "look bad; look d"},
		{"a branch", "x", []Step{{ID: "p", Parallel: [][]Step{{look("a", "bad")}, {look("b", "b")}}}, look("c", "c")},
			"look b; look bad", "look bad; look c"},
		{"a later round", "x", []Step{{ID: "w", While: "steps.w.rounds == null || steps.w.rounds < 2", Max: 5, Do: []Step{look("a", "a"), look("b", "bad")}}},
			"look a; look bad", "look bad; look a; look bad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{fail: map[string]int{"bad": 1}}
			e := engine.New(memory.New(), nil)
			agent := New(w.agent(), c.steps...)
			id, r := start(t, e, agent, c.input)
			if r.Status != pawl.StatusFailed || sorted(w.calls) != sorted(strings.Split(c.before, "; ")) {
				t.Fatalf("%v after %s", r.Verdict, w.calls)
			}
			w.calls = nil
			r = resume(t, e, agent, id, nil)
			if r.Status != pawl.StatusSuccess || sorted(w.calls) != sorted(strings.Split(c.after, "; ")) {
				t.Errorf("%v (%s) after %s", r.Verdict, r.Reason.Detail, w.calls)
			}
		})
	}
}

func sorted(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, "; ")
}

// As many items as its width says are worked on at once.
func TestWidth(t *testing.T) {
	for _, width := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			w, e := &world{}, engine.New(memory.New(), nil)
			agent := New(w.agent(), Step{ID: "f", ForEach: "input", Width: width, Do: []Step{look("l", "{{item}}")}})
			if _, r := start(t, e, agent, `["a","b","c","d","e","f"]`); r.Status != pawl.StatusSuccess {
				t.Fatal(r.Verdict)
			}
			if w.most != width {
				t.Errorf("%d at once, want %d", w.most, width)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A workflow that meets a ceiling ends there, without a model call that no step
// names, and goes on where it was once the ceiling is raised.
func TestCeiling(t *testing.T) {
	w := &world{}
	agent := New(w.agent(), Step{ID: "a", Single: &Single{Prompt: "say a"}}, look("l", "b"), Step{ID: "c", Single: &Single{Prompt: "say {{steps.a.output}}c"}})
	agent.Limits.Iterations = 1
	e := engine.New(memory.New(), nil)
	id, r := start(t, e, agent, "x")
	if r.Status != pawl.StatusExhausted || r.Usage.ModelCalls != 1 || len(w.calls) != 1 {
		t.Fatalf("%v after %d model calls and %s", r.Verdict, r.Usage.ModelCalls, w.calls)
	}
	r = resume(t, e, agent, id, &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 5}})
	if r.Status != pawl.StatusSuccess || r.Answer != "ac" || r.Usage.ModelCalls != 2 || len(w.calls) != 1 {
		t.Errorf("%v %q after %d model calls and %s", r.Verdict, r.Answer, r.Usage.ModelCalls, w.calls)
	}
}

// A run goes on under the steps it began with, or somebody says otherwise.
func TestChanged(t *testing.T) {
	w := &world{fail: map[string]int{"bad": 9}}
	e := engine.New(memory.New(), nil)
	id, r := start(t, e, New(w.agent(), look("a", "bad"), look("b", "b")), "x")
	if r.Status != pawl.StatusFailed {
		t.Fatal(r.Verdict)
	}
	changed := New(w.agent(), look("a", "good"), look("b", "b"))
	if _, err := e.Resume(t.Context(), changed, id, nil); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("resuming under other steps: %v", err)
	}
	h, err := e.Resume(t.Context(), changed, id, &engine.ResumeOptions{AllowChange: true})
	must(t, err)
	if r, err = h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
		t.Errorf("%v, %v", r.Verdict, err)
	}
	h, err = e.Start(t.Context(), New(w.agent(), look("a", "bad")), "x", nil)
	must(t, err)
	if _, err = h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	h, err = e.Resume(t.Context(), New(w.agent(), look("z", "z")), h.ID(), &engine.ResumeOptions{AllowChange: true})
	must(t, err)
	if r, err = h.Wait(t.Context()); err != nil || r.Status != pawl.StatusFailed || !strings.Contains(r.Reason.Detail, "does not have") {
		t.Errorf("at a step that is gone: %v, %s, %v", r.Verdict, r.Reason.Detail, err)
	}
}

// The whole of what a result says of a run.
func TestResult(t *testing.T) {
	w := &world{}
	agent := New(w.agent(), look("a", "a"), Step{ID: "b", Single: &Single{Prompt: "say {{steps.a.output.word}}"}}, look("c", "c"), Step{ID: "p", Parallel: [][]Step{{{ID: "d", Single: &Single{Prompt: "say d"}}}}})
	_, r := start(t, engine.New(memory.New(), nil), agent, "x")
	var lines []string
	for _, s := range r.Steps {
		line := fmt.Sprintf("%d %q", s.Iteration, s.Thought)
		for _, c := range s.Calls {
			line += " " + c.Call + ":" + c.Tool + ":" + c.Status
		}
		lines = append(lines, line)
	}
	want := []string{`0 "" c_1:look:ok`, `1 "a" c_2:look:ok c_3:p_1:ok`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if r.Iterations != 1 || r.ToolCalls != 3 || r.Usage.ModelCalls != 2 || string(r.Output) != `["d"]` {
		t.Errorf("%d iterations, %d calls, %d model calls, output %s", r.Iterations, r.ToolCalls, r.Usage.ModelCalls, r.Output)
	}
}

// Every mistake is told at once, each with its step and key.
func TestCheck(t *testing.T) {
	w := &world{}
	_, err := pawl.NewMachine(New(w.agent(),
		Step{ID: "a b", Single: &Single{Prompt: ""}},
		Step{ID: "s", Single: &Single{Prompt: "{{steps.later.output}} {{steps.nope.output}} {{other}} {{steps.s}} {{input"}},
		Step{ID: "s2", Single: &Single{Prompt: "{{steps.later.output}} {{steps.nope.output}} {{other}} {{steps.s}}", Output: json.RawMessage(`{"type":"strin"}`)}},
		Step{ID: "later", Tool: "lok", If: "input ="},
		Step{ID: "s", Tool: "look"},
		Step{ID: "w", Switch: "done(1)"},
		Step{ID: "l", While: "true"},
		Step{ID: "n", If: "true"},
		Step{ID: "m", Tool: "look", While: "true"},
		Step{ID: "k", Tool: "look", As: "x"},
		Step{ID: "v", Tool: "look", Suspend: "while"},
		Step{ID: "e", ForEach: "input", Width: 99, As: "steps", OnError: "go"},
		Step{ID: "p", Parallel: [][]Step{}},
		Step{ID: "q", Parallel: [][]Step{{{ID: "i", Single: &Single{Prompt: "{{steps.q.output}}"}}}}},
		Step{ID: "look", Agent: &pawl.Agent{Name: "x"}},
		Step{ID: "z", Single: &Single{Prompt: "{{steps.i.output}}"}},
	))
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, want := range []string{
		`step a b: id: "a b" is not an id`,
		"step a b: prompt: it is empty",
		"step s: prompt: the {{ is not closed",
		"step s2: prompt: steps.later comes later",
		"step s2: prompt: there is no step nope here",
		"step s2: prompt: there is no other",
		"step s2: prompt: steps.s does not refer to a step",
		"step s2: output: ",
		"step later: if: ",
		`step later: tool: there is no tool "lok" (did you mean look?)`,
		"step s: id: there is another step of that id",
		"step w: switch: done is not available here",
		"step w: cases: there are no cases",
		"step n: steps: the step does nothing (give it one of single, tool, agent, switch, parallel, for_each, while)",
		"step m: steps: a step is tool or while (make two of it)",
		"step k: as: it belongs to a step with for_each, and this step has tool",
		`step v: suspend: it is "while" (write before or after)`,
		`step e: on_error: it is "go" (write stop or continue)`,
		"step l: max: it is 0",
		"step l: do: it has no steps",
		"step e: width: it is 99",
		`step e: as: an item may not be called "steps"`,
		"steps: there are no steps",
		"step p: parallel: it has no branches",
		"step i: prompt: there is no step q here",
		"step look: id: there is a tool look",
		"step z: prompt: there is no step i here",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

var must = check.Must

// The declaration of steps is their JSON, in the form of a spec, with names for agents.
func TestDeclared(t *testing.T) {
	w := &world{}
	for want, agent := range map[string]pawl.Agent{
		`[{"id":"a","suspend":"after","single":{"prompt":"say a","output":{"enum":["a"]}}},` +
			`{"id":"s","switch":"input","cases":{"x":[]},"default":[]},` +
			`{"id":"f","if":"true","for_each":"input","as":"w","on_error":"continue","do":[{"id":"l","tool":"look","args":{"word":"{{w}}"}}]},` +
			`{"id":"r","continues":"r","agent":"other"}]`: New(w.agent(),
			Step{ID: "a", Suspend: workflow.After, Single: &Single{Prompt: "say a", Output: OneOf("a")}},
			Step{ID: "s", Switch: "input", Cases: map[string][]Step{"x": {}}, Default: []Step{}},
			Step{ID: "f", If: "true", ForEach: "input", As: "w", OnError: "continue", Do: []Step{look("l", "{{w}}")}},
			Step{ID: "r", Agent: &pawl.Agent{Name: "other"}, Continues: "r"}),
		`{"nodes":[{"id":"l","tool":"look"},{"id":"m","tool":"look"}],"edges":[{"to":"l","join":"any"},{"from":"l","to":"m","if":"true","join":2}]}`: workflow.Graph(w.agent(),
			[]Step{{ID: "l", Tool: "look"}, {ID: "m", Tool: "look"}},
			workflow.Edge{To: "l", Join: workflow.JoinAny}, workflow.Edge{From: "l", To: "m", If: "true", Join: 2}),
	} {
		if got := agent.Loop.(*workflow.Loop).Steps(); string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
