package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/workflow"
)

// readGraph reads the nodes and edges, and reports whether there should be any.
func (s *Spec) readGraph(f fields, wanted bool) {
	nodes, edges := f.n.get("nodes"), f.n.get("edges")
	if !wanted {
		for _, n := range []*node{nodes, edges} {
			if n != nil {
				f.problem(n.place, "nodes and edges are for graphs (write loop: graph)")
			}
		}
		return
	}
	const example = "a mapping such as {ask: {single: {prompt: …}}}"
	if nodes == nil {
		f.problem(f.n.get("loop").place, "loop graph has no nodes (write %s under nodes)", example)
		return
	}
	s.flow = &flow{at: nodes, byID: map[string][]*node{}, agents: map[*pawl.Agent]*Spec{}, graph: true, edgesAt: edges}
	if nodes = f.value("nodes", mapping, example); nodes == nil {
		s.flow.unread = true
		return
	}
	for _, p := range nodes.pairs {
		s.readNode(f, p)
	}
	if edges = f.value("edges", list, "a list such as [{from: ask, to: answer}]"); edges != nil {
		for _, item := range edges.items {
			s.flow.edges = append(s.flow.edges, readEdge(f, item))
		}
	}
}

// readNode reads a node, which is a step with its id before it.
func (s *Spec) readNode(f fields, p pair) {
	if p.value.kind != mapping {
		if p.value.kind != 0 {
			f.problem(p.value.place, "node %s is %v (write a step, such as {single: {prompt: …}})", p.key, p.value.kind)
		}
		s.flow.steps = append(s.flow.steps, stepOf(p.key))
		return
	}
	within := slices.IndexFunc(p.value.pairs, func(p pair) bool { return p.key == "id" })
	if within >= 0 {
		f.problem(p.value.pairs[within].value.place, "the node has an id within (its id is %s, the key before it)", p.key)
	}
	id := &node{kind: text, text: p.key, place: p.place}
	step := *p.value
	step.pairs = append([]pair{{key: "id", place: p.place, value: id}}, p.value.pairs...)
	if within >= 0 {
		step.pairs = slices.Delete(step.pairs, within+1, within+2)
	}
	s.flow.steps = append(s.flow.steps, s.readStep(f, &step))
}

func readEdge(f fields, n *node) (e workflow.Edge) {
	f = f.fields(edgeKeys, n)
	if f.text("from", &e.From); e.From == "" && f.n.get("from") != nil {
		e.From = "?" // a node that is not known, rather than the beginning
	}
	f.text("to", &e.To)
	e.If = f.expression("if")
	at := f.n.get("join")
	if at == nil || at.kind == 0 {
		return e
	}
	switch number, err := strconv.Atoi(at.text); {
	case at.kind == text && at.text == "all":
	case at.kind == text && at.text == "any":
		e.Join = workflow.JoinAny
	case at.kind == text && at.text == "first":
		e.Join = workflow.First
	case err == nil && number > 0:
		e.Join = workflow.Join(number)
	default:
		e.Join = workflow.JoinAny - 1 // not known
		f.problem(at.place, "join is %s (write all, any, first, or how many edges)", strings.TrimSpace(at.text))
	}
	return e
}
