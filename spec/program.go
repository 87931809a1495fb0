package spec

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/stop"
)

// ownTool returns a tool that specs name under builtin: one of Pawl's, or one that
// the program registered. Nil: there is none.
func (s *Spec) ownTool(name string) pawl.Tool {
	if make := ownTools[name]; make != nil {
		return make(s)
	}
	if all := s.programTools(name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// programTools returns the tools with a name that the program registered.
func (s *Spec) programTools(name string) (all []pawl.Tool) {
	for _, t := range s.opt.Registry.program().Tools {
		if t != nil && t.Info().Name == name {
			all = append(all, t)
		}
	}
	return all
}

// ownNamed returns the names of these tools.
func (s *Spec) ownNamed() []string {
	names := slices.Collect(maps.Keys(ownTools))
	for _, t := range s.opt.Registry.program().Tools {
		if t != nil {
			names = append(names, t.Info().Name)
		}
	}
	return names
}

// readLoop reads loop, strategy and steps.
func (s *Spec) readLoop(f fields) {
	kind, at := f.loop()
	own := s.opt.Registry.program().Loops
	switch {
	case at == nil:
	case own[kind] != nil && at.kind == text:
		s.loop, kind = own[kind], ""
	default:
		s.knownLoop(f, kind, at)
	}
	s.readFlow(f, kind == "workflow")
	s.readGraph(f, kind == "graph")
	s.json = f.word("strategy") == "json"
}

// loop reads the name of the loop, and where it stands.
func (f fields) loop() (name string, at *node) {
	switch at = f.n.get("loop"); {
	case at == nil || at.kind == 0:
		return "", nil
	case at.kind != text:
		f.problem(at.place, "loop is %v (write a name such as react)", at.kind)
		return "", nil
	}
	return at.text, at
}

// knownLoop reads one of Pawl's loops.
func (s *Spec) knownLoop(f fields, name string, at *node) {
	switch name {
	case "react":
		s.loop = pawl.ReAct{}
	case "single":
		s.loop = pawl.SingleCall{}
	case "workflow", "graph":
	default:
		registered := slices.Collect(maps.Keys(s.opt.Registry.program().Loops))
		f.problem(at.place, "loop is %q%s", name, expr.DidYouMean(name, slices.Concat(f.t.words("loop"), registered)))
	}
}

// readPolicies reads the names of registered policies.
func (s *Spec) readPolicies(f fields) {
	names, at := f.words("policies", "[house-rules]")
	registered := s.opt.Registry.program().Policies
	for i, name := range names {
		switch p := registered[name]; {
		case p == nil && len(registered) == 0:
			f.problem(at[i].place, "there is no policy %q: this program registers none (leave it out, or run the program that has it)", name)
		case p == nil:
			f.problem(at[i].place, "there is no policy %q%s", name, expr.DidYouMean(name, slices.Collect(maps.Keys(registered))))
		default:
			s.registered = append(s.registered, p)
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

// conditions are the options for conditions of specs.
func (r *Registry) conditions() *stop.Options { return &stop.Options{When: r.program().When} }

// Registered lists what the spec uses of the program that reads it, such as
// "tool quote", in the order of the spec.
func (s *Spec) Registered() []string {
	var all []string
	for _, name := range s.own {
		if ownTools[name] == nil {
			all = append(all, "tool "+name)
		}
	}
	if n := s.root.get("loop"); n != nil && n.kind == text && s.opt.Registry.program().Loops[n.text] != nil {
		all = append(all, "loop "+n.text)
	}
	for _, n := range s.root.all("policies.*") {
		all = append(all, "policy "+n.text)
	}
	for _, name := range slices.Sorted(maps.Keys(s.opt.Registry.program().When)) {
		if n := s.root.get("stop"); n != nil && strings.Contains(n.text, "when("+strconv.Quote(name)+")") {
			all = append(all, "condition "+name)
		}
	}
	return all
}
