package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/team"
)

// A Policy is an organisation's rules for every agent, whatever its spec:
// limits, allowed models, denied tools, and tools that a person must approve.
//
//	limits: {iterations: 50, tokens: 1000000, time: 1h, cost: 5.00}
//	budgets:                             # of all runs together
//	  - {label: tenant, per: day, cost: 50}
//	models: [anthropic/*, mechanic]      # no other may be asked
//	deny: ["shell_*"]                    # these never run
//	gates:                               # these are approved first
//	  - "delete_*"
//	  - {effect: write}
//	  - {tool: submit_po, when: args.amount > 100}
//
// A policy can only tighten: it lowers limits and never raises one, and it does
// not change what it does not mention. It is immutable.
type Policy struct {
	name   string
	text   string
	src    *source
	limits pawl.Limits
	models []string
	deny   []string
	gates  []policyGate
	root   *node

	budgets []budget.Budget
}

// policyGate is one item under gates.
type policyGate struct {
	tool, when string // a gate by tool; when may be empty
	effect     pawl.Effect
}

// LoadPolicy reads the policy in a file. Its error is [Problems], unless the
// file cannot be read.
func LoadPolicy(path string) (*Policy, error) {
	data, err := readSome(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return ParsePolicy(path, data)
}

// ParsePolicy parses a policy. The name is that of its file, which determines
// whether it is JSON and need not exist. The error is [Problems].
func ParsePolicy(name string, data []byte) (*Policy, error) {
	d, root := readDocument(name, string(data))
	p := &Policy{name: name, text: d.text, src: d.src}
	switch {
	case root == nil:
	case root.kind == mapping:
		p.root = root
		p.read(d, root)
	case root.kind != 0:
		d.problem(root.place, "the policy is %v (write a mapping with limits, models, deny, gates)", root.kind)
	}
	if err := d.problems.sorted().asError(); err != nil {
		return nil, err
	}
	return p, nil
}

// read reads the keys of the top level.
func (p *Policy) read(d *document, root *node) {
	f := d.fields(policyKeys, root)
	if n := root.get("limits"); n != nil {
		f.fields(policyLimitKeys, n).ceilings(&p.limits)
	}
	if n := f.value("models", list, "a list such as [anthropic/*]"); n != nil {
		words, at := f.words("models", "[anthropic/*]")
		p.models = words
		for i, w := range words {
			if strings.TrimSpace(w) == "" {
				f.problem(at[i].place, "models has a blank pattern (write a name, or * for all)")
			}
		}
		if len(n.items) == 0 {
			d.problem(n.place, "models is empty, which allows none (leave it out to allow all)")
		}
	}
	var at []*node
	p.deny, at = f.words("deny", `["shell_*"]`)
	for i, one := range p.deny {
		d.standing("deny", at[i].place, approval.Never(one), one)
	}
	f.budgets(&p.budgets)
	n := f.value("gates", list, `a list such as ["delete_*", {effect: write}]`)
	if n == nil {
		return
	}
	for _, item := range n.items {
		p.readGate(d, item)
	}
}

func (p *Policy) readGate(d *document, n *node) {
	const example = `the name of a tool, or a mapping with tool or effect`
	var g policyGate
	switch n.kind {
	case 0:
		return
	case text:
		g.tool = n.text
		d.standing("gates", n.place, approval.For(g.tool), g.tool)
	case mapping:
		f := d.fields(policyGateKeys, n)
		f.text("tool", &g.tool)
		choose(f, "effect", &g.effect)
		when := f.value("when", text, "a condition on arguments such as args.amount > 100")
		switch {
		case n.get("tool") != nil && n.get("effect") != nil:
			d.problem(n.place, "gates has an item with both tool and effect (write two items)")
		case n.get("tool") == nil && n.get("effect") == nil:
			d.problem(n.place, "gates has an item with neither tool nor effect (write %s)", example)
		case when != nil && n.get("tool") == nil:
			d.problem(when.place, "when is about the arguments of a tool (write tool beside it)")
		case g.tool != "" && when != nil:
			g.when = when.text
			if d.standing("tool", n.get("tool").place, approval.For(g.tool), g.tool) {
				d.standingAt("when", when, approval.When(g.tool, g.when), g.tool)
			}
		case g.tool != "":
			d.standing("tool", n.get("tool").place, approval.For(g.tool), g.tool)
		}
	default:
		d.problem(n.place, "gates has %v in its list (write %s)", n.kind, example)
		return
	}
	p.gates = append(p.gates, g)
}

// stubTool is for checking a rule without an agent.
type stubTool struct {
	pawl.Tool
	name string
}

// Info returns a declaration that accepts any arguments.
func (s stubTool) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: s.name, Input: []byte(`{"type":"object","additionalProperties":true}`)}
}

