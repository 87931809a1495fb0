package spec

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// absolute returns a cage whose files are relative to a directory with their whole paths, for the
// agents of a spec.
func absolute(c *tool.Cage, dir string) *tool.Cage {
	if c == nil || c.Files == nil {
		return c
	}
	whole := func(names []string) (all []string) {
		for _, name := range names {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			all = append(all, name)
		}
		return all
	}
	moved := *c
	moved.Files = &tool.CageFiles{Read: whole(c.Files.Read), Write: whole(c.Files.Write)}
	return &moved
}

// readCage makes the cage of the spec's commands: its own within the one around it. Missing parts
// are inherited, and others may only be tighter. It resolves links as they are now;
// when a command starts, the kernel enforces both cages.
func (s *Spec) readCage() {
	outer, w := s.opt.around, s.Cage
	if s.cage = outer; w == nil {
		return
	}
	own := *w
	s.cage, own.Within = &own, outer
	if w.Files != nil {
		s.beside(w.Files.Read)
		s.beside(w.Files.Write)
	}
	if outer == nil {
		return
	}
	const says = "the cage of the agent that has this one work"
	in := outer.Inner()
	if in.Memory > 0 && w.Memory > in.Memory {
		s.doc.problem(s.at("cage", "memory"), "memory is more than the %d bytes in %s (give no more, or leave it out)", in.Memory, says)
	}
	if in.Processes > 0 && w.Processes > in.Processes {
		s.doc.problem(s.at("cage", "processes"), "processes is more than the %d in %s (give no more, or leave it out)", in.Processes, says)
	}
	if w.Files == nil || in.Files == nil {
		return
	}
	for key, roots := range map[string][]string{"write": in.Files[0].Write, "read": slices.Concat(in.Files[0].Read, in.Files[0].Write)} {
		for _, n := range s.n.all("cage.files." + key + ".*") {
			if !s.beneath(n.text, roots) {
				s.doc.problem(n, "%s has %s, which %s does not let it %s (name what is in that one, or leave files out)", key, n.text, says, key)
			}
		}
	}
}

// beneath reports whether a file is one of some files, or in them.
func (s *Spec) beneath(name string, roots []string) bool {
	path := led(s.witness(name))
	return slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(led(s.witness(root)), path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	})
}

// checkCage reports the parts of the cage that this machine cannot enforce, if
// the spec runs commands.
func (s *Spec) checkCage(d *document, a pawl.Agent) {
	caged := slices.ContainsFunc(a.Tools, func(t pawl.Tool) bool { return t.Info().Cage != "" })
	if s.cage == nil || !caged && s.Observe == nil && s.Instruct == nil && s.Goal == nil {
		return
	}
	if err := s.cage.Missing(); err != nil {
		for _, one := range parts(err) {
			d.problem(s.at("cage"), "%s", strings.TrimPrefix(one.Error(), "its "))
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
	for _, m := range s.members {
		for i, said := range m.Cages() {
			if i == 0 && m.Cage == nil && s.cage != nil { // the same
				continue
			}
			if said = m.Name + ": " + said; !slices.Contains(all, said) { // several steps may run the same agent
				all = append(all, said)
			}
		}
	}
	return all
}
