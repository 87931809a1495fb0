package spec

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// readLoop finds the loop: one of Pawl's, or one that the program registered.
func (s *Spec) readLoop() {
	own := s.opt.Registry.program().Loops
	kind := s.Loop
	switch {
	case own[kind] != nil:
		s.loop, kind = own[kind], ""
	case kind == "react":
		s.loop = pawl.ReAct{}
	case kind == "single":
		s.loop = pawl.SingleCall{}
	case kind != "" && kind != "workflow" && kind != "graph":
		known := slices.AppendSeq([]string{"react", "single", "workflow", "graph"}, maps.Keys(own))
		s.doc.problem(s.at("loop"), "loop is %q%s", kind, expr.DidYouMean(kind, known))
	}
	s.readFlow(kind)
}

// readPolicies finds the registered policies.
func (s *Spec) readPolicies() {
	known := s.opt.Registry.program().Policies
	for _, n := range s.n.get("policies").list() {
		switch p := known[n.text]; {
		case p != nil:
			s.registered = append(s.registered, p)
		case len(known) == 0:
			s.doc.problem(n, "there is no policy %q: this program registers none (leave it out, or run the program that has it)", n.text)
		default:
			s.doc.problem(n, "there is no policy %q%s", n.text, expr.DidYouMean(n.text, slices.Collect(maps.Keys(known))))
		}
	}
}

// program returns the registry, which may be nil.
func (r *Registry) program() Registry {
	if r == nil {
		return Registry{}
	}
	return *r
}

// Registered lists what the spec uses of the program that reads it, such as
// "tool quote", in the order of the spec.
func (s *Spec) Registered() (all []string) {
	of := s.opt.Registry.program()
	for _, e := range s.entries {
		if e.kind == ofProgram && ownTools[e.name] == nil {
			all = append(all, "tool "+e.name)
		}
	}
	if of.Loops[s.Loop] != nil {
		all = append(all, "loop "+s.Loop)
	}
	for _, name := range s.Policies {
		all = append(all, "policy "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(of.When)) {
		if strings.Contains(s.Stop, "when("+strconv.Quote(name)+")") {
			all = append(all, "condition "+name)
		}
	}
	return all
}
