package spec

import (
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// readHandoffs reads the agents that the agent may hand over to. They may hand over in turn,
// also back, so the specs of a team are read once, and are those of the spec that is run.
func (s *Spec) readHandoffs() {
	n := s.n.get("handoffs")
	switch {
	case n == nil || n.kind == 0:
		return
	case s.family.member() && s.family.team == nil:
		s.doc.problem(n, "handoffs are for an agent that has a conversation, and %s uses this one as a tool or a step (leave them out)", s.family.caller())
		return
	}
	first := s.family.team == nil
	if first {
		s.family.team = map[string]*Spec{s.family.trail[0]: s}
	}
	for i := range s.Handoffs {
		w := &s.Handoffs[i]
		if w.Agent == "" {
			continue
		}
		file, path := w.at("agent"), s.file(w.Agent)
		switch mate, known := s.family.team[path]; {
		case mate == s:
			s.doc.problem(file, "handoff %s leads back here (an agent cannot hand over to itself)", w.Agent)
		case slices.ContainsFunc(s.handoffs, func(h *handoffSpec) bool { return h.Agent == path }):
			s.doc.problem(file, "handoff %s is given twice (drop one)", w.Agent)
		case known || s.readMate(file, path):
			w.Agent = path
			s.handoffs = append(s.handoffs, w)
		}
	}
	if first {
		s.team = maps.Clone(s.family.team)
		delete(s.team, s.family.trail[0])
		s.members = append(s.members, s.mates()...)
	}
}

// readMate reads the spec of an agent of the team, and reports its problems at their places.
func (s *Spec) readMate(file *node, path string) bool {
	mates := s.family.team
	mates[path] = nil // it is being read
	mate := s.inner(file, path, "handoff", mates)
	if mate == nil {
		delete(mates, path)
		return false
	}
	if mate.Description == "" {
		s.doc.problem(file, "%s has no description (say in it what it does, for the agents that hand over to it)", file.text)
	}
	for _, other := range slices.Sorted(maps.Keys(mates)) {
		if with := mates[other]; with != nil && with != mate && with.Name == mate.Name {
			s.doc.problem(file, "%s is another agent called %s (give each of a team a name of its own)", file.text, mate.Name)
		}
	}
	return true
}

// mates returns the specs of the other agents of the team, in a fixed order.
func (s *Spec) mates() (all []*Spec) {
	for _, path := range slices.Sorted(maps.Keys(s.team)) {
		all = append(all, s.team[path])
	}
	return all
}

// A crew is the agents of a team while they are assembled, by path.
type crew map[string]*pawl.Agent

// newCrew returns the empty agents of the team that a spec began.
func newCrew(first *Spec) crew {
	c := crew{first.family.path(): new(pawl.Agent)}
	for path := range first.team {
		c[path] = new(pawl.Agent)
	}
	return c
}

// handOvers returns the tools by which the agent hands over.
func (s *Spec) handOvers(c crew) (tools []pawl.Tool) {
	for _, w := range s.handoffs {
		tools = append(tools, team.Handoff(c[w.Agent], &team.Options{Carry: w.Carry}))
	}
	return tools
}
