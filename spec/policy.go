package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/meter"
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
	policySpec
	name, text string
	budgets    []budget.Budget
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
	p := &Policy{name: name, text: d.text}
	switch {
	case root == nil:
	case root.kind == mapping:
		d.check(reference("policy"), root, "the policy")
		p.policySpec = decoded[policySpec](root)
		p.check(d)
	case root.kind != 0:
		d.problem(root, "the policy is %v (write a mapping with limits, models, deny, gates)", root.kind)
	}
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// check reports what the schema cannot say.
func (p *Policy) check(d *document) {
	if n := p.n.get("limits").get("margin"); n != nil {
		d.problem(n, "margin is no ceiling (leave it out)")
	}
	if p.Models != nil && len(p.Models) == 0 {
		d.problem(p.at("models"), "models is empty, which allows none (leave it out to allow all)")
	}
	for _, n := range p.n.all("deny.*") {
		d.standing("deny", n, approval.Never(n.text), n.text)
	}
	p.budgets = d.budgets(p.n.get("budgets"), p.policySpec.Budgets, nil)
	for _, w := range p.Gates {
		tool, when := w.n.get("tool"), w.n.get("when")
		if w.Tool != "" && d.standing("tool", tool, approval.For(w.Tool), w.Tool) && w.When != "" {
			d.standing("when", when, approval.When(w.Tool, w.When), w.Tool)
		}
	}
}

// standing reports the problems of a rule that do not depend on the agent, and
// returns whether there are none.
func (d *document) standing(key string, n *node, rule pawl.Policy, pattern string) bool {
	match := pawl.ToolInfo{Name: strings.NewReplacer("*", "", "?", "a").Replace(pattern), Input: anyArguments}
	err := objection(rule, pawl.Agent{Tools: []pawl.Tool{absent{match}}})
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
	return meter.Combine(l, p.Limits, func(name string, v, most float64) float64 {
		if most > 0 && (v > most || v == 0 && (name == "cost" || name == "handoffs")) {
			return most
		}
		return v
	})
}

// Apply returns the agent under the policy. Rules about tools the agent does
// not have add nothing. The error is [Problems], at their places in the policy:
// a model that is not allowed, or one without a price under a dollar limit.
func (p *Policy) Apply(a pawl.Agent) (pawl.Agent, error) {
	d := &document{}
	for i, member := range append([]pawl.Agent{a}, members(a)...) {
		m, err := pawl.NewMachine(member)
		if err != nil {
			return a, fmt.Errorf("policy: %w", err)
		}
		declared := m.Declaration()
		if i == 0 {
			a.Limits = p.Lower(declared.Limits)
		}
		for _, info := range slices.Concat([]pawl.ModelInfo{declared.ModelInfo}, declared.Fallback, declared.Auxiliary) {
			p.checkModel(d, info)
		}
	}
	if err := budget.Check(append(slices.Clip(ReadSource(a.Source).Budgets), p.budgets...)); err != nil {
		d.problem(p.at("budgets"), "%s: %v", a.Name, err)
	}
	if err := d.problems.err(); err != nil {
		return a, err
	}
	a.Policies = append(slices.Clip(a.Policies), p.rules(a)...)
	return a, nil
}

// checkModel reports a model that is not allowed, or has no price where there are limits in dollars.
func (p *Policy) checkModel(d *document, info pawl.ModelInfo) {
	if len(p.Models) > 0 && !allowed(p.Models, info.Name) {
		d.problem(p.at("models"), "the model %s is not allowed (only %s)", info.Name, strings.Join(p.Models, ", "))
	}
	if info.Price != nil {
		return
	}
	for _, b := range p.budgets {
		if b.Cost > 0 {
			d.problem(p.at("budgets"), "the model %s has no price, so %s cannot be enforced (give it one under prices in the spec)", info.Name, b)
		}
	}
	if p.Limits.Cost > 0 {
		d.problem(p.at("limits", "cost"), "the model %s has no price, so the policy's limit of $%v cannot be enforced (give it one under prices in the spec)", info.Name, pawl.Decimal(p.Limits.Cost))
	}
}

// rules returns the policy's rules that apply to the agent.
func (p *Policy) rules(a pawl.Agent) (rules []pawl.Policy) {
	fits := func(pattern string) bool {
		return anyTool(a, func(i pawl.ToolInfo) bool { return naming.Match(pattern, i.Name) })
	}
	for _, one := range p.Deny {
		if fits(one) || strings.HasPrefix(one, "__") {
			rules = append(rules, approval.Never(one))
		}
	}
	for _, g := range p.Gates {
		switch {
		case g.Effect != 0 && anyTool(a, func(i pawl.ToolInfo) bool { return cmp.Or(i.Effect, pawl.Write) == g.Effect }):
			rules = append(rules, approval.ForEffect(g.Effect))
		case g.Effect != 0 || !fits(g.Tool):
		case g.When == "" || objection(approval.When(g.Tool, g.When), a) != nil:
			// If a tool lacks the arguments that the condition uses, every call
			// of it needs approval.
			rules = append(rules, approval.For(g.Tool))
		default:
			rules = append(rules, approval.When(g.Tool, g.When))
		}
	}
	// Sorted, the rules of a stricter policy contain those of the previous one
	// in the same order.
	slices.SortFunc(rules, func(a, b pawl.Policy) int { return cmp.Compare(a.String(), b.String()) })
	return rules
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
	meter.Combine(than.Limits, p.Limits, func(name string, was, is float64) float64 {
		switch {
		case was == 0 || is != 0 && is <= was:
		case is == 0:
			say("%s has no limit, which was %s", name, limitText(name, was))
		default:
			say("%s may be %s, not %s", name, limitText(name, is), limitText(name, was))
		}
		return was
	})
	if len(than.Models) > 0 && len(p.Models) == 0 {
		say("all models are allowed, not only %s", strings.Join(than.Models, ", "))
	}
	for _, m := range p.Models {
		if len(than.Models) > 0 && !slices.ContainsFunc(than.Models, func(was string) bool { return within(m, was) }) {
			say("the model %s is allowed", m)
		}
	}
	for _, one := range than.Deny {
		if !slices.Contains(p.Deny, one) {
			say("%s is not denied", one)
		}
	}
	for _, g := range than.Gates {
		if !slices.ContainsFunc(p.Gates, func(own gateSpec) bool { return own.String() == g.String() }) {
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

// String returns the gate as in "delete_* is not gated".
func (g gateSpec) String() string {
	switch {
	case g.Effect != 0:
		return "every " + g.Effect.String()
	case g.When != "":
		return g.Tool + " when " + g.When
	}
	return g.Tool
}
