package spec

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// shelf is a file of tools, as it was read.
type shelf struct {
	Path     string `json:"path"`
	Dir      string `json:"dir"`
	Document string `json:"document"`
}

// openShelf reads a file of tools.
func openShelf(path string) (*shelf, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return &shelf{path, dir, string(data)}, nil
}

// library reads the file of tools that was given from outside, a list as it
// stands under tools in a spec; paths in it are relative to it. Nil: there is
// none, or it is of no form.
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

// workflow adds a workflow that is a tool.
func (s *Spec) workflow(d *document, at *node, id string) {
	if s.opt.Workflows == "" {
		d.problem(at.place, "the workflow %s is looked up by name (give --workflows DIR with a spec of that name)", id)
		return
	}
	if !filepath.IsLocal(id) || filepath.Base(id) != id {
		d.problem(at.place, "the workflow %q is no name of a file (write one such as refund)", id)
		return
	}
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		path := filepath.Join(s.opt.Workflows, id+ext)
		if _, err := os.Stat(path); err == nil {
			if err := s.addWorkflow(id, path); err != nil {
				d.problem(at.place, "%v", err)
			}
			return
		}
	}
	d.problem(at.place, "there is no workflow %s in %s (put a spec there, as %s.yaml)", id, s.opt.Workflows, id)
}

// addWorkflow makes a tool of the spec in a file.
func (s *Spec) addWorkflow(id, path string) error {
	return fmt.Errorf("the workflow %s (%s) cannot be a tool in this version (make an action of it)", id, path)
}
