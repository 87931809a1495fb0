package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/jsonschema"
)

// A node is a compiled step.
type node struct {
	Step
	does string // the key of its action; of a node of a graph that runs as a branch: empty
	in   *block // the block that contains it
	at   int    // its index in the block
	when expr.Node

	prompt *template  // of Single
	args   *tree      // of a call; the input of Agent
	on     expr.Node  // the expression of Switch, ForEach or While
	blocks []*block   // of Switch, the cases by name and then the default; of While, its steps
	cases  []string   // of Switch: their names
	arms   []*subflow // of Parallel its branches, of ForEach the one for all items
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

func newCompiler(agent pawl.Agent, l *Loop) *compiler {
	return &compiler{agent: agent, loop: l, seen: map[string]bool{}, later: map[string]bool{}, goOn: map[string]bool{}}
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
	c := newCompiler(agent, l)
	c.self = self
	if self != "" && steps[0].While == "" { // which refers to its own rounds
		l.self = self
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
	c.collect(referable(steps))
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
		run := c.loop.nodes[id]
		if run.Continues == "" && run.Carry == "" {
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
		} else if of.Agent == nil {
			c.wrong(id, "continues", 0, "%s has no conversation (name a step that runs an agent or asks the model, or this one)", run.Continues)
		}
		if c.self != "" {
			c.wrong(id, "continues", 0, "a node with if or suspend is a run of its own each time (leave continues out, or put the condition on an edge)")
		}
	}
}

// referable returns the steps of a list that can be referred to beside it: those and the steps
// within a Switch or a While.
func referable(steps []Step) (all []Step) {
	for _, s := range steps {
		all = append(all, s)
		for _, name := range slices.Sorted(maps.Keys(s.Cases)) {
			all = append(all, referable(s.Cases[name])...)
		}
		all = append(all, referable(s.Default)...)
		if s.While != "" {
			all = append(all, referable(s.Do)...)
		}
	}
	return all
}

// collect records the ids of steps, to distinguish later steps from unknown ones, and the steps
// whose conversation another continues.
func (c *compiler) collect(steps []Step) {
	for _, s := range steps {
		c.name(s.ID)
		c.goOn[s.Continues] = true
	}
}

// asRun returns a step with Single as one with Agent if its conversation continues, and any other
// step as it is.
func (c *compiler) asRun(s Step) Step {
	if s.Single == nil || s.Continues == "" && s.Carry == "" && !c.goOn[s.ID] {
		return s
	}
	agent := inner(c.agent, s.ID)
	agent.Loop, agent.Output, agent.Tools, agent.Builtins = pawl.SingleCall{}, s.Single.Output, nil, false
	if s.Single.Prompt == "" {
		c.wrong(s.ID, "prompt", 0, "it is empty; say what to ask the model")
	}
	c.loop.asks = true
	s.Agent, s.Input, s.Single = &agent, s.Single.Prompt, nil
	return s
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
		n := &node{Step: c.asRun(s), in: b, at: len(b.nodes)}
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
	c.oneOf(n.ID, "suspend", string(n.Suspend), "before", "after")
	if n.Weight < 0 {
		c.wrong(n.ID, "weight", 0, "it is %d (write a whole number from 1)", n.Weight)
	}
	if n.If != "" {
		n.when = c.expression(n.ID, "if", n.If)
	}
	var key, problem string
	if n.does, key, problem = n.misfits(); problem != "" {
		c.wrong(n.ID, key, 0, "%s", problem)
	}
	switch n.does {
	case "single":
		c.question(n)
	case "tool":
		n.args = c.tree(n.ID, "args", object(n.Args))
		c.called(n.ID, n.Tool)
	case "agent":
		c.run(n)
	case "switch":
		c.choice(n)
	case "parallel":
		if len(n.Parallel) == 0 {
			c.wrong(n.ID, "parallel", 0, "it has no branches")
		}
		for i, steps := range n.Parallel {
			n.arms = append(n.arms, c.subflow(n.ID, n.ID+"_"+strconv.Itoa(i+1), steps, nil, ""))
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
	if n.prompt = c.template(n.ID, "prompt", n.Single.Prompt); n.Single.Prompt == "" {
		c.wrong(n.ID, "prompt", 0, "it is empty; say what to ask the model")
	}
	if n.Single.Output != nil {
		if _, err := jsonschema.Compile(n.Single.Output, nil); err != nil {
			c.wrong(n.ID, "output", 0, "%v", err)
		}
	}
}

// run compiles a step that runs another agent.
func (c *compiler) run(n *node) {
	n.Tool = n.ID
	if n.Input == nil {
		n.Input = "{{input}}"
	}
	n.args = c.tree(n.ID, "input", n.Input)
	agent := *n.Agent
	if agent.Model == nil {
		agent.Model, c.loop.asks = c.agent.Model, true
	}
	c.add(n.ID, &asked{agent: agent, name: n.ID, effect: most(*n.Agent), weight: n.Weight, follows: n.Continues, carry: n.Carry})
}

// repeat compiles a loop.
func (c *compiler) repeat(n *node) {
	c.within(n.ID, "max", n.Max, MaxRounds)
	for _, s := range referable(n.Do) { // a round may refer to the one before
		c.seen[s.ID] = true
	}
	c.seen[n.ID] = true // its own condition may use its rounds
	n.on = c.expression(n.ID, "while", n.While)
	n.blocks = []*block{c.block(n.Do, n)}
	if len(n.Do) == 0 {
		c.wrong(n.ID, "do", 0, "it has no steps")
	}
}

// oneOf reports an error for a word that is neither empty nor one of those known.
func (c *compiler) oneOf(id, key, word string, known ...string) {
	if word != "" && !slices.Contains(known, word) {
		c.wrong(id, key, 0, "it is %q (write %s)", word, strings.Join(known, " or "))
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

func (c *compiler) choice(n *node) {
	n.on = c.expression(n.ID, "switch", n.Switch)
	if len(n.Cases) == 0 {
		c.wrong(n.ID, "cases", 0, "there are no cases (name each value with its steps)")
	}
	for _, name := range slices.Sorted(maps.Keys(n.Cases)) {
		n.cases = append(n.cases, name)
		n.blocks = append(n.blocks, c.block(n.Cases[name], n))
	}
	if n.Default != nil {
		n.blocks = append(n.blocks, c.block(n.Default, n))
	}
}

func (c *compiler) each(n *node) {
	c.loop.eaches = append(c.loop.eaches, n.ID)
	n.on = c.expression(n.ID, "for_each", n.ForEach)
	n.Width, n.As = cmp.Or(n.Width, 4), cmp.Or(n.As, "item")
	c.within(n.ID, "width", n.Width, MaxWidth)
	c.oneOf(n.ID, "on_error", n.OnError, "stop", "continue")
	if n.As == "input" || n.As == "steps" || !stepID.MatchString(n.As) {
		c.wrong(n.ID, "as", 0, "an item may not be called %q", n.As)
	}
	n.arms = []*subflow{c.subflow(n.ID, n.ID, n.Do, []string{n.As}, "")}
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
		weight = max(weight, s.Weight)
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
