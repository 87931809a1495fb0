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
	tool   string // the tool or the pattern
	policy pawl.Policy
}

func (s *Spec) readGates() {
	for i, p := range s.Approvals.Gates {
		s.gates = append(s.gates, gate{"gates", s.Approvals.at("gates").items[i], p, approval.For(p)})
	}
}

// gate adds the approval of a tool, if it has one: required, or {when: EXPR}.
func (s *Spec) gate(w *whenSpec, tool string) {
	switch {
	case w == nil:
	case w.When != "":
		s.gates = append(s.gates, gate{"when", w.at("when"), tool, approval.When(tool, w.When)})
	case len(w.n.pairs) == 0:
		s.gates = append(s.gates, gate{"approval", w.n, tool, approval.For(tool)})
	}
}

// beside resolves names of files, which are relative to the directory of commands, or with ./ to
// the spec's directory, as for programs.
func (s *Spec) beside(names []string) {
	for i, name := range names {
		if strings.HasPrefix(name, "./") && s.dir != s.base {
			names[i] = s.witness(name)
		}
	}
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

// checkGates reports the problems of the approval rules.
func (s *Spec) checkGates(d *document, a pawl.Agent) {
	for _, g := range s.gates {
		if err := objection(g.policy, a); err != nil {
			d.expression(g.key, g.at, errors.Unwrap(err)) // without the rule's text, which is at that place
		}
	}
}
