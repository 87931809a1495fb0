package spec

import (
	"maps"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/guard"
)

// readGuard reads {pii: redact, secrets: block, injection: warn, topics: [...],
// data_flow: true}. Topics are blocked: who names one does not want to hear of it.
func (s *Spec) readGuard(f fields) {
	n := f.n.get("guard")
	if n == nil {
		return
	}
	g := f.fields(guardKeys, n)
	var rules []guard.Rule
	for _, rule := range []struct {
		key  string
		make func(guard.Action) guard.Rule
	}{
		{"pii", func(do guard.Action) guard.Rule { return guard.PII(do) }},
		{"secrets", guard.Secrets},
		{"injection", guard.Injection},
	} {
		do := 0
		if g.choice(rule.key, &do); do > 0 {
			rules = append(rules, rule.make(guard.Action(do)))
		}
	}
	if topics, at := g.words("topics", "[insider trading]"); len(topics) > 0 {
		rule := guard.Topics(guard.Block, topics...)
		if err := guard.New(rule).Check(pawl.Agent{}); err != nil {
			g.problem(at[0].place, "topics: %s (write words)", strings.TrimPrefix(err.Error(), "guard: "))
		} else {
			rules = append(rules, rule)
		}
	}
	g.flag("data_flow", &s.dataFlow)
	if len(rules) > 0 {
		s.guard = guard.New(rules...)
	}
}

// label reads whose words the results of a tool are.
func (f fields) label(to *pawl.Trust) {
	label := 0
	if f.choice("trust", &label); label > 0 {
		*to = pawl.Trust(label)
	}
}

// labelled puts the labels of builtin tools and of those of servers into the agent.
func (s *Spec) labelled(a *pawl.Agent) {
	trust := maps.Clone(s.trust)
	for _, server := range s.servers {
		for _, t := range a.Tools {
			if name := t.Info().Name; server.trust > 0 && strings.HasPrefix(name, server.Name+"__") {
				if trust == nil {
					trust = map[string]pawl.Trust{}
				}
				trust[name] = server.trust
			}
		}
	}
	a.Trust = trust
}
