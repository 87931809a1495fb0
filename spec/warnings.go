package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/glob"
	"github.com/pawl-run/pawl/internal/prices"
)

// Warnings lists what does not keep a spec from running but is probably a
// mistake: a variable under env that is not set or too short to be kept secret,
// a model whose key is missing, a missing directory or program, outdated
// prices, a trigger without its folder or secret. A spec may be checked on a machine without its secrets and programs.
// The specs of its agents are included. Each call reads the environment and the
// files; r may be nil.
func (s *Spec) Warnings(r *Registry) []Problem {
	d := &document{text: s.doc.text, src: s.doc.src}
	if env := s.root.get("env"); env != nil {
		for _, n := range env.items {
			value, set := os.LookupEnv(n.text)
			if !set {
				d.problem(n.place, "the variable %s is not set (commands run without it)", n.text)
			} else if err := unsafe(n.text, value); err != nil {
				d.problem(n.place, "%v; commands get it, and their output in the log will contain it if they print it", err)
			}
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
	if info, err := os.Stat(s.project); err != nil || !info.IsDir() {
		d.problem(s.find("dir"), "there is no directory %s (commands run in it)", s.project)
	}
	if files := s.root.get("input").get("files"); files != nil {
		for _, n := range files.items {
			if info, err := os.Stat(s.at(n.text)); err != nil || !info.Mode().IsRegular() {
				d.problem(n.place, "there is no file %s (a run without files of its own cannot start)", n.text)
			}
		}
	}
	s.untriggered(d)
	s.programs(d, nil)
	s.relied(d, nil)
	s.cageFiles(d)
	s.unskilled(d)
	s.unparallel(d)
	s.unearly(d)
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
	if r != nil && !(s.model.name == "" && s.family.member()) {
		s.age(d, r)
	}
	if !s.family.member() {
		d.problems = append(d.problems, s.Unready(r)...)
	}
	for _, m := range s.members {
		d.problems = append(d.problems, m.Warnings(r)...)
	}
	return d.problems.sorted()
}

// unparallel warns about a parallel limit of a command that has no effect,
// because the command is a write.
func (s *Spec) unparallel(d *document) {
	tools := s.root.get("tools")
	if tools == nil {
		return
	}
	for _, t := range tools.items {
		n, effect := t.get("max_parallel"), t.get("effect")
		if n != nil && t.get("command") != nil && (effect == nil || effect.text == "write") {
			d.problem(n.place, "max_parallel has no effect: %s is a write, and a write runs alone (if it is not a write, declare its effect)", t.name())
		}
	}
}

// ungated warns of patterns that gate no tool. Those of MCP servers are not known before a run.
func (s *Spec) ungated(d *document) {
	names, all := s.offered()
	if gates := s.root.get("approvals").get("gates"); gates != nil && all {
		for _, g := range gates.items {
			if strings.ContainsAny(g.text, "*?") && !slices.ContainsFunc(names, func(name string) bool { return glob.Match(g.text, name) }) {
				d.problem(g.place, "%s gates no tool there is", g.text)
			}
		}
	}
}

// offered returns the names of the tools of the spec and its agents, and whether these are all.
func (s *Spec) offered() (names []string, all bool) {
	all = len(s.servers) == 0
	if tools := s.root.get("tools"); tools != nil {
		for _, t := range tools.items {
			names = append(names, t.name())
			if own := t.get("builtin"); own != nil {
				for _, n := range own.items {
					names = append(names, n.text)
				}
			}
			if n := t.get("hosted"); n != nil {
				names = append(names, n.text)
			}
		}
	}
	for _, m := range s.members {
		of, whole := m.offered()
		names, all = append(append(names, m.Name), of...), all && whole
	}
	return names, all
}

// unearly warns that no call starts early, because something may stop it.
func (s *Spec) unearly(d *document) {
	if !s.earlyReads {
		return
	}
	stops := []*node{s.root.get("guard"), s.root.get("judge"), s.root.get("hooks"), s.root.get("policies"), s.root.get("approvals").get("gates")}
	if tools := s.root.get("tools"); tools != nil {
		for _, t := range tools.items {
			stops = append(stops, t.get("approval"))
		}
	}
	for _, n := range stops {
		if n != nil {
			d.problem(s.find("early_reads"), "early_reads has no effect, because what line %d declares may stop a call (leave one of them out)", n.place.line)
			return
		}
	}
}

// programs checks that programs that start with ./ exist, of the named tools,
// or of all if used is nil.
func (s *Spec) programs(d *document, used map[string]bool) {
	holders := []*node{s.root.get("observe"), s.root.get("goal").get("metric")}
	if tools := s.root.get("tools"); tools != nil {
		holders = append(holders, tools.items...)
		for _, item := range tools.items {
			holders = append(holders, item.get("mcp"))
		}
	}
	for _, h := range holders {
		argv := h.get("command")
		if used != nil && !used[h.name()] {
			continue
		}
		if argv == nil || len(argv.items) == 0 || !strings.HasPrefix(argv.items[0].text, "./") {
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

// relied checks that the witnesses of the same tools exist.
func (s *Spec) relied(d *document, used map[string]bool) {
	tools := s.root.get("tools")
	if tools == nil {
		return
	}
	for _, t := range tools.items {
		named := t.get("witness")
		if named == nil || used != nil && !used[t.name()] {
			continue
		}
		for _, n := range named.items {
			switch info, err := os.Stat(s.witness(n.text)); {
			case err != nil:
				d.problem(n.place, "the witness %s is not there (it counts as missing; what makes it appear voids an approval)", n.text)
			case !info.Mode().IsRegular():
				d.problem(n.place, "the witness %s is not a file (calls that need approval would be refused)", n.text)
			}
		}
	}
}

// age warns if the price of the model comes from an outdated table.
func (s *Spec) age(d *document, r *Registry) {
	given, dir := s.modelName(r)
	r = s.known(r)
	provider, name, err := r.resolve(given, dir)
	if given == "" || err != nil || !s.outdated(r, provider, name) {
		return
	}
	model, err := r.Models[provider](name)
	if err != nil || model == nil {
		return
	}
	if _, own := s.price(given, name, describe(model)); own {
		return
	}
	became := "costs are estimates"
	if s.stale == staleTokenOnly {
		became = "nothing is priced, and a limit on cost has no effect"
	}
	d.problem(s.model.place, "the price of %s is of %s, more than 90 days ago, so %s (give it under prices)", given, prices.AsOf().Format("2006-01-02"), became)
}