// fitted returns an agent with a tool that matches the pattern.
func fitted(pattern string) pawl.Agent {
	name := strings.NewReplacer("*", "", "?", "a").Replace(pattern)
	return pawl.Agent{Tools: []pawl.Tool{stubTool{name: name}}}
}

// standing reports the problems of a rule that do not depend on the agent, and
// returns whether there are none.
func (d *document) standing(key string, at place, rule pawl.Policy, pattern string) bool {
	return d.standingAt(key, &node{kind: null, place: at}, rule, pattern)
}

func (d *document) standingAt(key string, n *node, rule pawl.Policy, pattern string) bool {
	err := objection(rule, fitted(pattern))
	if err != nil {
		d.expression(key, n, errors.Unwrap(err))
	}
	return err == nil
}

// Source returns the file's name and content, for recording with a run.
func (p *Policy) Source() (name, document string) { return p.name, p.text }

// Lower returns the limits, reduced to the policy's where they are higher. A
// zero means a default and stays, except that no limit on cost is reduced too.
func (p *Policy) Lower(l pawl.Limits) pawl.Limits {
	least := func(to *int, most int) {
		if most > 0 && *to > most {
			*to = most
		}
	}
	least(&l.Iterations, p.limits.Iterations)
	least(&l.Tokens, p.limits.Tokens)
	least(&l.ToolErrors, p.limits.ToolErrors)
	least(&l.Depth, p.limits.Depth)
	if most := p.limits.Time; most > 0 && l.Time > most {
		l.Time = most
	}
	if most := p.limits.Cost; most > 0 && (l.Cost == 0 || l.Cost > most) {
		l.Cost = most
	}
	return l
}

// Apply returns the agent under the policy. Rules about tools the agent does
// not have add nothing. The error is [Problems], at their places in the policy:
// a model that is not allowed, or one without a price under a dollar limit.
func (p *Policy) Apply(a pawl.Agent) (pawl.Agent, error) {
	d := &document{text: p.text, src: p.src}
	m, err := pawl.NewMachine(a)
	if err != nil {
		return a, fmt.Errorf("policy: %w", err)
	}
	declared := m.Declaration()
	a.Limits = p.Lower(declared.Limits)
	models := slices.Concat([]pawl.ModelInfo{declared.Model}, declared.Fallback, declared.Auxiliary)
	for _, member := range members(a) {
		m, err := pawl.NewMachine(member)
		if err != nil {
			return a, fmt.Errorf("policy: %w", err)
		}
		declared := m.Declaration()
		models = slices.Concat(models, []pawl.ModelInfo{declared.Model}, declared.Fallback, declared.Auxiliary)
	}
	for _, info := range models {
		if len(p.models) > 0 && !allowed(p.models, info.Name) {
			d.problem(p.root.get("models").place, "the model %s is not allowed (only %s)", info.Name, strings.Join(p.models, ", "))
		}
		for _, b := range p.budgets {
			if b.Cost > 0 && info.Price == nil {
				d.problem(p.root.get("budgets").place, "the model %s has no price, so %s cannot be enforced (give it one under prices in the spec)", info.Name, b)
			}
		}
		if p.limits.Cost > 0 && info.Price == nil {
			d.problem(p.root.get("limits").get("cost").place, "the model %s has no price, so the policy's limit of $%v cannot be enforced (give it one under prices in the spec)", info.Name, pawl.Decimal(p.limits.Cost))
		}
	}
	if err := budget.Check(append(BudgetsOf(a.Source), p.budgets...)); err != nil {
		d.problem(p.root.get("budgets").place, "%s: %v", a.Name, err)
	}
	if err := d.problems.sorted().asError(); err != nil {
		return a, err
	}
	a.Policies = append(slices.Clip(a.Policies), p.rules(a)...)
	return a, nil
}

