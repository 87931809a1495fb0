package spec

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/tool"
)

// hyphenInput is the default input of such a loop, whose objective is in the
// prompt.
const hyphenInput = "Given the above, what is your next step?"

// alwaysThere are the tools that such a loop has without declaring them.
var alwaysThere = map[string]bool{
	"__complete__": true, "__pause_for_human__": true, "__store_memory__": true, "__retrieve_memory__": true, "__log_progress__": true,
}

// readHyphen reads a Hyphen loop document into the keys of a spec, and reports whether it is one.
func (s *Spec) readHyphen(root *node) bool {
	properties := root.get("properties")
	if mode := properties.get("mode"); mode != nil && mode.text == "foreach" && properties.get("objective") == nil {
		s.doc.problem(mode, "mode is %q, a step over the data of a Hyphen workflow and not an agent (a loop document that runs by itself has mode react)", mode.text)
		return false
	}
	s.doc.check(reference("hyphen"), root, "the Hyphen document")
	l := decoded[hyphenSpec](root).Properties
	s.n, s.Name, s.Input.Text, s.Strategy, s.Builtins = properties, agentNameOf(strings.TrimSuffix(filepath.Base(s.path), filepath.Ext(s.path)), "hyphen"), hyphenInput, pawl.StrategyJSON, true
	if l.Objective != "" {
		s.Prompt = "You are an AI agent. Your objective is:\n" + l.Objective
	}
	s.Model.Name, s.Model.Temperature = l.Model, l.Temperature
	s.Limits = pawl.Limits{Iterations: l.Iterations, Time: time.Duration(l.TimeoutMS) * time.Millisecond}
	s.Trace, s.resultKey = l.Trace, l.ResultKey
	// Hyphen counts all equal turns, Pawl those after the first.
	s.NoProgress = &progressSpec{Window: max(1, cmp.Or(l.OnStuck.Iterations, 3)-1), Then: l.OnStuck.Action}
	if l.OnStuck.Action == progress.Hint { // Hyphen ignores the hint with any other action
		s.NoProgress.Hint = l.OnStuck.Hint
	}
	s.dir = s.base
	s.cage = s.opt.around
	if len(l.Tools) > 0 {
		s.readHyphenTools(l.Tools, s.library())
	}
	if s.shelved != nil { // what is not used may lack its program
		for _, n := range s.shelved.n.all("tools") {
			n.items = slices.DeleteFunc(n.items, func(t *node) bool {
				return t.get("command") != nil && !slices.ContainsFunc(s.entries, func(e entry) bool { return e.name == t.name() })
			})
		}
	}
	return true
}

// agentNameOf returns the name of an agent by that of its file or tool, or another if no letter is in that.
func agentNameOf(name, other string) string {
	return cmp.Or(strings.Trim(strings.ToLower(notInName.ReplaceAllString(name, "-")), "-"), other)
}

// readHyphenTools finds the tools in the library.
func (s *Spec) readHyphenTools(tools []hyphenTool, library *Spec) {
	first := map[string]*node{}
	for _, w := range tools {
		name, at := cmp.Or(w.Name, w.ID), w.n
		for _, key := range []string{"name", "id"} {
			if n := w.n.get(key); n != nil {
				at = n
			}
		}
		if name == "" || w.Type == "" {
			continue
		}
		if other := first[name]; other != nil {
			s.doc.problem(at, "the tool %s is there twice (first in line %d)", name, other.place.line)
			continue
		}
		first[name] = at
		switch {
		case w.Type == "workflow":
			s.workflow(at, name)
		case alwaysThere[name]: // some documents declare these tools anyway
		case library != nil:
			s.action(at, name, library)
		case s.opt.Tools == "": // else the file cannot be read, which is reported
			s.doc.problem(at, "the action %s is looked up by name (give --tools FILE with a list of tools)", name)
		}
	}
}

// action adds a tool of the library by name, with its approval.
func (s *Spec) action(at *node, name string, library *Spec) {
	var names []string
	gated := func(as string) {
		for _, g := range library.gates {
			if g.tool == as {
				s.gates = append(s.gates, g)
			}
		}
	}
	for _, e := range library.entries {
		if e.name == name {
			if s.entries = append(s.entries, e); e.agent != nil {
				s.members = append(s.members, library.members...)
			}
			gated(name)
			return
		}
		names = append(names, e.name)
	}
	for _, server := range library.servers {
		if !strings.HasPrefix(name, server.Name+"__") {
			names = append(names, server.Name+"__TOOL")
			continue
		}
		i := slices.IndexFunc(s.servers, func(m MCPServer) bool { return m.Name == server.Name })
		if i < 0 {
			i = len(s.servers)
			s.servers = append(s.servers, server)
			gated(server.Name + "__*")
		}
		only := *at
		only.text = name
		s.servers[i].only = append(s.servers[i].only, &only)
		return
	}
	s.doc.problem(at, "there is no tool %s in %s%s", name, library.path, expr.DidYouMean(name, names))
}

// library reads the file of tools given in the options, a list as under tools
// in a spec; paths in it are relative to it. Nil: there is no file.
func (s *Spec) library() *Spec {
	if s.opt.Tools == "" {
		return nil
	}
	path, err := filepath.Abs(s.opt.Tools)
	text := ""
	if err == nil {
		text, err = s.family.read(path)
	}
	if err != nil {
		s.doc.problem(option("tools", ""), "%v", err)
		return nil
	}
	own, root := readDocument(s.opt.Tools, text)
	dir := filepath.Dir(path)
	l := &Spec{path: s.opt.Tools, base: dir, dir: dir, opt: Options{Registry: s.opt.Registry}, doc: own, family: s.family}
	l.n = &node{kind: mapping, src: own.src}
	l.cage = s.opt.around
	if root != nil {
		l.n.pairs = []pair{{&node{text: "tools"}, root}}
		own.check(definitions()["spec"].Properties["tools"], root, "the file of tools")
		l.Keys = decoded[Keys](l.n)
		l.readTools()
	}
	s.doc.problems = append(s.doc.problems, own.problems...)
	s.shelved = l
	return l
}

// workflow adds a workflow as a tool.
func (s *Spec) workflow(at *node, id string) {
	if s.opt.Workflows == "" {
		s.doc.problem(at, "the workflow %s is looked up by name (give --workflows DIR with a spec of that name)", id)
		return
	}
	if !naming.ToolName().MatchString(id) || strings.HasPrefix(id, "__") {
		s.doc.problem(at, "the workflow %q cannot be a tool of that name (use 1 to 64 letters, digits, _ or -)", id)
		return
	}
	dir, err := filepath.Abs(s.opt.Workflows)
	if err != nil {
		s.doc.problem(at, "the workflow %s: %v", id, err)
		return
	}
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		file := *at
		if file.text = filepath.Join(dir, id+ext); !s.family.has(file.text) {
			continue
		}
		w := &delegate{options: tool.AgentOptions{Name: id}}
		if w.spec = s.member(&file); w.spec == nil {
			return
		}
		if w.spec.Description == "" {
			w.options.Description = "Runs the workflow " + id + "."
		}
		s.entries = append(s.entries, entry{kind: ofSpec, name: id, at: at, agent: w})
		return
	}
	s.doc.problem(at, "there is no workflow %s in %s (put a spec there, as %s.yaml)", id, s.opt.Workflows, id)
}

// has reports whether a file exists.
func (m *family) has(path string) bool {
	if _, ok := m.files[path]; ok || m.known {
		return ok
	}
	_, err := os.Stat(path)
	return err == nil
}
