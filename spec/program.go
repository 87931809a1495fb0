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
	if r := s.opt.Registry; r != nil {
		for _, t := range r.Tools {
			if t.Info().Name == name {
				return t
			}
		}
	}
	return nil
}

// ownNamed returns the names of these tools.
func (s *Spec) ownNamed() []string {
	names := slices.Collect(maps.Keys(ownTools))
	if r := s.opt.Registry; r != nil {
		for _, t := range r.Tools {
			names = append(names, t.Info().Name)
		}
	}
	return names
}

// readLoop reads loop, strategy and steps.
func (s *Spec) readLoop(f fields) {
	words, loop := f.t.words("loop"), 0
	n := f.value("loop", text, "react, or the name of a loop of the program")
	if n != nil {
		loop = slices.Index(words, n.text) + 1
	}
	s.loop = []pawl.Loop{nil, pawl.ReAct{}, pawl.SingleCall{}, nil, nil}[loop]
	if n != nil && loop == 0 {
		if s.loop = s.opt.Registry.program().Loops[n.text]; s.loop == nil {
			registered := slices.Collect(maps.Keys(s.opt.Registry.program().Loops))
			f.problem(n.place, "loop is %q%s", n.text, expr.DidYouMean(n.text, slices.Concat(words, registered)))
		}
	}
	kind := ""
	if loop > 0 {
		kind = words[loop-1]
	}
	s.readFlow(f, kind == "workflow")
	s.readGraph(f, kind == "graph")
	var strategy int
	f.choice("strategy", &strategy)
	s.json = strategy == 2
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
	if n := s.root.get("loop"); n != nil && !slices.Contains(specKeys.words("loop"), n.text) {
		all = append(all, "loop "+n.text)
	}
	if n := s.root.get("policies"); n != nil {
		for _, item := range n.items {
			all = append(all, "policy "+item.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.opt.Registry.program().When)) {
		if n := s.root.get("stop"); n != nil && strings.Contains(n.text, "when("+strconv.Quote(name)+")") {
			all = append(all, "condition "+name)
		}
	}
	return all
}
