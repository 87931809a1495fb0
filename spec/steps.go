package spec

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/workflow"
)

// flow is the steps of a workflow, or the nodes of a graph.
type flow struct {
	at      *node
	graph   bool
	edges   []workflow.Edge
	edgesAt *node
	steps   []stepSpec
	unread  bool    // they could not be read at all
	asks    bool    // a step asks the workflow's model
	runs    []*Spec // specs of the agents and workflows that are steps
	byID    map[string][]*node
}

// stepSpec creates a step, given a function that creates agents.
type stepSpec func(agent func(*Spec) pawl.Agent) workflow.Step

func stepsOf(specs []stepSpec, agent func(*Spec) pawl.Agent) []workflow.Step {
	if specs == nil {
		return nil
	}
	steps := make([]workflow.Step, len(specs))
	for i, s := range specs {
		steps[i] = s(agent)
	}
	return steps
}

// readFlow reads the steps, and reports whether there should be any.
func (s *Spec) readFlow(f fields, wanted bool) {
	n := f.n.get("steps")
	switch {
	case n == nil && wanted:
		f.problem(f.n.get("loop").place, "loop workflow has no steps (list them under steps)")
	case n != nil && !wanted:
		f.problem(n.place, "steps are for workflows (write loop: workflow)")
	}
	if n == nil || !wanted {
		return
	}
	s.flow = &flow{at: n, byID: map[string][]*node{}}
	s.flow.steps = s.readSteps(f, n, "steps", 1)
}

func (s *Spec) readSteps(f fields, n *node, key string, least int) []stepSpec {
	const example = "write such as [{id: ask, single: {prompt: …}}]"
	switch {
	case n.kind == 0:
		return nil
	case n.kind != list:
		f.problem(n.place, "%s is %v (%s)", key, n.kind, example)
		return nil
	case len(n.items) < least:
		f.problem(n.place, "%s has no steps (%s)", key, example)
		return nil
	}
	steps := []stepSpec{}
	for _, item := range n.items {
		steps = append(steps, s.readStep(f, item))
	}
	return steps
}

func (s *Spec) readStep(f fields, n *node) stepSpec {
	which := -1
	for i, kind := range stepKinds {
		if n.get(kind) == nil {
			continue
		}
		if which >= 0 {
			f.problem(n.get(kind).place, "a step is %s or %s (make two of it)", stepKinds[which], kind)
			return s.unreadStep(f, n)
		}
		which = i
	}
	if which < 0 {
		if s.unknownStep(f, n) {
			return s.readStep(f, n)
		}
		return s.unreadStep(f, n)
	}
	f = f.titled("step", stepTables[which], n)
	id := ""
	f.text("id", &id)
	s.flow.byID[id] = append(s.flow.byID[id], n)
	h := stepHead{id: id, when: f.expression("if")}
	choose(f, "suspend", &h.at)
	f.count("weight", &h.weight, 1, "2")
	switch stepKinds[which] {
	case "single":
		return s.singleStep(f, h)
	case "tool":
		return toolStep(f, h)
	case "agent", "workflow":
		return s.runStep(f, h, stepKinds[which])
	case "switch":
		return s.switchStep(f, h)
	case "parallel":
		return s.parallelStep(f, h)
	case "for_each":
		return s.eachStep(f, h)
	}
	on, most, do := f.expression("while"), 0, s.innerSteps(f, "do", 1)
	f.count("max", &most, 1, "5")
	return func(agent func(*Spec) pawl.Agent) workflow.Step {
		return workflow.While{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight, Cond: on, Max: most, Do: stepsOf(do, agent)}
	}
}

// stepHead has the keys of every step.
type stepHead struct {
	id, when string
	at       workflow.Suspend
	weight   int
}

// unknownStep reports what is missing in a step without an action, and whether it is known which
// was meant.
func (s *Spec) unknownStep(f fields, n *node) bool {
	if n.kind != mapping {
		if n.kind != 0 {
			f.problem(n.place, "a step is %v (write a mapping such as {id: ask, single: {prompt: …}})", n.kind)
		}
		return false
	}
	for i, p := range n.pairs {
		if near := expr.Nearest(p.key, stepKinds); near != "" {
			f.problem(p.place, "unknown key %s in step (did you mean %s?)", p.key, near)
			n.meant(i, near)
			return true
		}
	}
	f.problem(n.place, "the step does nothing (give it one of %s)", strings.Join(stepKinds, ", "))
	return false
}

// unreadStep stands for a step that was reported as unreadable, so that references to it are not
// reported as well.
func (s *Spec) unreadStep(f fields, n *node) stepSpec {
	id := ""
	if n.kind == mapping {
		f = fields{f.document, n, singleStepKeys}
		f.lacks("the step", "id")
		f.text("id", &id)
	}
	s.flow.byID[id] = append(s.flow.byID[id], n)
	if n.get("do") == nil && n.get("cases") == nil && n.get("default") == nil {
		return fillIn(id)
	}
	return func(func(*Spec) pawl.Agent) workflow.Step { // with steps that may be referred to
		return workflow.While{ID: id, Cond: "true", Max: 1, Do: stepsOf([]stepSpec{fillIn("")}, nil)}
	}
}

