package spec

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/workflow"
)

// flow is the steps of a workflow, or the nodes of a graph.
type flow struct {
	at   *node           // the steps, or the nodes by their ids
	asks bool            // a step asks the workflow's model
	runs map[*node]*Spec // specs of the agents and workflows that are steps, by where they are named
}

// readFlow reads the steps or nodes, if there should be any.
func (s *Spec) readFlow(kind string) {
	loops := map[string]string{"steps": "workflow", "nodes": "graph", "edges": "graph"}
	for key, loop := range loops {
		if n := s.n.get(key); n != nil && kind != loop {
			s.doc.problem(n, "%s are for loop %s (write loop: %[2]s)", key, loop)
		}
	}
	for _, key := range []string{"steps", "nodes"} {
		switch n := s.n.get(key); {
		case kind != loops[key]:
		case n == nil:
			s.doc.problem(s.at("loop"), "loop %s has no %s (write %[2]s: %s)", kind, key, sample(definitions()["spec"].Properties[key]))
		default:
			s.flow = &flow{at: n, runs: map[*node]*Spec{}}
		}
	}
	if s.flow == nil {
		return
	}
	for _, p := range s.flow.at.pairs {
		if within := p.value.get("id"); within != nil {
			s.doc.problem(within, "the node has an id within (its id is %s, the key before it)", p.key.text)
		}
	}
	s.flow.steps(s.readStep)
	others := slices.Concat(s.n.all("edges.*"), s.n.all("edges"), s.n.all("limits"), []*node{s.flow.at})
	s.noStep = s.noStep || slices.ContainsFunc(others, (*node).refused)
}

// steps returns the steps with empty agents, after visiting each.
func (w *flow) steps(visit func(*workflow.Step, *node)) (all []workflow.Step) {
	if w.at.kind == 0 {
		return nil
	}
	at := w.at.items
	if at != nil {
		all = decoded[[]workflow.Step](w.at)
	}
	for _, p := range w.at.pairs {
		step := decoded[workflow.Step](p.value)
		step.ID = p.key.text
		all, at = append(all, step), append(at, p.value)
	}
	visitSteps(all, at, visit)
	return all
}

func visitSteps(steps []workflow.Step, at []*node, visit func(*workflow.Step, *node)) {
	for i := range steps {
		step, n := &steps[i], at[i]
		visit(step, n)
		visitSteps(step.Do, n.get("do").list(), visit)
		visitSteps(step.Default, n.get("default").list(), visit)
		for _, name := range slices.Sorted(maps.Keys(step.Cases)) {
			visitSteps(step.Cases[name], n.get("cases").get(name).list(), visit)
		}
		for k, branch := range step.Parallel {
			visitSteps(branch, n.get("parallel").items[k].list(), visit)
		}
	}
}

// deeds are the keys that say what a step does, and which steps there are in it.
var deeds = []string{"single", "tool", "agent", "workflow", "switch", "parallel", "for_each", "while", "do", "cases", "default"}

// readStep reads the spec of the agent that a step runs.
func (s *Spec) readStep(step *workflow.Step, n *node) {
	s.flow.asks = s.flow.asks || step.Single != nil
	s.noStep = s.noStep || n.kind == 0 || step.ID == "" || slices.ContainsFunc(n.pairs, func(p pair) bool {
		return (p.value.kind == 0 || p.value.wrong && p.value.kind == list) && slices.Contains(deeds, p.key.text)
	})
	for _, key := range []string{"agent", "workflow"} {
		at := n.get(key)
		if at == nil || at.kind != text {
			continue
		}
		if sub := s.member(at); sub != nil {
			s.onlyWorkflow(sub, key, at)
			s.flow.runs[at] = sub
			s.flow.asks = s.flow.asks || sub.Model.Name == "" && !sub.asksNobody()
		}
	}
}

// runs makes the agent a workflow, if the spec is one, and reports the problems
// of its steps at their places.
func (s *Spec) runs(d *document, r *Registry, a *pawl.Agent) {
	if s.flow == nil || s.flow.at.kind == 0 {
		return
	}
	steps := s.flow.steps(func(step *workflow.Step, n *node) {
		file := cmp.Or(n.get("agent"), n.get("workflow"))
		if file == nil {
			return
		}
		step.Agent = new(pawl.Agent) // stands for one that cannot be read
		if sub := s.flow.runs[file]; sub != nil {
			agent, problems := sub.assemble(r, a.Model, nil)
			*step.Agent, d.problems = agent, append(d.problems, problems...)
		}
	})
	if s.flow.at.kind == mapping {
		*a = workflow.Graph(*a, steps, s.Edges...)
	} else {
		*a = workflow.New(*a, steps...)
	}
	for _, err := range parts(a.Loop.(*workflow.Loop).Check(*a)) {
		if err == nil {
			continue
		}
		e, ok := errors.AsType[*workflow.Error](err)
		if !ok {
			d.problem(s.at("strategy"), "%v", err)
			continue
		}
		step := s.at(e.Path...)
		at := cmp.Or(step.get(e.Key), step.get("single").get(e.Key), step)
		if len(e.Path) == 0 {
			step = s.flow.at
			at = cmp.Or(s.n.get(e.Key), step)
		}
		switch { // what follows from a problem that was reported
		case step.kind == 0 || at.kind == 0 || step.wrong && at == step && e.Key != "rounds":
			continue
		case e.Follows && (s.noStep || e.Key == "tool" && s.noTool):
			continue
		}
		for _, p := range s.flow.at.pairs {
			if e.Key == "id" && p.value == step { // the id of a node is its key
				at = p.key
			}
		}
		if e.Column > 0 {
			if p, ok := at.src.within(at, e.Column); ok {
				at = &node{src: at.src, place: p}
			}
		}
		d.problem(at, "%s: %s", e.Key, e.Message)
	}
}
