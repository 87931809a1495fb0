package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/jsonschema"
)

// A node is a compiled step.
type node struct {
	Step
	id   string
	in   *block // the block that contains it
	at   int    // its index in the block
	when expr.Node

	suspend Suspend

	prompt *template  // of a Single
	output string     // its schema
	args   *tree      // of a Call; the input of a Run
	tool   string     // the called tool; of a ForEach, called for every item
	on     expr.Node  // the expression of a Switch, a ForEach or a While
	as     string     // of a ForEach
	width  int        //
	more   bool       // continue when an item fails
	max    int        // of a While
	do     *block     // of a While
	cases  []named    // of a Switch
	other  *block     // of a Switch: its default; nil: there is none
	arms   []*subflow // of a Parallel its branches, of a ForEach the one for all items
}

// named is a case of a Switch.
type named struct {
	name string
	do   *block
}

// A block is a list of steps, and the step it belongs to.
type block struct {
	nodes []*node
	of    *node // nil: the workflow itself
	loops int   // of the node of a graph: 1, since the graph may come back to it
}

// subflow is a list of steps that runs as a child run: the tool that starts it,
// and the outer data that its steps refer to.
type subflow struct {
	tool string
	loop *Loop
	tell []string // the outer steps that it refers to
}

var stepID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

// compiler compiles steps to a Loop.
type compiler struct {
	agent pawl.Agent // the agent of the workflow
	self  string     // the node of a graph that the branch is; empty: another branch
	loop  *Loop
	tools []pawl.Tool
	seen  map[string]bool // ids that may be referred to at this point
	later map[string]bool // ids of later steps and of steps in branches
	goOn  map[string]bool // steps whose conversation another goes on with
	text  string          // the template or expression that is compiled
}

// wrong records an error.
func (c *compiler) wrong(id, key string, column int, format string, args ...any) {
	c.loop.errs = append(c.loop.errs, &Error{Step: id, Key: key, Column: column, Text: c.text, Message: fmt.Sprintf(format, args...)})
}

// compile returns the loop of a workflow or branch and its tools. Its steps may
// refer to the outer steps and to the named values. self is the id of the step if it
// is a node of a graph, which may refer to its earlier output.
func compile(agent pawl.Agent, steps []Step, outer, names []string, self string) (*Loop, []pawl.Tool) {
	l := &Loop{nodes: map[string]*node{}, names: names}
	c := &compiler{agent: agent, self: self, loop: l, seen: map[string]bool{}, later: map[string]bool{}, goOn: map[string]bool{}}
	if self != "" {
		if _, loops := steps[0].(While); !loops { // which refers to its own rounds
			l.self = self
		}
	}
	for _, id := range outer {
		c.seen[id] = true
	}
	for _, n := range names {
		if n == "steps" {
			c.wrong("", "as", 0, "an item may not be called steps")
		}
	}
	if len(steps) == 0 {
		c.wrong("", "steps", 0, "there are no steps (a workflow needs at least one)")
	}
	c.collect(steps)
	l.root = c.block(steps, nil)
	c.continues()
	if self != "" {
		l.root.loops = 1
	}
	return l, c.tools
}

// continues reports steps whose conversation cannot go on with that of the step they name: runs
// of another loop are not known here.
func (c *compiler) continues() {
	for _, id := range slices.Sorted(maps.Keys(c.loop.nodes)) {
		run, ok := c.loop.nodes[id].Step.(Run)
		if !ok || run.Continues == "" && run.Carry == "" {
			continue
		}
		if !slices.Contains([]string{"", "all", "summary", "last"}, run.Carry) {
			c.wrong(id, "carry", 0, "%q is nothing to carry (write all, summary or last)", run.Carry)
		}
		if run.Continues == "" {
			c.wrong(id, "carry", 0, "there is no conversation to carry (name under continues the step that has it)")
			continue
		}
		of := c.loop.nodes[run.Continues]
		if of == nil {
			if !c.unnamed() {
				c.wrong(id, "continues", 0, "%s is no step beside this one (name a step that runs an agent or asks the model, or this one)", run.Continues)
			}
		} else if _, runs := of.Step.(Run); !runs {
			c.wrong(id, "continues", 0, "%s has no conversation (name a step that runs an agent or asks the model, or this one)", run.Continues)
		}
		if c.self != "" {
			c.wrong(id, "continues", 0, "a node with if or suspend is a run of its own each time (leave continues out, or put the condition on an edge)")
		}
	}
}

