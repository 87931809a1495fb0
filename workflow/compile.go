package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// A node is a compiled step.
type node struct {
	Step
	spot
	does string // the key of its action; of a node of a graph that runs as a branch: empty
	in   *block // the block that contains it
	at   int    // its index in the block
	when expr.Node

	args     any        // of a call, or the input of Agent: a JSON value with references
	attaches bool       // they refer to the input
	refs     []string   // the steps that they refer to
	input    string     // the key of that input
	on       expr.Node  // the expression of Switch, ForEach or While
	blocks   []*block   // of Switch, the cases by name and then the default; of While, its steps
	cases    []string   // of Switch: their names
	arms     []*subflow // of Parallel its branches, of ForEach the one for all items
}

// A spot is the name of a step or an edge, and its path in the declared steps.
type spot struct {
	name string
	path []string
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
}

func newCompiler(agent pawl.Agent, l *Loop) *compiler {
	return &compiler{agent: agent, loop: l, seen: map[string]bool{}, later: map[string]bool{}, goOn: map[string]bool{}}
}

// wrong records an error.
func (c *compiler) wrong(at spot, key string, column int, format string, args ...any) {
	c.loop.errs = append(c.loop.errs, &Error{Step: at.name, Path: at.path, Key: key, Column: column, Message: fmt.Sprintf(format, args...)})
}

// follows records an error that may follow from another one.
func (c *compiler) follows(at spot, key string, column int, format string, args ...any) {
	c.wrong(at, key, column, format, args...)
	c.loop.errs[len(c.loop.errs)-1].(*Error).Follows = true
}

// compile returns the loop of a workflow or branch and its tools. Its steps may
// refer to the outer steps and to the named values. self is the id of the step if it
// is a node of a graph, which may refer to its earlier output.
func compile(agent pawl.Agent, steps []Step, outer, names, path []string, self string) (*Loop, []pawl.Tool) {
	l := &Loop{nodes: map[string]*node{}, names: names}
	c := newCompiler(agent, l)
	c.self = self
	if self != "" && steps[0].While == "" { // which refers to its own rounds
		l.self = self
	}
	for _, id := range outer {
		c.seen[id] = true
	}
	if slices.Contains(names, "steps") {
		c.wrong(spot{}, "as", 0, "an item may not be called steps")
	}
	if len(steps) == 0 {
		c.follows(spot{}, "steps", 0, "there are no steps (a workflow needs at least one)")
	}
	c.collect(referable(steps, path, self))
	l.root = c.block(steps, nil, path)
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
		run := c.loop.nodes[id]
		wrong := func(key, format string, args ...any) { c.follows(run.spot, key, 0, format, args...) }
		if run.Continues == "" && run.Carry == "" {
			continue
		}
		if run.Continues == "" {
			wrong("carry", "there is no conversation to carry (name under continues the step that has it)")
			continue
		}
		of := c.loop.nodes[run.Continues]
		if of == nil {
			wrong("continues", "%s is no step beside this one (name a step that runs an agent or asks the model, or this one)", run.Continues)
		} else if of.Agent == nil {
			wrong("continues", "%s has no conversation (name a step that runs an agent or asks the model, or this one)", run.Continues)
		}
		if c.self != "" {
			wrong("continues", "a node with if or suspend is a run of its own each time (leave continues out, or put the condition on an edge)")
		}
	}
}

// referable returns the steps of a list that can be referred to beside it: those and the steps
// within a Switch or a While.
func referable(steps []Step, path []string, self string) (all []*node) {
	for i, s := range steps {
		n := &node{Step: s, spot: spotOf(s.ID, path, i, self)}
		all = append(all, n)
		for _, name := range slices.Sorted(maps.Keys(s.Cases)) {
			all = append(all, referable(s.Cases[name], n.under("cases", name), "")...)
		}
		all = append(all, referable(s.Default, n.under("default"), "")...)
		if s.While != "" {
			all = append(all, referable(s.Do, n.under("do"), "")...)
		}
	}
	return all
}

// spotOf returns the spot of the step with an index in a list. self is its id if it is a node.
func spotOf(id string, path []string, i int, self string) spot {
	return spot{id, append(slices.Clip(path), cmp.Or(self, strconv.Itoa(i)))}
}

// under returns the path of a list of steps in a step.
func (s spot) under(keys ...string) []string { return append(slices.Clip(s.path), keys...) }

// collect records the ids of steps, to distinguish later steps from unknown ones, and the steps
// whose conversation another continues.
func (c *compiler) collect(steps []*node) {
	for _, n := range steps {
		switch id := n.ID; {
		case !stepID.MatchString(id):
			c.wrong(n.spot, "id", 0, "%q is not an id (use 1 to 40 letters, digits, - or _)", id)
		case c.later[id] || c.seen[id] && id != c.self:
			c.wrong(n.spot, "id", 0, "there is another step of that id (give each one of its own)")
		}
		c.later[n.ID], c.goOn[n.Continues] = true, true
	}
}

