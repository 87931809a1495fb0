package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/workflow"
)

type Edge = workflow.Edge

func say(id, text string) Step { return Step{ID: id, Single: &Single{Prompt: "say " + text}} }

// edges reads "a b" as an edge from a to b, and "- b" as one from the beginning.
func edges(j workflow.Join, pairs ...string) (list []Edge) {
	for _, p := range pairs {
		from, to, _ := strings.Cut(p, " ")
		to, when, _ := strings.Cut(to, " if ")
		list = append(list, Edge{From: strings.Trim(from, "-"), To: to, If: when, Join: j})
	}
	return list
}

func join(parts ...[]Edge) (list []Edge) {
	for _, p := range parts {
		list = append(list, p...)
	}
	return list
}

func TestGraph(t *testing.T) {
	all := func(pairs ...string) []Edge { return edges(workflow.JoinAll, pairs...) }
	for _, c := range []struct {
		name   string
		input  string
		nodes  []Step
		edges  []Edge
		want   string
		called string
	}{
		{"one node", "x", []Step{say("a", "{{input}}")}, nil, "success: x", ""},
		{"a diamond", "x",
			[]Step{look("a", "a"), say("b", "{{steps.a.output.word}}b"), look("c", "{{steps.a.output.word}}c"), say("d", "{{steps.b.output}} {{steps.c.output.size}} {{joined[0]}}")},
			all("a b", "a c", "b d", "c d"), "success: ab 2 ab", "look a; look ac"},
		{"the other way", "q",
			[]Step{say("kind", "{{input}}"), look("bug", "bug"), look("question", "question"), say("end", "{{joined}}")},
			all(`kind bug if steps.kind.output == "b"`, `kind question if steps.kind.output == "q"`, "bug end", "question end"),
			`success: [{"list":["question","question!"],"size":8,"word":"question"}]`, "look question"},
		{"nothing leads on", "x", []Step{say("a", "a"), say("b", "b"), say("c", "c")}, all("a b if input == 1", "b c"), "success: a", ""},
		{"a cycle", "x",
			[]Step{look("grow", "{{steps.grow.output.word}}z"), say("tell", "{{steps.grow.rounds}} {{steps.grow.output.word}}")},
			join(edges(workflow.JoinAny, "- grow", "grow grow if steps.grow.output.size < 3"), all("grow tell if steps.grow.output.size >= 3")),
			"success: 3 zzz", "look z; look zz; look zzz"},
		{"a model in a cycle", "x",
			[]Step{say("draft", "{{steps.draft.output}}z"), say("check", "{{joined[0]}}"), say("done", "done {{steps.check.rounds}}")},
			join(edges(workflow.JoinAny, "- draft", `check draft if steps.check.output != "zz"`), all("draft check"), all(`check done if steps.check.output == "zz"`)),
			"success: done 2", ""},
		{"a cycle that goes on", "x",
			[]Step{look("grow", "{{steps.grow.output.word}}z")}, edges(workflow.JoinAny, "- grow", "grow grow"),
			"exhausted: node grow has run 4 times and would run again", "look z; look zz; look zzz; look zzzz"},
		{"branches of a cycle", "x",
			[]Step{look("n", "{{steps.n.output.word}}n"), look("a", "a{{steps.n.output.size}}"), look("b", "b{{steps.n.output.size}}"), say("j", "{{joined[0].word}}")},
			join(edges(workflow.JoinAny, "- n", "j n if steps.n.output.size < 3"), all("n a if steps.n.output.size != 2", "n b if steps.n.output.size == 2"), all("a j", "b j")),
			`success: a3`, "look n; look a1; look nn; look b2; look nnn; look a3"},
		{"any runs each time", "x",
			[]Step{look("a", "a"), look("b", "b"), look("j", "{{joined[0].word}}")},
			join(all("a b"), edges(workflow.JoinAny, "a j", "b j")), `success: {"list":["b","b!"],"size":1,"word":"b"}`, "look a; look b; look a; look b"},
		{"fan out", `["a","b","c"]`,
			[]Step{{ID: "f", ForEach: "input", Do: []Step{look("l", "{{item}}")}}, say("s", "{{joined[0][2].word}}")}, all("f s"), "success: c", ""},
		{"steps within", `x`,
			[]Step{{ID: "w", While: "steps.w.rounds == null || steps.w.rounds < 2", Max: 5, Do: []Step{look("l", "l")}}, say("s", "{{steps.w.output.word}}")}, all("w s"), "success: l", "look l; look l"},
		{"another graph", "x",
			[]Step{{ID: "g", Agent: new(workflow.Graph(pawl.Agent{Name: "inner", Model: (&world{}).model()}, []Step{say("a", "{{input}}a"), say("b", "{{steps.a.output}}b")}, all("a b")...))}, say("s", "{{steps.g.output}}")},
			all("g s"), "success: xab", ""},
		{"a node is left out", "x",
			[]Step{{ID: "a", If: "false", Single: &Single{Prompt: "say a"}}, say("b", "b"), say("j", "{{joined}}"), say("k", "{{joined}}[{{steps.a.output}}]")},
			join(all("a j", "b j"), edges(2, "a k", "j k")), `success: [null,"[null,\"b\"]"][]`, ""},
		{"a node that is left out wins no race", "x",
			[]Step{{ID: "a", If: "false", Single: &Single{Prompt: "say a"}}, say("b", "b"), say("c", "c{{steps.b.output}}"), say("j", "{{joined}}")},
			join(all("b c"), edges(workflow.First, "a j", "c j")), `success: ["cb"]`, ""},
		{"a null wins a race", "x",
			[]Step{{ID: "a", Switch: "true", Cases: map[string][]Step{"true": {}}}, say("b", "b"), say("c", "c{{steps.b.output}}"), say("j", "{{joined}}")},
			join(all("b c"), edges(workflow.First, "a j", "c j")), `success: [null]`, ""},
		{"a node fails", "x", []Step{look("a", "bad"), say("b", "b")}, all("a b"), "failed: step a: no such word: bad", "look bad"},
		{"the first that goes well", "x",
			[]Step{look("a", "bad"), look("b", "b"), look("j", "j{{joined[0].word}}")}, edges(workflow.First, "a j", "b j"), `success: {"list":["jb","jb!"],"size":2,"word":"jb"}`, "look bad; look b; look jb"},
		{"none goes well", "x",
			[]Step{look("a", "bad"), look("b", "b"), say("j", "j")}, edges(2, "a j", "b j"), "failed: step j: join 2, and 1 of the 2 edges into it were taken; a: no such word: bad", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &world{fail: map[string]int{"bad": 1}}
			e := engine.New(memory.New(), nil)
			agent := w.agent()
			agent.Limits.Rounds = 4
			agent = workflow.Graph(agent, c.nodes, c.edges...)
			id, r := start(t, e, agent, c.input)
			got := fmt.Sprintf("%v: %s", r.Status, r.Answer)
			if r.Status != pawl.StatusSuccess {
				got = fmt.Sprintf("%v: %s", r.Status, r.Reason.Detail)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if called := strings.Join(w.calls, "; "); c.called != "" && sorted(strings.Split(called, "; ")) != sorted(strings.Split(c.called, "; ")) {
				t.Errorf("called %s, want %s", called, c.called)
			}
			if _, err := e.Replay(t.Context(), agent, id); err != nil {
				t.Errorf("replay: %v", err)
			}
		})
	}
}

