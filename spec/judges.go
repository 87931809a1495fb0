package spec

import (
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
		then := progress.Fail
		pick(p.Then, &then, "fail", "escalate", "hint")
		add(progress.NoProgress(p.Window, then, p.Hint))
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
	add := func(word string, make func(guard.Action) guard.Rule) {
		do := guard.Action(0)
		if pick(word, &do, "redact", "block", "warn"); do > 0 {
			rules = append(rules, make(do))
		}
	}
	add(s.Guard.PII, func(do guard.Action) guard.Rule { return guard.PII(do) })
	add(s.Guard.Secrets, guard.Secrets)
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

// checkTopics reports topics without words.
func (s *Spec) checkTopics() {
	for _, path := range []string{"guard.topics", "topics.deny"} {
		for _, n := range s.n.all(path + ".*") {
			if err := guard.New(guard.Topics(guard.Block, n.text)).Check(pawl.Agent{}); err != nil {
				_, key, _ := strings.Cut(path, ".")
				s.doc.problem(n, "%s: %s (write words)", key, strings.TrimPrefix(err.Error(), "guard: "))
			}
		}
	}
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
	model := func(in mark, key, name string) pawl.Model {
		switch {
		case name == "":
			return nil
		case r == nil:
			return standIn{}
		case made[name] == nil:
			made[name] = s.make(d, r, in.at(key), s.base, &a.Limits)
		}
		return made[name]
	}
	add := func(p pawl.Policy) { a.Policies = append(a.Policies, p) }
	for _, h := range s.Hooks {
		if w := h.Steer; w != nil {
			add(judge.Steer(w.Policy, &judge.SteerOptions{Model: model(w.mark, "model", w.Model), WritesOnly: w.WritesOnly, Ask: w.Ask}))
		}
	}
	if w := s.Judge.Reflexion; w != nil {
		add(judge.Reflexion(&judge.ReflexionOptions{
			Model: model(w.mark, "model", w.Model), Every: orNone(w.Every), IgnoreErrors: !w.OnError, IgnoreLoops: !w.OnLoop,
		}))
	}
	if w := s.Judge.Grounding; w != nil {
		add(judge.Grounding(&judge.GroundingOptions{Model: model(w.mark, "model", w.Model), Strict: w.Strict, Replans: orNone(w.Replans)}))
	}
	if s.Judge.Causal {
		add(judge.Causal())
	}
	if w := s.Context; w != nil {
		add(window.Compact(&window.Options{
			Model: model(w.mark, "summary_model", w.SummaryModel), Keep: orNone(w.Keep), MaxTokens: w.MaxTokens, Never: w.Compact == "never",
		}))
	}
}

// orNone returns a number as options of Go have it, where zero is the default and -1 none.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// pick sets a constant to the number of a word among words, from 1.
func pick[T ~int](word string, to *T, words ...string) {
	for i, known := range words {
		if word == known {
			*to = T(i + 1)
		}
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