// declared returns the node of a step. A step with Single becomes one with Agent if its
// conversation continues.
func (c *compiler) declared(s Step, at spot, b *block) *node {
	n := &node{Step: s, spot: at, in: b, at: len(b.nodes), input: "input"}
	if s.Single == nil || s.Continues == "" && s.Carry == "" && !c.goOn[s.ID] {
		return n
	}
	agent := inner(c.agent, s.ID)
	agent.Loop, agent.Output, agent.Tools, agent.Builtins = pawl.SingleCall{}, s.Single.Output, nil, false
	if s.Single.Prompt == "" {
		c.wrong(at, "prompt", 0, "it is empty; say what to ask the model")
	}
	c.loop.asks = true
	n.Agent, n.Input, n.Single, n.input = &agent, s.Single.Prompt, nil, "prompt"
	return n
}

func (c *compiler) block(steps []Step, of *node, path []string) *block {
	b := &block{of: of}
	self := ""
	if of == nil {
		self = c.self
	}
	for i, s := range steps {
		n := c.declared(s, spotOf(s.ID, path, i, self), b)
		c.node(n)
		c.seen[n.ID] = true
		c.loop.nodes[n.ID] = n
		b.nodes = append(b.nodes, n)
	}
	return b
}

// node compiles the fields of a step.
func (c *compiler) node(n *node) {
	c.loop.suspends = c.loop.suspends || n.Suspend != ""
	if n.If != "" {
		n.when = c.expression(n.spot, "if", n.If)
	}
	var problem string
	if n.does, problem = n.action(); problem != "" {
		c.follows(n.spot, "steps", 0, "%s", problem)
		return
	}
	wrong := n.misfits(n.does)
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		c.follows(n.spot, key, 0, "%s", wrong[key])
	}
	switch n.does {
	case "single":
		c.question(n)
	case "tool":
		c.value(n, "args", object(n.Args))
		c.called(n.spot, n.Tool)
	case "agent":
		c.run(n)
	case "switch":
		c.choice(n)
	case "parallel":
		if len(n.Parallel) == 0 {
			c.wrong(n.spot, "parallel", 0, "it has no branches")
		}
		for i, steps := range n.Parallel {
			n.arms = append(n.arms, c.subflow(n.spot, n.ID+"_"+strconv.Itoa(i+1), steps, nil, n.under("parallel", strconv.Itoa(i)), ""))
		}
	case "for_each":
		c.each(n)
	case "while":
		c.repeat(n)
	}
}

// question compiles what a step asks the model, and the schema of the reply.
func (c *compiler) question(n *node) {
	c.loop.asks = true
	if c.text(n.spot, "prompt", n.Single.Prompt); n.Single.Prompt == "" {
		c.wrong(n.spot, "prompt", 0, "it is empty; say what to ask the model")
	}
	if n.Single.Output != nil {
		if _, err := jsonschema.Compile(n.Single.Output, nil); err != nil {
			c.wrong(n.spot, "output", 0, "%v", err)
		}
	}
}

// run compiles a step that runs another agent.
func (c *compiler) run(n *node) {
	n.Tool = n.ID
	if n.Input == nil {
		n.Input = "{{input}}"
	}
	c.value(n, n.input, n.Input)
	agent := *n.Agent
	if agent.Model == nil {
		agent.Model, c.loop.asks = c.agent.Model, true
	}
	c.add(n.spot, &asked{agent: agent, name: n.ID, effect: most(*n.Agent), weight: n.Weight, follows: n.Continues, carry: n.Carry})
}

// repeat compiles a loop.
func (c *compiler) repeat(n *node) {
	for _, s := range referable(n.Do, nil, "") { // a round may refer to the one before
		c.seen[s.ID] = true
	}
	c.seen[n.ID] = true // its own condition may use its rounds
	n.on = c.expression(n.spot, "while", n.While)
	n.blocks = []*block{c.block(n.Do, n, n.under("do"))}
	if len(n.Do) == 0 {
		c.wrong(n.spot, "do", 0, "it has no steps")
	}
}

// called reports an error if no such tool exists.
func (c *compiler) called(at spot, tool string) {
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
		c.follows(at, "tool", 0, "there is no tool %q%s", tool, expr.DidYouMean(tool, names))
	}
}

func (c *compiler) choice(n *node) {
	n.on = c.expression(n.spot, "switch", n.Switch)
	if len(n.Cases) == 0 {
		c.wrong(n.spot, "cases", 0, "there are no cases (name each value with its steps)")
	}
	for _, name := range slices.Sorted(maps.Keys(n.Cases)) {
		n.cases = append(n.cases, name)
		n.blocks = append(n.blocks, c.block(n.Cases[name], n, n.under("cases", name)))
	}
	if n.Default != nil {
		n.blocks = append(n.blocks, c.block(n.Default, n, n.under("default")))
	}
}