func TestGraphCheck(t *testing.T) {
	w := &world{}
	a, b, c := say("a", "a"), say("b", "b"), say("c", "c")
	for _, k := range []struct {
		name  string
		nodes []Step
		edges []Edge
		want  string
	}{
		{"unknown", []Step{a, b}, edges(0, "a bb"), `edge a -> bb: to: there is no node "bb" (there is a, b)`},
		{"unknown source", []Step{a, b}, edges(0, "x b"), `edge x -> b: from: there is no node "x"`},
		{"twice", []Step{a, b}, edges(0, "a b", "a b"), "edge a -> b: to: there is another edge from here to b"},
		{"two joins", []Step{a, b, c}, join(edges(0, "a c"), edges(workflow.JoinAny, "b c")), "edge b -> c: join: it is any, and another edge into c says all"},
		{"join too many", []Step{a, b, c}, edges(3, "a c", "b c"), "edge a -> c: join: it is 3, and c has 2 edges into it"},
		{"no beginning", []Step{a, b}, edges(workflow.JoinAny, "a b", "b a"), "edges: no node begins: an edge leads into each (add an edge such as {to: a}, without from)"},
		{"unreachable", []Step{a, b, c}, edges(workflow.JoinAny, "b c", "c b"), "step b: id: no edges lead from the beginning to this node"},
		{"deadlock", []Step{a, b}, edges(0, "- a", "a b", "b a"), "edge  -> a: join: it is all, so a waits for b, which waits for a in turn"},
		{"deadlock of two", []Step{a, b, c}, edges(0, "c a", "c b", "a b", "b a"), "so a waits for b, which waits for a in turn"},
		{"waits in the second round", []Step{a, b, c}, join(edges(workflow.JoinAny, "- a", "c a"), edges(0, "a c", "b c")), "only 1 of the 2 edges into c are within its cycle"},
		{"no bound", []Step{a}, edges(workflow.JoinAny, "- a", "a a"), "step a: rounds: the node is in a cycle without a bound (set limits.rounds"},
		{"a condition", []Step{a, b}, []Edge{{From: "a", To: "b", If: "steps.x.output =="}}, "edge a -> b: if: "},
		{"the same id", []Step{a, a}, nil, "step a: id: there is another step of that id"},
		{"no nodes", nil, nil, "there are no nodes"},
		{"a reference", []Step{say("a", "{{steps.z.output}}")}, nil, "step a: prompt: there is no step z here"},
	} {
		_, err := pawl.NewMachine(workflow.Graph(w.agent(), k.nodes, k.edges...))
		if err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: got %v\nwant %s", k.name, err, k.want)
		}
	}
}