// rules returns the policy's rules that apply to the agent.
func (p *Policy) rules(a pawl.Agent) (rules []pawl.Policy) {
	fits := func(pattern string) bool {
		return anyTool(a, func(i pawl.ToolInfo) bool { return naming.Match(pattern, i.Name) })
	}
	for _, one := range p.deny {
		if fits(one) || strings.HasPrefix(one, "__") {
			rules = append(rules, approval.Never(one))
		}
	}
	for _, g := range p.gates {
		switch {
		case g.effect != 0 && has(a, g.effect):
			rules = append(rules, approval.ForEffect(g.effect))
		case g.effect != 0 || !fits(g.tool):
		case g.when == "" || objection(approval.When(g.tool, g.when), a) != nil:
			// If a tool lacks the arguments that the condition uses, every call
			// of it needs approval.
			rules = append(rules, approval.For(g.tool))
		default:
			rules = append(rules, approval.When(g.tool, g.when))
		}
	}
	// Sorted, the rules of a stricter policy contain those of the previous one
	// in the same order.
	slices.SortFunc(rules, func(a, b pawl.Policy) int { return cmp.Compare(a.String(), b.String()) })
	return rules
}

// has reports whether a tool of the agent has the effect, possibly by default.
func has(a pawl.Agent, effect pawl.Effect) bool {
	return anyTool(a, func(i pawl.ToolInfo) bool { return cmp.Or(i.Effect, pawl.Write) == effect })
}

// anyTool reports whether something holds for a tool of the agent or of a
// sub-agent, to which the agent's rules also apply.
func anyTool(a pawl.Agent, holds func(pawl.ToolInfo) bool) bool {
	return slices.ContainsFunc(append(members(a), a), func(a pawl.Agent) bool {
		return slices.ContainsFunc(a.Tools, func(t pawl.Tool) bool { return holds(t.Info()) })
	})
}

// members returns the sub-agents of an agent and of its team, recursively, and its team.
func members(a pawl.Agent) (all []pawl.Agent) {
	team := team.Of(&a)
	for i, mate := range team {
		if i > 0 {
			all = append(all, *mate)
		}
		for _, t := range mate.Tools {
			if d, ok := t.(pawl.Delegate); ok {
				member := d.Agent()
				all = append(append(all, member), members(member)...)
			}
		}
	}
	return all
}

// allowed reports whether a model matches one of the patterns. Scripted models
// may be written as in a spec, script:FILE.
func allowed(patterns []string, model string) bool {
	names := []string{model}
	if file, ok := strings.CutPrefix(model, scriptProvider+"/"); ok {
		names = append(names, scriptProvider+":"+file)
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return naming.Match(p, name) })
	})
}

// Looser lists in what the policy is looser than another one under which a run
// began, each as a sentence without the full stop; none: it is at least as
// strict.
func (p *Policy) Looser(than *Policy) (ways []string) {
	say := func(format string, args ...any) { ways = append(ways, fmt.Sprintf(format, args...)) }
	ceiling(say, "iterations", than.limits.Iterations, p.limits.Iterations)
	ceiling(say, "tokens", than.limits.Tokens, p.limits.Tokens)
	ceiling(say, "time", than.limits.Time, p.limits.Time)
	ceiling(say, "cost", than.limits.Cost, p.limits.Cost)
	ceiling(say, "tool_errors", than.limits.ToolErrors, p.limits.ToolErrors)
	ceiling(say, "depth", than.limits.Depth, p.limits.Depth)
	if len(than.models) > 0 && len(p.models) == 0 {
		say("all models are allowed, not only %s", strings.Join(than.models, ", "))
	}
	for _, m := range p.models {
		if len(than.models) > 0 && !slices.ContainsFunc(than.models, func(was string) bool { return within(m, was) }) {
			say("the model %s is allowed", m)
		}
	}
	for _, one := range than.deny {
		if !slices.Contains(p.deny, one) {
			say("%s is not denied", one)
		}
	}
	for _, g := range than.gates {
		if !slices.Contains(p.gates, g) {
			say("%s is not gated", g)
		}
	}
	return ways
}

// within reports whether a pattern matches only what another matches.
func within(pattern, other string) bool {
	const wild = "*?"
	if pattern == other || !strings.ContainsAny(pattern, wild) && naming.Match(other, pattern) {
		return true
	}
	before, ok := strings.CutSuffix(other, "*")
	return ok && !strings.ContainsAny(before, wild) && strings.HasPrefix(pattern, before)
}

func ceiling[T int | float64 | time.Duration](say func(string, ...any), name string, was, is T) {
	switch {
	case was == 0 || is != 0 && is <= was:
	case is == 0:
		say("%s has no limit, which was %v", name, was)
	default:
		say("%s may be %v, not %v", name, is, was)
	}
}

// String returns the gate as in "delete_* is not gated".
func (g policyGate) String() string {
	switch {
	case g.effect != 0:
		return "every " + g.effect.String()
	case g.when != "":
		return g.tool + " when " + g.when
	}
	return g.tool
}
