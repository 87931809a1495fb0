package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
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
	steps   []workflow.Step // with empty agents
	unread  bool            // they could not be read at all
	asks    bool            // a step asks the workflow's model
	runs    []*Spec         // specs of the agents and workflows that are steps
	agents  map[*pawl.Agent]*Spec
	byID    map[string][]*node
}

// running returns a copy of the steps with the agents that they run, which agent creates.
func (w *flow) running(steps []workflow.Step, agent func(*Spec) pawl.Agent) []workflow.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		step := &steps[i]
		if sub := w.agents[step.Agent]; sub != nil {
			step.Agent = new(agent(sub))
		}
		step.Do, step.Default = w.running(step.Do, agent), w.running(step.Default, agent)
		step.Cases, step.Parallel = maps.Clone(step.Cases), slices.Clone(step.Parallel)
		for _, name := range slices.Sorted(maps.Keys(step.Cases)) {
			step.Cases[name] = w.running(step.Cases[name], agent)
		}
		for k, branch := range step.Parallel {
			step.Parallel[k] = w.running(branch, agent)
		}
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
	s.flow = &flow{at: n, byID: map[string][]*node{}, agents: map[*pawl.Agent]*Spec{}}
	s.flow.steps = s.readSteps(f, n, "steps", 1)
}

// readSteps reads a list of steps; nil: there is none.
func (s *Spec) readSteps(f fields, n *node, key string, least int) []workflow.Step {
	const example = "write such as [{id: ask, single: {prompt: …}}]"
	switch {
	case n == nil || n.kind == 0:
		return nil
	case n.kind != list:
		f.problem(n.place, "%s is %v (%s)", key, n.kind, example)
		return nil
	case len(n.items) < least:
		f.problem(n.place, "%s has no steps (%s)", key, example)
		return nil
	}
	steps := []workflow.Step{}
	for _, item := range n.items {
		steps = append(steps, s.readStep(f, item))
	}
	return steps
}

func (s *Spec) readStep(f fields, n *node) workflow.Step {
	kind := ""
	for _, k := range stepKinds {
		switch {
		case n.get(k) == nil:
		case kind != "":
			f.problem(n.get(k).place, "a step is %s or %s (make two of it)", kind, k)
			return s.unreadStep(f, n)
		default:
			kind = k
		}
	}
	if kind == "" {
		if s.unknownStep(f, n) {
			return s.readStep(f, n)
		}
		return s.unreadStep(f, n)
	}
	table := stepTable(kind)
	f = f.titled("step", table, n)
	f.n = n.only(table.names())
	step := workflow.Step{If: f.expression("if"), Suspend: workflow.Suspend(f.word("suspend")), Carry: f.word("carry"), OnError: f.word("on_error")}
	for key, to := range map[string]*string{"id": &step.ID, "tool": &step.Tool, "continues": &step.Continues, "as": &step.As} {
		f.text(key, to)
	}
	s.flow.byID[step.ID] = append(s.flow.byID[step.ID], n)
	f.count("weight", &step.Weight, 1, "2")
	f.count("width", &step.Width, 1, "4")
	f.count("max", &step.Max, 1, "5")
	switch kind {
	case "single":
		s.flow.asks = true
		one := f.fields(singleKeys, f.n.get("single"))
		step.Single = &workflow.Single{Output: one.schema("output")}
		one.text("prompt", &step.Single.Prompt)
	case "tool":
		if n := f.value("args", mapping, "a mapping such as {title: \"{{input}}\"}"); n != nil {
			step.Args, _ = n.decoded().(map[string]any)
		}
	case "agent", "workflow":
		step.Agent, step.Input = s.stepAgent(f, kind), f.stepInput()
	case "switch":
		step.Switch = cmp.Or(f.expression("switch"), "input")
		step.Cases = s.stepCases(f)
		step.Default = s.readSteps(f, f.n.get("default"), "default", 0)
	case "parallel":
		step.Parallel = [][]workflow.Step{}
		if n := f.value("parallel", list, "a list of branches, each a list of steps"); n != nil {
			for _, b := range n.items {
				step.Parallel = append(step.Parallel, s.readSteps(f, b, "a branch", 1))
			}
		}
	case "for_each": // what is wrong is reported, and stands for nothing else
		step.ForEach = cmp.Or(f.expression("for_each"), "input")
	case "while":
		step.While = cmp.Or(f.expression("while"), "true")
	}
	step.Do = s.readSteps(f, f.n.get("do"), "do", 1)
	return step
}

// only returns the mapping without other keys.
func (n *node) only(keys []string) *node {
	c := *n
	c.pairs = slices.DeleteFunc(slices.Clone(n.pairs), func(p pair) bool { return !slices.Contains(keys, p.key) })
	return &c
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
func (s *Spec) unreadStep(f fields, n *node) workflow.Step {
	id := ""
	if n.kind == mapping {
		f = fields{f.document, n, stepKeys}
		f.lacks("the step", "id")
		f.text("id", &id)
	}
	s.flow.byID[id] = append(s.flow.byID[id], n)
	if n.get("do") == nil && n.get("cases") == nil && n.get("default") == nil {
		return stepOf(id)
	}
	return workflow.Step{ID: id, While: "true", Max: 1, Do: []workflow.Step{stepOf("")}} // with steps that may be referred to
}

// stepOf returns a step about which there is nothing to report. Without an id it stands for any
// number of steps.
func stepOf(id string) workflow.Step {
	return workflow.Step{ID: id, Single: &workflow.Single{Prompt: "-"}}
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

// stepInput reads the input of a child run.
func (f fields) stepInput() any {
	n := f.n.get("input")
	switch {
	case n == nil || n.kind == 0:
	case n.kind == text || n.kind == mapping || n.kind == list:
		return n.decoded()
	default:
		f.problem(n.place, "input is %v (write text, or a mapping)", n.kind)
	}
	return nil
}

// stepAgent reads the spec that a step runs. The agent it returns stands for it until the steps
// are assembled.
func (s *Spec) stepAgent(f fields, kind string) *pawl.Agent {
	agent := &pawl.Agent{}
	file := f.value(kind, text, "a spec, such as ./researcher.yaml")
	if file == nil {
		return agent
	}
	sub := s.member(f, file)
	if sub == nil {
		return agent
	}
	if kind == "workflow" && sub.flow == nil {
		f.problem(file.place, "%s is not a workflow (write agent: %s)", file.text, file.text)
	}
	s.flow.runs, s.flow.agents[agent] = append(s.flow.runs, sub), sub
	s.flow.asks = s.flow.asks || sub.model.name == "" && !sub.asksNobody()
	return agent
}

// stepCases reads the cases of a switch.
func (s *Spec) stepCases(f fields) map[string][]workflow.Step {
	cases := map[string][]workflow.Step{}
	if n := f.value("cases", mapping, "a mapping of what it may be to steps"); n != nil {
		for _, p := range n.pairs {
			cases[p.key] = s.readSteps(f, p.value, "case "+p.key, 0)
		}
	}
	return cases
}
