package spec

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// handoff is an agent from another file that may get the conversation.
type handoff struct {
	path  string // absolute
	carry team.Carry
}

// readHandoffs reads the agents that the agent may hand over to. They may hand over in turn,
// also back, so the specs of a team are read once, and are those of the spec that is run.
func (s *Spec) readHandoffs(f fields) {
	n := f.value("handoffs", list, "a list of specs, such as [./billing.yaml]")
	if n == nil {
		return
	}
	if s.family.member() && s.family.team == nil {
		f.problem(n.place, "handoffs are for an agent that has a conversation, and %s uses this one as a tool or a step (leave them out)", filepath.Base(s.family.trail[len(s.family.trail)-2]))
		return
	}
	if s.flow != nil {
		f.problem(n.place, "handoffs are for an agent that chooses its calls (leave them out, or write loop: react)")
		return
	}
	if s.family.team == nil {
		s.family.team = map[string]*Spec{s.family.trail[0]: s}
	}
	for _, item := range n.items {
		var carry team.Carry
		file := item
		if item.kind == mapping {
			one := f.fields(handoffKeys, item)
			choose(one, "carry", &carry)
			file = one.value("agent", text, "a spec, such as ./billing.yaml")
		}
		if file == nil || file.kind == 0 {
			continue
		}
		if file.kind != text {
			f.problem(file.place, "a handoff is %v (name a spec, such as ./billing.yaml)", file.kind)
			continue
		}
		path := s.at(file.text)
		switch mate, known := s.family.team[path]; {
		case mate == s:
			f.problem(file.place, "handoff %s leads back here (an agent cannot hand over to itself)", file.text)
			continue
		case slices.ContainsFunc(s.handoffs, func(h handoff) bool { return h.path == path }):
			f.problem(file.place, "handoff %s is given twice (drop one)", file.text)
			continue
		case !known && !s.readMate(f, file, path):
			continue
		}
		s.handoffs = append(s.handoffs, handoff{path, carry})
	}
}

// at returns the absolute path of a file that the spec names.
func (s *Spec) at(file string) string {
	if file = filepath.Clean(file); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.base, file)
}

// readMate reads the spec of an agent of the team, and reports its problems at their places.
func (s *Spec) readMate(f fields, file *node, path string) bool {
	mates := s.family.team
	mates[path] = nil // it is being read
	mate := s.inner(f, file, path, "handoff", mates)
	if mate == nil {
		delete(mates, path)
		return false
	}
	if mate.Description == "" {
		f.problem(file.place, "%s has no description (say in it what it does, for the agents that hand over to it)", file.text)
	}
	for _, other := range slices.Sorted(maps.Keys(mates)) {
		if with := mates[other]; with != nil && with != mate && with.Name == mate.Name {
			f.problem(file.place, "%s is another agent called %s (give each of a team a name of its own)", file.text, mate.Name)
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
type crew struct {
	first  *Spec
	caller pawl.Model
	agents map[string]*pawl.Agent
}

// handOvers returns the tools by which the agent hands over. The first agent of the team
// assembles the others.
func (s *Spec) handOvers(c *crew) (tools []pawl.Tool) {
	for _, h := range s.handoffs {
		if c.agents[h.path] == nil {
			c.agents[h.path] = new(pawl.Agent)
		}
		tools = append(tools, team.Handoff(c.agents[h.path], &team.Options{Carry: h.carry}))
	}
	return tools
}

// assembleTeam assembles the other agents of a team. An agent without a model uses that of the
// first.
func (s *Spec) assembleTeam(r *Registry, d *document, c *crew) {
	for _, path := range slices.Sorted(maps.Keys(s.team)) {
		if c.agents[path] == nil {
			c.agents[path] = new(pawl.Agent)
		}
		mate, problems := s.team[path].assembleIn(r, c.caller, c)
		*c.agents[path] = mate
		d.problems = append(d.problems, problems...)
	}
}
