package spec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/tool/skill"
	"github.com/pawl-run/pawl/window"
)

// policies adds the spec's policies to the agent, but for those that judge.
func (s *Spec) policies(a *pawl.Agent) {
	add := func(p pawl.Policy) { a.Policies = append(a.Policies, p) }
	if slices.ContainsFunc(s.skills, func(k skill.Skill) bool { return k.Allowed != nil }) {
		add(skill.Policy(s.skills...))
	}
	if p := s.NoProgress; p != nil {
		add(progress.NoProgress(max(0, cmp.Or(p.Window, progress.Window)), p.Then, p.Hint))
	}
	for _, g := range s.gates {
		add(g.policy)
	}
	if s.Plan {
		a.Tools = append(a.Tools, approval.PresentPlan())
		add(approval.Plan())
	}
	a.Policies = append(a.Policies, s.registered...)
	if rules := s.rules(); len(rules) > 0 {
		add(guard.New(rules...))
	}
	if s.guarded() {
		add(guard.DataFlow(&guard.DataFlowOptions{Hosts: s.Fetch.Allow, Strict: s.Guard.DataFlow == "strict"}))
	}
}

// rules returns the rules of the guard.
func (s *Spec) rules() (rules []guard.Rule) {
	if s.Guard.PII > 0 {
		rules = append(rules, guard.PII(s.Guard.PII))
	}
	if s.Guard.Secrets > 0 {
		rules = append(rules, guard.Secrets(s.Guard.Secrets))
	}
	if len(s.Guard.Topics) > 0 {
		rules = append(rules, guard.Topics(guard.Block, s.Guard.Topics...))
	}
	if t := s.Topics; t != nil && len(t.Deny) > 0 {
		do := guard.Block
		if t.Then == "retry" {
			do = guard.Retry
		}
		rules = append(rules, guard.Topics(do, t.Deny...))
	}
	return rules
}

// checkHooks reports hooks that are there twice.
func (s *Spec) checkHooks() {
	seen := map[string]bool{}
	for _, h := range s.Hooks {
		key := h.n.pairs[0].key.text
		if seen[key] {
			s.doc.problem(h.n, "the hook %s is there twice (drop one)", key)
		}
		seen[key] = true
	}
}

// judgeModels are where a spec names the models of its judges and summaries.
var judgeModels = []string{"hooks.*.steer.model", "judge.reflexion.model", "judge.grounding.model", "context.summary_model"}

// judge adds the policies that judge, each with its model. A model shared by
// several is created once.
func (s *Spec) judge(d *document, r *Registry, a *pawl.Agent) {
	made := map[string]pawl.Model{}
	model := func(n *node) pawl.Model {
		switch {
		case n == nil || n.kind == 0:
			return nil
		case r == nil:
			return standIn{}
		case made[n.text] == nil:
			made[n.text] = s.make(d, r, n, s.base, &a.Limits)
		}
		return made[n.text]
	}
	add := func(p pawl.Policy) { a.Policies = append(a.Policies, p) }
	for _, h := range s.Hooks {
		if w := h.Steer; w != nil {
			add(judge.Steer(w.Policy, &judge.SteerOptions{Model: model(w.n.get("model")), WritesOnly: w.WritesOnly, Ask: !w.Refuse}))
		}
	}
	of := s.n.get("judge")
	if s.Judge.Reflexion != nil {
		o := *s.Judge.Reflexion
		o.Model = model(of.get("reflexion").get("model"))
		add(judge.Reflexion(&o))
	}
	if s.Judge.Grounding != nil {
		o := *s.Judge.Grounding
		o.Model = model(of.get("grounding").get("model"))
		add(judge.Grounding(&o))
	}
	if s.Judge.Causal {
		add(judge.Causal())
	}
	if s.Context != nil {
		o := s.Context.Options
		o.Model = model(s.n.get("context").get("summary_model"))
		add(window.Compact(&o))
	}
}

// labelled returns the trust in the results of tools whose own is another.
func (s *Spec) labelled(tools []pawl.Tool) map[string]pawl.Trust {
	trust := map[string]pawl.Trust{}
	for _, e := range s.entries {
		if e.kind == ofProgram && e.trust > 0 {
			trust[e.name] = e.trust
		}
	}
	for _, server := range s.servers {
		for _, t := range tools {
			if name := t.Info().Name; server.Trust > 0 && strings.HasPrefix(name, server.Name+"__") {
				trust[name] = server.Trust
			}
		}
	}
	if len(trust) == 0 {
		return nil
	}
	return trust
}
