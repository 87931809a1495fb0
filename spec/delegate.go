package spec

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// delegate is an agent from another file, used as a tool.
type delegate struct {
	spec    *Spec
	options tool.AgentOptions
}

// family is shared by a spec and the specs of its agents.
type family struct {
	files map[string]string // documents by absolute path
	known bool              // files are complete, because they were recorded
	trail []string          // the chain of specs up to this one
	team  map[string]*Spec  // of the agents that hand over to each other, by absolute path; nil: the spec hands over to none
}

// member reports whether the spec is that of a sub-agent.
func (m *family) member() bool { return len(m.trail) > 1 }

// readDelegate reads an entry that uses an agent as a tool.
func (s *Spec) readDelegate(f fields, item *node, taken map[string]int) {
	kind, table := "agent", agentToolKeys
	if item.get("workflow") != nil {
		kind, table = "workflow", workflowToolKeys
	}
	f = f.titled("tool", table, item)
	file := f.value(kind, text, "a spec, such as ./researcher.yaml")
	if file == nil {
		return
	}
	var d delegate
	d.options = f.runOptions()
	f.flag("memory", &d.options.Remember)
	if d.options.Carry = f.word("carry"); d.options.Remember && d.options.Carry != "" {
		f.problem(item.get("carry").place, "carry continues the conversation of the caller, and memory that of the last call (leave one of them out)")
	}
	f.count("iterations", &d.options.Iterations, 1, "5")
	f.count("weight", &d.options.Weight, 1, "2")
	if d.spec = s.member(f, file); d.spec == nil {
		return
	}
	if kind == "workflow" && d.spec.flow == nil {
		f.problem(file.place, "%s is not a workflow (write agent: %s)", file.text, file.text)
	}
	name, at := d.options.Name, item.get("name")
	if at == nil {
		name, at = d.spec.Name, file
	}
	if d.spec.Description == "" && d.options.Description == "" {
		f.problem(file.place, "%s has no description (say in it, or here, what it does and when to use it)", file.text)
	}
	if f.names(name, at.place, taken) {
		s.gate(f, name)
		s.agents = append(s.agents, d)
	}
}

// member reads the spec of an agent, and reports its problems at their places.
func (s *Spec) member(f fields, file *node) *Spec {
	path := s.at(file.text)
	if slices.Contains(s.family.trail, path) {
		f.problem(file.place, "agent %s leads back here (an agent cannot be a tool of its own)", file.text)
		return nil
	}
	sub := s.inner(f, file, path, "agent", nil)
	if sub != nil {
		s.members = append(s.members, sub)
	}
	return sub
}

// inner reads the spec of another agent, of the team if there is one. what is what the spec
// calls it.
func (s *Spec) inner(f fields, file *node, path, what string, team map[string]*Spec) *Spec {
	document, err := s.family.read(path)
	if err != nil {
		if broken, ok := errors.AsType[*fs.PathError](err); ok {
			err = broken.Err // report the path as written in the spec
		}
		f.problem(file.place, "%s %s: %v (name a spec, relative to this one)", what, file.text, err)
		return nil
	}
	shown := file.text
	if !filepath.IsAbs(shown) {
		shown = filepath.Join(filepath.Dir(s.path), shown)
	}
	o := Options{Registry: s.opt.Registry, dir: filepath.Dir(path)}
	o.family = &family{s.family.files, s.family.known, append(slices.Clip(s.family.trail), path), team}
	if s.cage != nil {
		o.around = &around{s.dir, s.cage}
	}
	sub, problems := parse(shown, []byte(document), &o)
	f.problems = append(f.problems, problems...)
	if sub == nil || len(problems) > 0 {
		return nil
	}
	for _, name := range sub.Env {
		if !slices.Contains(s.Env, name) {
			s.beyond = append(s.beyond, name)
		}
	}
	s.beyond = append(s.beyond, sub.beyond...)
	for _, w := range sub.Webhooks {
		s.untold = append(s.untold, untold{w.URL, sub.path, w.at})
	}
	s.untold = append(s.untold, sub.untold...)
	for name, rate := range sub.Rates {
		if _, own := s.Rates[name]; !own {
			s.rate(name, rate)
		}
	}
	s.share(f, file, sub)
	if len(sub.Triggers) > 0 {
		f.problem(file.place, "%s has triggers, which start nothing for an agent of another one (move them to a spec that is served)", file.text)
	}
	return sub
}

// alone reports keys that only matter when a run is started directly, which a
// sub-agent's is not. Recorded specs are not checked, because their runs must
// be resumable.
func (s *Spec) alone(f fields) {
	if !s.family.member() || s.family.known || s.family.team != nil { // one of a team may also be run by itself
		return
	}
	caller := filepath.Base(s.family.trail[len(s.family.trail)-2])
	if n := f.n.get("input"); n != nil {
		f.problem(n.place, "input has no effect in an agent of %s, which says itself what to do (leave it out)", caller)
	}
	if n := f.n.get("upgrade"); n != nil {
		f.problem(n.place, "upgrade has no effect in an agent of %s, whose run its runs are part of (write it in %[1]s, or leave it out)", caller)
	}
	if n := f.n.get("thread"); n != nil {
		f.problem(n.place, "thread has no effect in an agent of %s, whose run its runs are part of (name the thread in %[1]s, or leave it out)", caller)
	}
}

// read reads a document once, so that the spec and its record have the same
// text.
func (m *family) read(path string) (string, error) {
	if text, ok := m.files[path]; ok {
		return text, nil
	}
	if m.known {
		return "", os.ErrNotExist
	}
	data, err := readSome(path)
	if err != nil {
		return "", err
	}
	m.files[path] = string(data)
	return string(data), nil
}

// name returns the tool's name.
func (d *delegate) name() string { return cmp.Or(d.options.Name, d.spec.Name) }

// tool returns the agent as a tool. An agent without a model uses its caller's.
func (d *delegate) tool(r *Registry, caller pawl.Model) (pawl.Tool, Problems) {
	agent, problems := d.spec.assemble(r, caller)
	return tool.Agent(agent, &d.options), problems
}
