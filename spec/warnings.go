package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
)

// Warnings lists what does not keep a spec from running but is probably a
// mistake: a variable under env that is not set or too short to be kept secret,
// a model whose key is missing, that retires soon or does not take what the spec asks of it,
// outdated prices, a missing directory or program, a trigger without its folder or secret. A spec may be checked on a machine without its secrets and programs.
// The specs of its agents are included. Each call reads the environment and the
// files; r may be nil.
func (s *Spec) Warnings(r *Registry) []Problem {
	d := &document{text: s.doc.text, src: s.doc.src}
	for _, n := range s.root.all("env.*") {
		value, set := os.LookupEnv(n.text)
		if !set {
			d.problem(n.place, "the variable %s is not set (commands run without it)", n.text)
		} else if err := unsafe(n.text, value); err != nil {
			d.problem(n.place, "%v; commands get it, and their output in the log will contain it if they print it", err)
		}
	}
	token := func(at place, name, whose string) {
		if value := os.Getenv(name); name != "" && value == "" {
			d.problem(at, "the variable %s is not set (%s is called without a token)", name, whose)
		} else if err := unsafe(name, value); name != "" && err != nil {
			d.problem(at, "%v; the log will contain it if %s returns it", err, whose)
		}
	}
	for _, server := range s.servers {
		token(server.at, server.Token, "the MCP server "+server.Name)
		if o := server.OAuth; o != nil && o.Secret != "" && os.Getenv(o.Secret) == "" {
			d.problem(server.at, "the variable %s is not set (the MCP server %s cannot be called without the secret of its client)", o.Secret, server.Name)
		}
	}
	for _, r := range s.remotes {
		token(r.at, r.token, "the agent at "+r.url)
	}
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		d.problem(s.find("dir"), "there is no directory %s (commands run in it)", s.dir)
	}
	for _, n := range s.root.all("input.files.*") {
		if info, err := os.Stat(s.at(n.text)); err != nil || !info.Mode().IsRegular() {
			d.problem(n.place, "there is no file %s (a run without files of its own cannot start)", n.text)
		}
	}
	s.untriggered(d)
	s.programs(d, nil)
	s.relied(d, nil)
	for _, n := range slices.Concat(s.root.all("cage.files.read.*"), s.root.all("cage.files.write.*")) {
		path := s.witness(n.text)
		if _, err := os.Stat(path); err != nil {
			d.problem(n.place, "there is no %s (commands are refused until it is there)", filepath.Clean(path))
		}
	}
	for _, t := range s.root.all("tools.*") {
		if n, effect := t.get("max_parallel"), t.get("effect"); n != nil && t.get("command") != nil && (effect == nil || effect.text == "write") {
			d.problem(n.place, "max_parallel has no effect: %s is a write, and a write runs alone (if it is not a write, declare its effect)", t.name())
		}
	}
	s.unskilled(d)
	s.ungated(d)
	s.unheld(d)
	if l := s.shelved; l != nil {
		own := &document{text: l.doc.text, src: l.doc.src}
		used := map[string]bool{}
		for _, t := range s.tools {
			used[t.name] = true
		}
		l.programs(own, used)
		l.relied(own, used)
		d.problems = append(d.problems, own.problems...)
	}
	s.retiring(d, r)
	s.age(d, r)
	s.unsuited(d, r)
	if !s.family.member() {
		d.problems = append(d.problems, s.Unready(r)...)
	}
	for _, m := range s.members {
		d.problems = append(d.problems, m.Warnings(r)...)
	}
	return d.problems.sorted()
}

// ungated warns of patterns that gate no tool. Those of MCP servers are not known before a run.
func (s *Spec) ungated(d *document) {
	names, all := s.offered()
	for _, g := range s.root.all("approvals.gates.*") {
		if all && strings.ContainsAny(g.text, "*?") && !slices.ContainsFunc(names, func(name string) bool { return naming.Match(g.text, name) }) {
			d.problem(g.place, "%s matches no tool of the agent", g.text)
		}
	}
}

// offered returns the names of the tools of the spec and its agents, and whether these are all.
func (s *Spec) offered() (names []string, all bool) {
	all = len(s.servers) == 0
	for _, path := range []string{"tools.*.name", "tools.*.builtin.*", "tools.*.hosted"} {
		for _, n := range s.root.all(path) {
			names = append(names, n.text)
		}
	}
	for _, m := range s.members {
		of, whole := m.offered()
		names, all = append(append(names, m.Name), of...), all && whole
	}
	return names, all
}

// programs checks that programs that start with ./ exist, of the named tools,
// or of all if used is nil.
func (s *Spec) programs(d *document, used map[string]bool) {
	for _, h := range slices.Concat(s.root.all("observe"), s.root.all("goal.metric"), s.root.all("tools.*"), s.root.all("tools.*.mcp")) {
		argv := h.get("command")
		if used != nil && !used[h.name()] || argv == nil || len(argv.items) == 0 || !strings.HasPrefix(argv.items[0].text, "./") {
			continue
		}
		n := argv.items[0]
		switch info, err := os.Stat(filepath.Join(s.base, n.text)); {
		case err != nil:
			d.problem(n.place, "there is no file %s in the spec's directory", n.text)
		case info.IsDir() || info.Mode()&0o111 == 0:
			d.problem(n.place, "%s cannot be executed (chmod +x it, or name its interpreter first)", n.text)
		}
	}
}

// relied checks that the witnesses of the same tools are files.
func (s *Spec) relied(d *document, used map[string]bool) {
	for _, t := range s.root.all("tools.*") {
		if used != nil && !used[t.name()] {
			continue
		}
		for _, n := range t.all("witness.*") {
			switch info, err := os.Stat(s.witness(n.text)); {
			case err != nil:
				d.problem(n.place, "the witness %s is not there (it counts as missing; what makes it appear voids an approval)", n.text)
			case !info.Mode().IsRegular():
				d.problem(n.place, "the witness %s is not a file (calls that need approval would be refused)", n.text)
			}
		}
	}
}

// unskilled warns about skills whose tools the agent does not have.
func (s *Spec) unskilled(d *document) {
	if len(s.skills) == 0 || len(s.servers) > 0 {
		return // the servers may have the tools
	}
	a, _ := s.assemble(nil, nil)
	for _, one := range s.skills {
		for _, pattern := range one.Allowed {
			found := slices.ContainsFunc(a.Tools, func(t pawl.Tool) bool { return naming.Match(pattern, t.Info().Name) })
			if !found && !strings.HasPrefix(pattern, "__") {
				d.problem(s.find("skills"), "the skill %s needs the tool %s, which the agent does not have", one.Name, pattern)
			}
		}
	}
}