func (c *compiler) each(n *node) {
	c.loop.eaches = append(c.loop.eaches, n.ID)
	n.on = c.expression(n.spot, "for_each", n.ForEach)
	n.Width, n.As = cmp.Or(n.Width, 4), cmp.Or(n.As, "item")
	if n.As == "input" || n.As == "steps" || !stepID.MatchString(n.As) {
		c.wrong(n.spot, "as", 0, "an item may not be called %q", n.As)
	}
	n.arms = []*subflow{c.subflow(n.spot, n.ID, n.Do, []string{n.As}, n.under("do"), "")}
}

// subflow compiles a branch, whose steps run as a child run.
func (c *compiler) subflow(at spot, tool string, steps []Step, names, path []string, self string) *subflow {
	agent := c.agent
	outer := slices.Sorted(maps.Keys(c.seen))
	loop, tools := compile(agent, steps, outer, append(slices.Clone(c.loop.names), names...), path, self)
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
		weight = max(weight, s.Weight)
	}
	c.add(at, &asked{agent: branchOf(agent, tool, loop, tools), name: tool, effect: pawl.Read, whole: true, weight: weight})
	return f
}

// add adds a tool whose calls are child runs.
func (c *compiler) add(at spot, t *asked) {
	for _, other := range c.agent.Tools {
		if other != nil && other.Info().Name == t.name {
			c.wrong(at, "id", 0, "there is a tool %s, and what the step runs is known by its id (call the step otherwise)", t.name)
			return
		}
	}
	for _, other := range c.tools {
		if other.Info().Name == t.name {
			c.follows(at, "id", 0, "another step runs something called %s, too (call the step otherwise)", t.name)
			return
		}
	}
	c.tools = append(c.tools, t)
}

// text compiles a text with references.
func (c *compiler) text(at spot, key, text string) {
	if t, err := parseTemplate(text); err != nil {
		c.wrong(at, key, err.Column, "%s", err.Message)
	} else {
		c.known(at, key, t.paths)
	}
}

// value compiles the JSON value with references that a call gets.
func (c *compiler) value(n *node, key string, value any) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = wire.Unmarshal(raw, &n.args)
	}
	if err != nil {
		c.wrong(n.spot, key, 0, "it is not JSON: %v", err)
		return
	}
	var paths []*expr.Path
	_, err = eachText(n.args, func(text string) (any, error) {
		t, wrong := parseTemplate(text)
		if wrong != nil {
			return nil, errors.New(wrong.Message)
		}
		paths = append(paths, t.paths...)
		return nil, nil
	})
	if err != nil {
		c.wrong(n.spot, key, 0, "%v", err)
		return
	}
	n.attaches = slices.ContainsFunc(paths, func(p *expr.Path) bool { return p.Root == "input" })
	before := len(c.loop.refs)
	c.known(n.spot, key, paths)
	n.refs = slices.Clone(c.loop.refs[before:])
}

func (c *compiler) expression(at spot, key, source string) expr.Node {
	n, err := parse(source)
	if err != nil {
		c.wrong(at, key, err.Column, "%s", err.Message)
		return &expr.Null{}
	}
	var paths []*expr.Path
	for n := range expr.All(n) {
		switch n := n.(type) {
		case *expr.Path:
			paths = append(paths, n)
		case *expr.Call:
			c.wrong(at, key, n.Column(), "%s is not available here (compare input and the outputs of steps)", n.Func)
		}
	}
	c.known(at, key, paths)
	return n
}

// known reports an error for references to unknown or later steps.
func (c *compiler) known(at spot, key string, paths []*expr.Path) {
	roots := append([]string{"input", "steps"}, c.loop.names...)
	for _, p := range paths {
		if !slices.Contains(roots, p.Root) {
			c.wrong(at, key, p.Column(), "there is no %s%s", p.Root, expr.DidYouMean(p.Root, roots))
			continue
		}
		if p.Root != "steps" {
			c.loop.roots = append(c.loop.roots, p.Root)
			continue
		}
		if len(p.Keys) < 2 || p.Keys[0].IsIndex || p.Keys[1].IsIndex || !slices.Contains(fields, p.Keys[1].Name) {
			c.wrong(at, key, p.Column(), "%s does not refer to a step (write steps.ID.output)", p)
			continue
		}
		step := p.Keys[0].Name
		switch {
		case c.seen[step]:
			c.loop.refs = append(c.loop.refs, step)
		case c.later[step]:
			c.follows(at, key, p.Column(), "steps.%s comes later (refer to steps before this one)", step)
		default:
			c.follows(at, key, p.Column(), "there is no step %s here%s", step, expr.DidYouMean(step, slices.Collect(maps.Keys(c.seen))))
		}
	}
}

// object returns an empty object for nil arguments.
func object(args map[string]any) map[string]any {
	if args == nil {
		return map[string]any{}
	}
	return args
}