// What is left of the limits is divided by weight among the nodes or branches that run at once.
func TestWeight(t *testing.T) {
	heavy := Step{ID: "a", Weight: 3, Single: &Single{Prompt: "say a"}}
	sub := Step{ID: "c", Weight: 2, Agent: &pawl.Agent{Name: "sub", Model: (&world{}).model()}, Input: "say c"}
	for _, c := range []struct {
		name  string
		agent func(pawl.Agent) pawl.Agent
		want  string
	}{
		{"nodes", func(a pawl.Agent) pawl.Agent {
			return workflow.Graph(a, []Step{heavy, say("b", "b"), sub, {ID: "d", Weight: 4, Tool: "look", Args: map[string]any{"word": "d"}}})
		}, "c_1 0.30, c_2 0.10, c_3 0.20, c_4 0.40"},
		{"branches", func(a pawl.Agent) pawl.Agent {
			return New(a, Step{ID: "p", Parallel: [][]Step{{say("x", "x"), heavy}, {say("b", "b")}}})
		}, "c_1 0.75, c_2 0.25"},
		{"alone", func(a pawl.Agent) pawl.Agent { return New(a, sub) }, "c_1 1.00"},
	} {
		j := memory.New()
		agent := (&world{}).agent()
		agent.Limits.Tokens = 400_000
		id, r := start(t, engine.New(j, nil), c.agent(agent), "x")
		if r.Status != pawl.StatusSuccess {
			t.Errorf("%s: %v", c.name, r.Err())
		}
		var got []string
		for e, err := range engine.Entries(t.Context(), j, id, 1) {
			if c, ok := e.Event.(pawl.ChildStarted); ok && err == nil {
				got = append(got, fmt.Sprintf("%s %.2f", c.Call, float64(c.Limits.Tokens)/400_000))
			}
		}
		if slices.Sort(got); strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	_, err := pawl.NewMachine(New((&world{}).agent(), Step{ID: "a", Weight: -1, Single: &Single{Prompt: "say a"}}))
	if err == nil || !strings.Contains(err.Error(), "step a: weight: it is -1") {
		t.Error(err)
	}
}