// collect records the ids of the steps that can be referred to, to distinguish
// later steps from unknown ones.
func (c *compiler) collect(steps []Step) {
	for _, s := range steps {
		id := commonOf(s).id
		c.name(id)
		c.link(s)
		switch s := s.(type) {
		case Switch:
			for _, name := range slices.Sorted(maps.Keys(s.Cases)) {
				c.collect(s.Cases[name])
			}
			c.collect(s.Default)
		case While:
			c.collect(s.Do)
		}
	}
}

// link records whose conversation a step goes on with.
func (c *compiler) link(s Step) {
	switch s := s.(type) {
	case Single:
		c.goOn[s.Continues] = true
	case Run:
		c.goOn[s.Continues] = true
	}
}

// asRun returns the run that a Single is whose conversation goes on, and any other step as it is.
func (c *compiler) asRun(s Step) Step {
	one, ok := s.(Single)
	if !ok || one.Continues == "" && one.Carry == "" && !c.goOn[one.ID] {
		return s
	}
	agent := inner(c.agent, one.ID)
	agent.Loop, agent.Output, agent.Tools, agent.Builtins = pawl.SingleCall{}, one.Output, nil, false
	if one.Prompt == "" {
		c.wrong(one.ID, "prompt", 0, "it is empty; say what to ask the model")
	}
	c.loop.asks = true
	return Run{ID: one.ID, If: one.If, Suspend: one.Suspend, Weight: one.Weight, Agent: agent, Input: one.Prompt, Continues: one.Continues, Carry: one.Carry}
}

// name records the id of a step.
func (c *compiler) name(id string) {
	switch {
	case !stepID.MatchString(id):
		c.wrong(id, "id", 0, "%q is not an id (use 1 to 40 letters, digits, - or _)", id)
	case c.later[id] || c.seen[id] && id != c.self:
		c.wrong(id, "id", 0, "there is another step of that id (give each one of its own)")
	}
	c.later[id] = true
}

func (c *compiler) block(steps []Step, of *node) *block {
	b := &block{of: of}
	for _, s := range steps {
		s = c.asRun(s)
		its := commonOf(s)
		n := &node{Step: s, id: its.id, in: b, at: len(b.nodes), suspend: its.suspend}
		c.loop.suspends = c.loop.suspends || n.suspend != 0
		if n.suspend < 0 || n.suspend > After {
			c.wrong(n.id, "suspend", 0, "it is %d (write before or after)", int(n.suspend))
		}
		if its.weight < 0 {
			c.wrong(n.id, "weight", 0, "it is %d (write a whole number from 1)", its.weight)
		}
		if its.when != "" {
			n.when = c.expression(n.id, "if", its.when)
		}
		c.node(n)
		c.seen[n.id] = true
		c.loop.nodes[n.id] = n
		b.nodes = append(b.nodes, n)
	}
	return b
}

func (c *compiler) node(n *node) {
	switch s := n.Step.(type) {
	case Single:
		c.question(n, "prompt", s.Prompt, s.Output)
	case Call:
		n.tool, n.args = s.Tool, c.tree(n.id, "args", object(s.Args))
		c.called(n.id, s.Tool)
	case Run:
		n.tool = n.id
		input := s.Input
		if input == nil {
			input = "{{input}}"
		}
		n.args = c.tree(n.id, "input", input)
		agent := s.Agent
		if agent.Model == nil {
			agent.Model, c.loop.asks = c.agent.Model, true
		}
		c.add(n.id, &asked{agent: agent, name: n.tool, effect: most(s.Agent), weight: s.Weight, follows: s.Continues, carry: s.Carry})
	case Switch:
		c.choice(n, s)
	case Parallel:
		if len(s.Branches) == 0 {
			c.wrong(n.id, "parallel", 0, "it has no branches")
		}
		for i, steps := range s.Branches {
			n.arms = append(n.arms, c.subflow(n.id, n.id+"_"+strconv.Itoa(i+1), steps, nil, ""))
		}
	case ForEach:
		c.each(n, s)
	case While:
		n.max = s.Max
		c.within(n.id, "max", n.max, MaxRounds)
		n.do = &block{of: n}
		inside := &compiler{loop: &Loop{}, seen: map[string]bool{}, later: map[string]bool{}, goOn: map[string]bool{}}
		inside.collect(s.Do) // problems were reported once already
		maps.Copy(c.seen, inside.later)
		c.seen[n.id] = true // its own condition may use its rounds
		n.on = c.expression(n.id, "while", s.Cond)
		n.do = c.block(s.Do, n)
		if len(s.Do) == 0 {
			c.wrong(n.id, "do", 0, "it has no steps")
		}
	default:
		c.wrong(n.id, "steps", 0, "%T is no step", n.Step)
	}
}

