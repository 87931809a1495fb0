package spec

import (
	"errors"
	"os"
	"os/exec"
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
func (s *Spec) Warnings(r *Registry) []Problem { return s.warnings(r, false) }

// warnings is Warnings under the data-flow guard of another spec, or of none.
func (s *Spec) warnings(r *Registry, dataFlow bool) []Problem {
	dataFlow = dataFlow || s.guarded()
	d := &document{}
	if s.Demo(r) {
		d.problem(s.at("model"), "no model is named and no key is set, so the script %s answers (set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY)", s.Model.Demo)
	}
	s.lacks(d)
	if s.shelved != nil {
		s.shelved.lacks(d)
	}
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		d.problem(s.at("dir"), "there is no directory %s (commands run in it)", s.dir)
	}
	for _, t := range s.n.all("tools.*") {
		if n, effect := t.get("max_parallel"), t.get("effect"); n != nil && t.get("command") != nil && (effect == nil || effect.text == "write") {
			d.problem(n, "max_parallel has no effect: %s is a write, and a write runs alone (if it is not a write, declare its effect)", t.name())
		}
	}
	s.unskilled(d)
	s.ungated(d)
	s.unheld(d)
	if dataFlow {
		s.laundered(d)
	}
	s.unfit(d, r)
	if !s.family.member() {
		d.problems = append(d.problems, s.Unready(r)...)
	}
	for _, m := range s.members {
		d.problems = append(d.problems, m.warnings(r, dataFlow)...)
	}
	return d.problems.sorted()
}

// lacks warns of files, programs and variables that the spec names and that are not there.
func (s *Spec) lacks(d *document) {
	for path, wrong := range lacking {
		for _, n := range s.n.all(path) {
			if says := wrong(s, n.text); says != "" {
				d.problem(n, "%s", says)
			}
		}
	}
}

// lacking are the files and variables that a spec names, by their paths in it, with what is wrong
// with each; empty: nothing.
var lacking = map[string]func(s *Spec, name string) string{
	"env.*":                         unset("commands run without it", "commands get it, and their output in the log will contain it if they print it"),
	"tools.*.mcp.token":             unset("the MCP server is called without a token", "the log will contain it if the server returns it"),
	"tools.*.a2a.token":             unset("the agent is called without a token", "the log will contain it if the agent returns it"),
	"tools.*.mcp.auth.oauth.secret": unset("the MCP server cannot be called without the secret of its client", "the log will contain it if the server returns it"),
	"triggers.*.secret": func(s *Spec, name string) string {
		if s.family.member() || os.Getenv(name) != "" {
			return ""
		}
		return "the variable " + name + " is not set (no server serves the webhook without it)"
	},
	"input.files.*": func(s *Spec, name string) string {
		if info, err := os.Stat(s.file(name)); err == nil && info.Mode().IsRegular() {
			return ""
		}
		return "there is no file " + name + " (a run without files of its own cannot start)"
	},
	"triggers.*.watch": func(s *Spec, name string) string {
		if _, err := os.Stat(s.file(name)); err == nil || s.family.member() { // only a spec that is served starts runs
			return ""
		}
		return "there is no folder " + s.file(name) + " (nothing starts until there is)"
	},
	"cage.files.read.*":     uncaged,
	"cage.files.write.*":    uncaged,
	"observe.command.0":     unprogrammed,
	"goal.metric.command.0": unprogrammed,
	"tools.*.command.0":     unprogrammed,
	"tools.*.mcp.command.0": unprogrammed,
	"tools.*.witness.*": func(s *Spec, name string) string {
		switch info, err := os.Stat(s.witness(name)); {
		case err != nil:
			return "the witness " + name + " is not there (it counts as missing; what makes it appear voids an approval)"
		case !info.Mode().IsRegular():
			return "the witness " + name + " is not a file (calls that need approval would be refused)"
		}
		return ""
	},
}

// unset warns of a variable that is not set, and of one that is too short to be kept secret.
func unset(without, kept string) func(*Spec, string) string {
	return func(_ *Spec, name string) string {
		value, set := os.LookupEnv(name)
		if !set {
			return "the variable " + name + " is not set (" + without + ")"
		}
		if err := unsafe(name, value); err != nil {
			return err.Error() + "; " + kept
		}
		return ""
	}
}

// unprogrammed warns of a program that is not in PATH, and of one of the spec's directory that cannot be run.
func unprogrammed(s *Spec, name string) string {
	_, missing := exec.LookPath(name)
	switch info, err := os.Stat(filepath.Join(s.base, name)); {
	case errors.Is(missing, exec.ErrNotFound):
		return "there is no program " + name + " in PATH"
	case !strings.HasPrefix(name, "./"):
	case err != nil:
		return "there is no file " + name + " in the spec's directory"
	case info.IsDir() || info.Mode()&0o111 == 0:
		return name + " cannot be executed (chmod +x it, or name its interpreter first)"
	}
	return ""
}

func uncaged(s *Spec, name string) string {
	path := filepath.Clean(s.witness(name))
	if _, err := os.Stat(path); err != nil {
		return "there is no " + path + " (commands are refused until it is there)"
	}
	return ""
}

// ungated warns of patterns that gate no tool. Those of MCP servers are not known before a run.
func (s *Spec) ungated(d *document) {
	names, all := s.offered()
	for _, g := range s.n.all("approvals.gates.*") {
		if all && strings.ContainsAny(g.text, "*?") && !slices.ContainsFunc(names, func(name string) bool { return naming.Match(g.text, name) }) {
			d.problem(g, "%s matches no tool of the agent", g.text)
		}
	}
}

// offered returns the names of the tools of the spec and its agents, and whether these are all.
func (s *Spec) offered() (names []string, all bool) {
	all = len(s.servers) == 0
	for _, path := range []string{"tools.*.name", "tools.*.builtin.*", "tools.*.hosted"} {
		for _, n := range s.n.all(path) {
			names = append(names, n.text)
		}
	}
	for _, m := range s.members {
		of, whole := m.offered()
		names, all = append(append(names, m.Name), of...), all && whole
	}
	return names, all
}

// unskilled warns about skills whose tools the agent does not have.
func (s *Spec) unskilled(d *document) {
	if len(s.skills) == 0 || len(s.servers) > 0 {
		return // the servers may have the tools
	}
	a, _ := s.assemble(nil, nil, nil)
	for _, one := range s.skills {
		for _, pattern := range one.Allowed {
			found := slices.ContainsFunc(a.Tools, func(t pawl.Tool) bool { return naming.Match(pattern, t.Info().Name) })
			if !found && !strings.HasPrefix(pattern, "__") {
				d.problem(s.at("skills"), "the skill %s needs the tool %s, which the agent does not have", one.Name, pattern)
			}
		}
	}
}
