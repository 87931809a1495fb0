package spec

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/internal/expr"
)

// readGuard reads {pii: redact, secrets: block, injection: warn, topics: [...],
// data_flow: true}, and topics beside it.
func (s *Spec) readGuard(f fields) {
	rules := s.guardRules(f.fields(guardKeys, f.n.get("guard")))
	t, do := f.fields(topicKeys, f.n.get("topics")), guard.Block
	if t.word("then") == "retry" {
		do = guard.Retry
	}
	rules = append(rules, t.topics("deny", do)...)
	if len(rules) > 0 {
		s.guard = guard.New(rules...)
	}
}

func (s *Spec) guardRules(g fields) []guard.Rule {
	var rules []guard.Rule
	for _, rule := range []struct {
		key  string
		make func(guard.Action) guard.Rule
	}{
		{"pii", func(do guard.Action) guard.Rule { return guard.PII(do) }},
		{"secrets", guard.Secrets},
		{"injection", guard.Injection},
	} {
		do := guard.Action(0)
		if choose(g, rule.key, &do); do > 0 {
			rules = append(rules, rule.make(do))
		}
	}
	switch flow := g.n.get("data_flow"); {
	case flow != nil && flow.kind == text && flow.text == "strict":
		s.dataFlow, s.strictFlow = true, true
	case flow != nil && flow.kind == text:
		g.problem(flow.place, "data_flow is %q (write true, false or strict)", flow.text)
	default:
		g.flag("data_flow", &s.dataFlow)
	}
	return append(rules, g.topics("topics", guard.Block)...)
}

// topics returns the rule for the words under a key, if there are any.
func (f fields) topics(key string, do guard.Action) []guard.Rule {
	topics, at := f.words(key, "[insider trading]")
	if len(topics) == 0 {
		if n := f.n.get(key); key == "deny" && n != nil && n.kind == list && len(n.items) == 0 {
			f.problem(n.place, "%s is empty (%s)", key, needs["deny"])
		}
		return nil
	}
	rule := guard.Topics(do, topics...)
	if err := guard.New(rule).Check(pawl.Agent{}); err != nil {
		f.problem(at[0].place, "%s: %s (write words)", key, strings.TrimPrefix(err.Error(), "guard: "))
		return nil
	}
	return []guard.Rule{rule}
}

// labelled adds the labels of builtin tools and of tools of servers to the
// agent.
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

// flows reads names of arguments, which must exist in the schema of the tool.
func (f fields) flows(input json.RawMessage, key string) []string {
	if f.n.get(key) == nil {
		return nil
	}
	names, at := f.words(key, "[recipient]")
	var schema struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal(input, &schema) != nil {
		return names // reported elsewhere
	}
	for i, name := range names {
		if _, ok := schema.Properties[name]; !ok {
			f.problem(at[i].place, "%s names an argument %q that the tool does not have%s", key, name, expr.DidYouMean(name, slices.Sorted(maps.Keys(schema.Properties))))
		}
	}
	return names
}
