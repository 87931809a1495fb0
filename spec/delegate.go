package spec

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
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

// path returns the path of the spec itself.
func (m *family) path() string { return m.trail[len(m.trail)-1] }

// caller returns the name of the file of the spec that uses this one.
func (m *family) caller() string { return filepath.Base(m.trail[len(m.trail)-2]) }

// readDelegate reads an entry that uses an agent as a tool.
func (s *Spec) readDelegate(in mark, kind string, o tool.AgentOptions, approval *whenSpec) {
	if o.Remember && o.Carry != "" {
		s.doc.problem(in.at("carry"), "carry continues the conversation of the caller, and memory that of the last call (leave one of them out)")
	}
	file := in.at(kind)
	if file.kind != text {
		return
	}
	d := &delegate{s.member(file), o}
	if d.spec == nil {
		return
	}
	s.onlyWorkflow(d.spec, kind, file)
	at := file
	if o.Name != "" {
		at = in.at("name")
	}
	if d.spec.Description == "" && o.Description == "" {
		s.doc.problem(file, "%s has no description (say in it, or here, what it does and when to use it)", file.text)
	}
	s.add(entry{kind: ofSpec, name: cmp.Or(o.Name, d.spec.Name), at: at, agent: d}, approval)
}

func (s *Spec) onlyWorkflow(sub *Spec, kind string, file *node) {
	if kind == "workflow" && sub.flow == nil {
		s.doc.problem(file, "%s is not a workflow (write agent: %s)", file.text, file.text)
	}
}

// member reads the spec of an agent, and reports its problems at their places.
func (s *Spec) member(file *node) *Spec {
	path := s.file(file.text)
	if slices.Contains(s.family.trail, path) {
		s.doc.problem(file, "agent %s leads back here (an agent cannot be a tool of its own)", file.text)
		return nil
	}
	sub := s.inner(file, path, "agent", nil)
	if sub != nil {
		s.members = append(s.members, sub)
	}
	return sub
}

// inner reads the spec of another agent, of the team if there is one. what is what the spec
// calls it.
func (s *Spec) inner(file *node, path, what string, team map[string]*Spec) *Spec {
	document, err := s.family.read(path)
	if err != nil {
		s.doc.problem(file, "%s %s: %v (name a spec, relative to this one)", what, file.text, display.WithoutPath(err))
		return nil
	}
	shown := file.text
	if !filepath.IsAbs(shown) {
		shown = filepath.Join(filepath.Dir(s.path), shown)
	}
	o := Options{Registry: s.opt.Registry, Trusted: s.opt.Trusted, dir: filepath.Dir(path)}
	o.family = &family{s.family.files, s.family.known, append(slices.Clip(s.family.trail), path), team}
	o.around = absolute(s.cage, s.dir)
	sub, problems := parse(shown, []byte(document), &o)
	s.doc.problems = append(s.doc.problems, problems...)
	if sub == nil || len(problems) > 0 {
		return nil
	}
	for _, b := range sub.Budgets { // they hold for the whole run
		if !slices.Contains(s.Budgets, b) {
			s.Budgets = s.doc.addBudget(s.Budgets, b, file)
		}
	}
	if len(sub.Triggers) > 0 {
		s.doc.problem(file, "%s has triggers, which start nothing for an agent of another one (move them to a spec that is served)", file.text)
	}
	return sub
}

// alone reports keys that only matter when a run is started directly, which a
// sub-agent's is not. Recorded specs are not checked, because their runs must
// be resumable.
func (s *Spec) alone() {
	if !s.family.member() || s.family.known || s.family.team != nil { // one of a team may also be run by itself
		return
	}
	for key, why := range map[string]string{
		"input":   "which says itself what to do (leave it out)",
		"upgrade": "whose run its runs are part of (write it in %[2]s, or leave it out)",
		"thread":  "whose run its runs are part of (name the thread in %[2]s, or leave it out)",
	} {
		if n := s.n.get(key); n != nil {
			s.doc.problem(n, "%[1]s has no effect in an agent of %[2]s, "+why, key, s.family.caller())
		}
	}
}

// file returns the absolute path of a file that the spec names.
func (s *Spec) file(name string) string {
	if name = filepath.Clean(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.base, name)
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
	if err == nil {
		m.files[path] = string(data)
	}
	return string(data), err
}

// tool returns the agent as a tool. An agent without a model uses its caller's.
func (d *delegate) tool(r *Registry, caller pawl.Model) (pawl.Tool, Problems) {
	agent, problems := d.spec.assemble(r, caller, nil)
	return tool.Agent(agent, &d.options), problems
}