// question compiles what a step asks the model, and the schema of the reply.
func (c *compiler) question(n *node, key, prompt string, output json.RawMessage) {
	c.loop.asks = true
	if n.prompt = c.template(n.id, key, prompt); prompt == "" {
		c.wrong(n.id, key, 0, "it is empty; say what to ask the model")
	}
	if output != nil {
		n.output = string(output)
		if _, err := jsonschema.Compile(output, nil); err != nil {
			c.wrong(n.id, "output", 0, "%v", err)
		}
	}
}

// within reports an error for a number that is not from 1 to most.
func (c *compiler) within(id, key string, n, most int) {
	if n < 1 || n > most {
		c.wrong(id, key, 0, "it is %d (write a number from 1 to %d)", n, most)
	}
}

// called reports an error if no such tool exists.
func (c *compiler) called(id, tool string) {
	var names []string
	for _, t := range c.agent.Tools {
		if t != nil {
			names = append(names, t.Info().Name)
		}
	}
	if c.agent.Builtins {
		names = append(names, "__complete__", "__pause_for_human__", "__store_memory__", "__retrieve_memory__", "__log_progress__")
	}
	if !slices.Contains(names, tool) {
		c.wrong(id, "tool", 0, "there is no tool %q%s", tool, expr.DidYouMean(tool, names))
	}
}

func (c *compiler) choice(n *node, s Switch) {
	n.on = c.expression(n.id, "switch", s.On)
	if len(s.Cases) == 0 {
		c.wrong(n.id, "cases", 0, "there are no cases (name each value with its steps)")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Cases)) {
		n.cases = append(n.cases, named{name, c.block(s.Cases[name], n)})
	}
	if s.Default != nil {
		n.other = c.block(s.Default, n)
	}
}

func (c *compiler) each(n *node, s ForEach) {
	c.loop.eaches = append(c.loop.eaches, n.id)
	n.on = c.expression(n.id, "for_each", s.In)
	n.width, n.as, n.more = cmp.Or(s.Width, 4), cmp.Or(s.As, "item"), s.Continue
	c.within(n.id, "width", n.width, MaxWidth)
	if n.as == "input" || n.as == "steps" || !stepID.MatchString(n.as) {
		c.wrong(n.id, "as", 0, "an item may not be called %q", n.as)
	}
	n.arms = []*subflow{c.subflow(n.id, n.id, s.Do, []string{n.as}, "")}
}

// subflow compiles a branch, whose steps run as a child run.
func (c *compiler) subflow(id, tool string, steps []Step, names []string, self string) *subflow {
	agent := c.agent
	outer := slices.Sorted(maps.Keys(c.seen))
	loop, tools := compile(agent, steps, outer, append(slices.Clone(c.loop.names), names...), self)
	loop.branch = true
	c.loop.errs = append(c.loop.errs, loop.errs...)
	loop.errs = nil // the workflow reports them once
	c.loop.asks = c.loop.asks || loop.asks
	f := &subflow{tool: tool, loop: loop}
	for _, ref := range loop.refs {
		if _, own := loop.nodes[ref]; (!own || ref == loop.self) && !slices.Contains(f.tell, ref) {
			f.tell = append(f.tell, ref)
		}
	}
	c.loop.refs = append(c.loop.refs, f.tell...)
	for _, root := range loop.roots {
		if !slices.Contains(names, root) { // its own item
			c.loop.roots = append(c.loop.roots, root)
		}
	}
	weight := 0
	for _, s := range steps {
		weight = max(weight, commonOf(s).weight)
	}
	c.add(id, &asked{agent: branchOf(agent, tool, loop, tools), name: tool, effect: pawl.Read, whole: true, weight: weight})
	return f
}

