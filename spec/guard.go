package spec

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/guard"
)

// readGuard reads {pii: redact, secrets: block, injection: warn, topics: [...]}.
// Topics are blocked: who names one does not want to hear of it.
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
	flow := false
	if g.flag("data_flow", &flow); flow {
		g.problem(n.get("data_flow").place, "data_flow is not supported by this version (leave it out)")
	}
	if len(rules) > 0 {
		s.guard = guard.New(rules...)
	}
}