// fillIn returns a step about which there is nothing to report. Without an id it stands for any
// number of steps.
func fillIn(id string) stepSpec {
	return func(func(*Spec) pawl.Agent) workflow.Step { return workflow.Single{ID: id, Prompt: "-"} }
}

// expression reads an expression, which the workflow parses and checks.
func (f fields) expression(key string) string {
	n := f.n.get(key)
	if n != nil && n.kind == boolean {
		return n.text
	}
	if n = f.value(key, text, `an expression such as steps.ask.output == "yes"`); n == nil {
		return ""
	}
	if strings.TrimSpace(n.text) == "" {
		f.problem(n.place, "%s is blank (write an expression or leave it out)", key)
	}
	return n.text
}

func (s *Spec) singleStep(f fields, h stepHead) stepSpec {
	s.flow.asks = true
	step := workflow.Single{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight, Carry: f.word("carry")}
	f.text("continues", &step.Continues)
	one := f.fields(singleKeys, f.n.get("single"))
	one.text("prompt", &step.Prompt)
	step.Output = one.schema("output")
	return func(func(*Spec) pawl.Agent) workflow.Step { return step }
}

func toolStep(f fields, h stepHead) stepSpec {
	step := workflow.Call{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight}
	f.text("tool", &step.Tool)
	if n := f.value("args", mapping, "a mapping such as {title: \"{{input}}\"}"); n != nil {
		if args, ok := n.decoded().(map[string]any); ok {
			step.Args = args
		}
	}
	return func(func(*Spec) pawl.Agent) workflow.Step { return step }
}

// decoded returns the value as encoding/json does, with its numbers as written.
func (n *node) decoded() (v any) {
	var b bytes.Buffer
	n.json(&b)
	d := json.NewDecoder(&b)
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil // not possible
	}
	return v
}

func (s *Spec) runStep(f fields, h stepHead, kind string) stepSpec {
	file := f.value(kind, text, "a spec, such as ./researcher.yaml")
	var input any
	if n := f.n.get("input"); n != nil && n.kind != 0 {
		switch n.kind {
		case text, mapping, list:
			input = n.decoded()
		default:
			f.problem(n.place, "input is %v (write text, or a mapping)", n.kind)
		}
	}
	after, carry := "", f.word("carry")
	f.text("continues", &after)
	step := workflow.Run{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight, Input: input, Continues: after, Carry: carry}
	var sub *Spec
	if file != nil {
		sub = s.member(f, file)
	}
	if sub == nil {
		return func(func(*Spec) pawl.Agent) workflow.Step { return step }
	}
	if kind == "workflow" && sub.flow == nil {
		f.problem(file.place, "%s is not a workflow (write agent: %s)", file.text, file.text)
	}
	s.flow.runs = append(s.flow.runs, sub)
	s.flow.asks = s.flow.asks || sub.model.name == "" && !sub.asksNobody()
	return func(agent func(*Spec) pawl.Agent) workflow.Step {
		step := step
		step.Agent = agent(sub)
		return step
	}
}

func (s *Spec) innerSteps(f fields, key string, least int) []stepSpec {
	n := f.n.get(key)
	if n == nil {
		return nil
	}
	return s.readSteps(f, n, key, least)
}

func (s *Spec) switchStep(f fields, h stepHead) stepSpec {
	on := f.expression("switch")
	names, cases := []string{}, map[string][]stepSpec{}
	if n := f.value("cases", mapping, "a mapping of what it may be to steps"); n != nil {
		for _, p := range n.pairs {
			names = append(names, p.key)
			cases[p.key] = s.readSteps(f, p.value, "case "+p.key, 0)
		}
	}
	other := s.innerSteps(f, "default", 0)
	return func(agent func(*Spec) pawl.Agent) workflow.Step {
		step := workflow.Switch{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight, On: on, Cases: map[string][]workflow.Step{}, Default: stepsOf(other, agent)}
		for _, name := range names {
			step.Cases[name] = stepsOf(cases[name], agent)
		}
		return step
	}
}

func (s *Spec) parallelStep(f fields, h stepHead) stepSpec {
	var branches [][]stepSpec
	if n := f.value("parallel", list, "a list of branches, each a list of steps"); n != nil {
		for _, b := range n.items {
			branches = append(branches, s.readSteps(f, b, "a branch", 1))
		}
	}
	return func(agent func(*Spec) pawl.Agent) workflow.Step {
		step := workflow.Parallel{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight}
		for _, b := range branches {
			step.Branches = append(step.Branches, stepsOf(b, agent))
		}
		return step
	}
}

func (s *Spec) eachStep(f fields, h stepHead) stepSpec {
	step := workflow.ForEach{ID: h.id, If: h.when, Suspend: h.at, Weight: h.weight, In: f.expression("for_each")}
	f.text("as", &step.As)
	f.count("width", &step.Width, 1, "4")
	step.Continue = f.word("on_error") == "continue"
	do := s.innerSteps(f, "do", 1)
	return func(agent func(*Spec) pawl.Agent) workflow.Step {
		step := step
		step.Do = stepsOf(do, agent)
		return step
	}
}