// add adds a tool whose calls are child runs.
func (c *compiler) add(id string, t *asked) {
	for _, other := range c.agent.Tools {
		if other != nil && other.Info().Name == t.name {
			c.wrong(id, "id", 0, "there is a tool %s, and what the step runs is known by its id (call the step otherwise)", t.name)
			return
		}
	}
	for _, other := range c.tools {
		if other.Info().Name == t.name {
			c.wrong(id, "id", 0, "another step runs something called %s, too (call the step otherwise)", t.name)
			return
		}
	}
	c.tools = append(c.tools, t)
}

func (c *compiler) template(id, key, text string) *template {
	c.text = text
	defer func() { c.text = "" }()
	t, err := parseTemplate(text)
	if err != nil {
		c.wrong(id, key, err.Column, "%s", err.Message)
		return &template{texts: []string{""}}
	}
	c.known(id, key, t.paths)
	return t
}

func (c *compiler) tree(id, key string, value any) *tree {
	raw, err := json.Marshal(value)
	var v any
	if err == nil {
		err = decode(raw, &v)
	}
	if err != nil {
		c.wrong(id, key, 0, "it is not JSON: %v", err)
		return &tree{}
	}
	t, wrong := plant(v)
	if wrong != nil {
		c.wrong(id, key, 0, "%s", wrong.Message)
		return &tree{}
	}
	refs := t.refs()
	c.known(id, key, refs)
	return t
}

func (c *compiler) expression(id, key, source string) expr.Node {
	c.text = source
	defer func() { c.text = "" }()
	if source == "" {
		c.wrong(id, key, 0, "it is empty; write an expression such as steps.ID.output == \"yes\"")
		return &expr.Null{}
	}
	n, err := parse(source)
	if err != nil {
		c.wrong(id, key, err.Column, "%s", err.Message)
		return &expr.Null{}
	}
	var paths []*expr.Path
	for n := range expr.All(n) {
		switch n := n.(type) {
		case *expr.Path:
			paths = append(paths, n)
		case *expr.Call:
			c.wrong(id, key, n.Column(), "%s is not available here (compare input and the outputs of steps)", n.Func)
		}
	}
	c.known(id, key, paths)
	return n
}

// known reports an error for references to unknown or later steps.
func (c *compiler) known(id, key string, paths []*expr.Path) {
	roots := append([]string{"input", "steps"}, c.loop.names...)
	for _, p := range paths {
		if !slices.Contains(roots, p.Root) {
			c.wrong(id, key, p.Column(), "there is no %s%s", p.Root, expr.DidYouMean(p.Root, roots))
			continue
		}
		if p.Root != "steps" {
			c.loop.roots = append(c.loop.roots, p.Root)
			continue
		}
		if len(p.Keys) < 2 || p.Keys[0].IsIndex || p.Keys[1].IsIndex || !slices.Contains(fields, p.Keys[1].Name) {
			c.wrong(id, key, p.Column(), "%s does not refer to a step (write steps.ID.output)", p)
			continue
		}
		step := p.Keys[0].Name
		switch {
		case c.seen[step]:
			c.loop.refs = append(c.loop.refs, step)
		case c.later[step]:
			c.wrong(id, key, p.Column(), "steps.%s comes later (refer to steps before this one)", step)
		case !c.unnamed():
			c.wrong(id, key, p.Column(), "there is no step %s here%s", step, expr.DidYouMean(step, slices.Collect(maps.Keys(c.seen))))
		}
	}
}

// unnamed reports whether a step has no id: an unknown id may be the one that it should have.
func (c *compiler) unnamed() bool { return c.seen[""] || c.later[""] }

// object returns an empty object for nil arguments.
func object(args map[string]any) map[string]any {
	if args == nil {
		return map[string]any{}
	}
	return args
}
