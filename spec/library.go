package spec

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl/tool"
)

// shelf is a file of tools that has been read.
type shelf struct {
	Path     string `json:"path"`
	Dir      string `json:"dir"`
	Document string `json:"document"`
}

// openShelf reads a file of tools.
func openShelf(path string) (*shelf, error) {
	data, err := readSome(path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return &shelf{path, dir, string(data)}, nil
}

// library reads the file of tools given in the options, a list as under tools
// in a spec; paths in it are relative to it. Nil: there is no file, or its
// syntax is invalid.
func (s *Spec) library(d *document) *Spec {
	if s.opt.shelf == nil {
		if s.opt.Tools == "" {
			return nil
		}
		opened, err := openShelf(s.opt.Tools)
		if err != nil {
			d.about(true, "tools", place{}, "%v", err)
			return nil
		}
		s.opt.shelf = opened
	}
	from := s.opt.shelf
	own, root := readDocument(from.Path, from.Document)
	l := &Spec{path: from.Path, base: from.Dir, dir: from.Dir, Env: s.Env, opt: Options{Registry: s.opt.Registry}, doc: own, root: root, family: s.family}
	l.cage = s.opt.around.to(l.dir)
	switch {
	case root == nil || root.kind == 0:
	case root.kind != list:
		own.problem(root.place, "the file of tools is %v (write a list of tools, each with name, description and command)", root.kind)
	default:
		l.root = &node{kind: mapping, place: root.place, pairs: []pair{{"tools", root.place, root}}}
		l.readTools(fields{own, l.root, specKeys})
	}
	d.problems = append(d.problems, own.problems...)
	s.shelved = l
	return l
}

// workflow adds a workflow as a tool.
func (s *Spec) workflow(d *document, at *node, id string) {
	if s.opt.Workflows == "" {
		d.problem(at.place, "the workflow %s is looked up by name (give --workflows DIR with a spec of that name)", id)
		return
	}
	if !toolName.MatchString(id) || strings.HasPrefix(id, "__") {
		d.problem(at.place, "the workflow %q cannot be a tool of that name (use 1 to 64 letters, digits, _ or -)", id)
		return
	}
	dir, err := filepath.Abs(s.opt.Workflows)
	if err != nil {
		d.problem(at.place, "the workflow %s: %v", id, err)
		return
	}
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		path := filepath.Join(dir, id+ext)
		if !s.family.has(path) {
			continue
		}
		w := delegate{options: tool.AgentOptions{Name: id}}
		if w.spec = s.member(fields{d, nil, nil}, &node{kind: text, text: path, place: at.place}); w.spec == nil {
			return
		}
		if w.spec.Description == "" {
			w.options.Description = "Runs the workflow " + id + "."
		}
		s.agents = append(s.agents, w)
		return
	}
	d.problem(at.place, "there is no workflow %s in %s (put a spec there, as %s.yaml)", id, s.opt.Workflows, id)
}

// has reports whether a file exists.
func (m *family) has(path string) bool {
	if _, ok := m.files[path]; ok || m.known {
		return ok
	}
	_, err := os.Stat(path) //nolint:gosec // the caller that names the file may read it
	return err == nil
}
