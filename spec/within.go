package spec

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/tool"
)

// around is the cage around a spec's agents, which is that of the spec that
// uses them.
type around struct {
	Dir  string     `json:"dir"` // directory of its files, absolute
	Cage *tool.Cage `json:"cage"`
}

// to returns the cage with its files relative to another directory.
func (a *around) to(dir string) *tool.Cage {
	if a == nil {
		return nil
	}
	return relocate(a.Cage, a.Dir, dir)
}

func relocate(c *tool.Cage, from, to string) *tool.Cage {
	if c == nil {
		return nil
	}
	moved := *c
	moved.Within = relocate(c.Within, from, to)
	if c.Files == nil {
		return &moved
	}
	there := func(names []string) (all []string) {
		for _, name := range names {
			if !filepath.IsAbs(name) {
				name = filepath.Join(from, name)
				if rel, err := filepath.Rel(to, name); err == nil {
					name = rel
				}
			}
			all = append(all, name)
		}
		return all
	}
	moved.Files = &tool.CageFiles{Read: there(c.Files.Read), Write: there(c.Files.Write)}
	return &moved
}

// within combines the spec's cage with the one around it: missing parts are
// inherited, and others may only be tighter. It resolves links as they are now;
// when a command starts, the kernel enforces both cages.
func (s *Spec) within(f fields) {
	outer := s.opt.around.to(s.dir)
	switch {
	case outer == nil:
		return
	case s.cage == nil:
		s.cage = outer
		return
	}
	const says = "the cage of the agent that has this one work"
	own, n := s.cage, f.n.get("cage")
	in := outer.Inner()
	if in.Memory > 0 && own.Memory > in.Memory {
		f.problem(n.get("memory").place, "memory is more than the %d bytes in %s (give no more, or leave it out)", in.Memory, says)
	}
	if in.Processes > 0 && own.Processes > in.Processes {
		f.problem(n.get("processes").place, "processes is more than the %d in %s (give no more, or leave it out)", in.Processes, says)
	}
	if own.Files != nil && in.Files != nil {
		files := n.get("files")
		s.beneath(f, files.get("write"), "write", in.Files[0].Write, says)
		s.beneath(f, files.get("read"), "read", slices.Concat(in.Files[0].Read, in.Files[0].Write), says)
	}
	own.Within = outer
}

// beneath requires that the files of a cage are among those of the cage around
// it.
func (s *Spec) beneath(f fields, named *node, key string, roots []string, says string) {
	if named == nil {
		return
	}
	for _, n := range named.items {
		path := led(s.witness(n.text))
		if !slices.ContainsFunc(roots, func(root string) bool {
			rel, err := filepath.Rel(led(s.witness(root)), path)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		}) {
			f.problem(n.place, "%s has %s, which %s does not let it %s (name what is in that one, or leave files out)", key, n.text, says, key)
		}
	}
}

// led resolves the existing part of a path.
func led(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(led(dir), filepath.Base(path))
	}
	return path
}

// Cages describes what the kernel of this machine enforces for the spec's
// commands and MCP servers, and for those of its agents if that differs; empty:
// nothing beyond the user's rights.
func (s *Spec) Cages() (all []string) {
	if s.cage != nil {
		who := "commands"
		if slices.ContainsFunc(s.servers, func(m MCPServer) bool { return m.Cage != nil }) {
			who += " and MCP servers"
		}
		all = append(all, who+" are caged: "+s.cage.Describe())
	}
	add := func(name string, of *Spec) {
		for i, said := range of.Cages() {
			if i == 0 && of.cage != nil && s.cage != nil && of.cage.Describe() == s.cage.Describe() {
				continue
			}
			if said = name + ": " + said; !slices.Contains(all, said) { // several steps may run the same agent
				all = append(all, said)
			}
		}
	}
	for _, d := range s.agents {
		add(cmp.Or(d.options.Name, d.spec.Name), d.spec)
	}
	if s.flow != nil {
		for _, of := range s.flow.runs {
			add(of.Name, of)
		}
	}
	return all
}

// cageNode returns the cage as written in an independent spec.
func (s *Spec) cageNode() *node {
	in := s.cage.Inner()
	n := &node{kind: mapping}
	if in.Files != nil {
		files := &node{kind: mapping}
		for key, names := range map[string][]string{"read": in.Files[0].Read, "write": in.Files[0].Write} {
			all := &node{kind: list}
			for _, name := range names {
				all.items = append(all.items, textNode(filepath.Clean(name))) // ./ would mean the directory of that spec
			}
			if len(all.items) > 0 {
				files.put(key, all)
			}
		}
		slices.SortFunc(files.pairs, func(a, b pair) int { return strings.Compare(a.key, b.key) })
		n.put("files", files)
	}
	if in.NoNetwork {
		n.put("network", textNode("none"))
	}
	if in.Memory > 0 {
		n.put("memory", numberNode(int(in.Memory)))
	}
	if in.Processes > 0 {
		n.put("processes", numberNode(in.Processes))
	}
	return n
}
