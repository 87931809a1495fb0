package spec

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// gate is an approval rule of a spec, and its place.
type gate struct {
	key    string
	at     *node
	src    *source // the text with that place
	tool   string  // the tool or the pattern
	policy pawl.Policy
}

// readApprovals reads {ttl: 1h, on_deny: tell, observation: true, gates: ["delete_*"]}.
func (s *Spec) readApprovals(f fields) {
	a := f.fields(approvalsKeys, f.n.get("approvals"))
	a.duration("ttl", &s.approvals.TTL)
	s.approvals.StopOnDeny, s.approvals.IgnoreObservation = a.word("on_deny") == "stop", a.off("observation")
	patterns, at := a.words("gates", `["delete_*"]`)
	for i, p := range patterns {
		s.gates = append(s.gates, gate{"gates", at[i], f.src, p, approval.For(p)})
	}
}

// gate adds the approval of a tool, if it has one.
func (s *Spec) gate(f fields, tool string) {
	if g, gated := f.readGate(tool); gated {
		s.gates = append(s.gates, g)
	}
}

// readGate reads the approval of a tool: required, or {when: EXPR}.
func (f fields) readGate(tool string) (gate, bool) {
	const key, example = "approval", "required, or {when: args.amount > 100}"
	n := f.n.get(key)
	switch {
	case n == nil || n.kind == 0:
		return gate{}, false
	case n.kind == text && n.text == "required":
		return gate{key, n, f.src, tool, approval.For(tool)}, true
	case n.kind == text:
		f.problem(n.place, "%s is %q (write %s)", key, n.text, example)
		return gate{}, false
	case n.kind != mapping:
		f.problem(n.place, "%s is %v (write %s)", key, n.kind, example)
		return gate{}, false
	}
	g := f.fields(whenKeys, n)
	when := g.value("when", text, "a condition on arguments such as args.amount > 100")
	if when == nil {
		return gate{}, false
	}
	return gate{"when", when, f.src, tool, approval.When(tool, when.text)}, true
}

// readWitness reads the files that an approver relies on. A name is relative to
// the directory in which commands run; with ./ before it, to the spec's
// directory, as for programs.
func (s *Spec) readWitness(f fields) []string {
	names, at := f.words("witness", "[ledger.csv]")
	var all []string
	seen := map[string]bool{}
	for i, name := range names {
		if strings.TrimSpace(name) == "" {
			f.problem(at[i].place, "witness has a blank name (name a file)")
			continue
		}
		if seen[name] {
			f.problem(at[i].place, "witness %s is named twice", name)
			continue
		}
		seen[name] = true
		if strings.HasPrefix(name, "./") && s.dir != s.base {
			name = s.witness(name)
		}
		all = append(all, name)
	}
	return all
}

// witness returns the path of a witness.
func (s *Spec) witness(name string) string {
	switch {
	case filepath.IsAbs(name):
		return name
	case strings.HasPrefix(name, "./"):
		return filepath.Join(s.base, name)
	}
	return filepath.Join(s.dir, name)
}

// policies adds the spec's approval rules to the agent.
func (s *Spec) policies(a *pawl.Agent) {
	a.Approvals = s.approvals
	for _, g := range s.gates {
		a.Policies = append(a.Policies, g.policy)
	}
}

// checkGates reports the problems of the approval rules.
func (s *Spec) checkGates(d *document, a pawl.Agent) {
	for _, g := range s.gates {
		if err := objection(g.policy, a); err != nil {
			in := &document{src: g.src}
			in.expression(g.key, g.at, errors.Unwrap(err)) // without the rule's text, which is at that place
			d.problems = append(d.problems, in.problems...)
		}
	}
}
