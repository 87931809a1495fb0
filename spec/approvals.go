package spec

import (
	"errors"
	"path/filepath"
	"slices"
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

// readWitness resolves the files that an approver relies on. A name is relative to
// the directory in which commands run; with ./ before it, to the spec's
// directory, as for programs.
func (s *Spec) readWitness(w *toolItem) {
	for i, name := range w.Witness {
		n := w.at("witness").items[i]
		switch {
		case strings.TrimSpace(name) == "":
			s.doc.problem(n, "witness has a blank name (name a file)")
		case slices.Index(w.Witness, name) < i:
			s.doc.problem(n, "witness %s is named twice", name)
		}
	}
	s.beside(w.Witness)
}

// beside resolves names that begin with ./ against the spec's directory, if commands run in another.
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
