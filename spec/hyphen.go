package spec

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/progress"
)

// isHyphen reports whether a document is a Hyphen loop rather than a spec.
func isHyphen(root *node) bool {
	t := root.get("type")
	return t != nil && t.text == "loop" && root.get("properties") != nil
}

// hyphenInput is the default input of such a loop, whose objective is in the
// prompt.
const hyphenInput = "Given the above, what is your next step?"

// alwaysThere are the tools that such a loop has without declaring them.
var alwaysThere = map[string]bool{
	"__complete__": true, "__pause_for_human__": true, "__store_memory__": true, "__retrieve_memory__": true, "__log_progress__": true,
}

// readHyphen reads a Hyphen loop document.
func (s *Spec) readHyphen(f fields) {
	said := f.n.get("properties")
	if mode := said.get("mode"); mode != nil && mode.text == "foreach" && said.get("objective") == nil {
		f.problem(mode.place, "mode is %q, a step over the data of a Hyphen workflow and not an agent (a loop document that runs by itself has mode react)", mode.text)
		s.model.unreadable = true // nothing else is checked
		return
	}
	p := f.fields(hyphenLoopKeys, f.n.get("properties"))
	s.Input, s.json, s.builtin, s.dir, s.stale = hyphenInput, true, true, s.base, staleWarn
	s.cage = s.opt.around.to(s.dir)
	p.word("mode")
	objective := ""
	if p.text("objective", &objective); objective != "" {
		s.prompt = "You are an AI agent. Your objective is:\n" + objective
	}
	s.model.place = p.n.place
	if n := p.n.get("model"); n != nil {
		p.text("model", &s.model.name)
		s.model.place, s.model.unreadable = n.place, s.model.name == ""
	}
	p.temperature(&s.model.sampling)
	s.Name = agentNameOf(s.path)
	p.count("max_iterations", &s.limits.Iterations, 1, "10")
	if s.limits.Iterations > mostIterations {
		p.problem(p.n.get("max_iterations").place, "max_iterations is %d (the most is %d)", s.limits.Iterations, mostIterations)
	}
	const most = int(^uint(0)>>1) / int(time.Millisecond)
	ms := 0
	if p.count("timeout_ms", &ms, 1, "300000"); ms > most {
		p.problem(p.n.get("timeout_ms").place, "timeout_ms is %d (the most is %d)", ms, most)
	} else {
		s.limits.Time = time.Duration(ms) * time.Millisecond
	}
	s.readOnStuck(p)
	p.flag("include_reasoning_trace", &s.trace)
	p.text("result_key", &s.resultKey)
	s.readHyphenTools(p)
}

// agentNameOf returns the name of an agent by that of its file.
func agentNameOf(path string) string {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
	return cmp.Or(name, "hyphen")
}

// readOnStuck reads {iterations: 3, action: escalate}. Hyphen counts all equal
// turns, Pawl those after the first.
func (s *Spec) readOnStuck(f fields) {
	turns, then, hint := 3, progress.Fail, ""
	o := f.fields(hyphenStuckKeys, f.n.get("on_stuck"))
	o.count("iterations", &turns, 1, "3")
	choose(o, "action", &then)
	o.text("hint", &hint)
	if then != progress.Hint {
		hint = "" // Hyphen ignores it with any other action
	}
	policy := progress.NoProgress(max(1, turns-1), then, hint)
	s.stuck, s.onStuck = &policy, &node{kind: mapping}
	s.onStuck.put("window", numberNode(max(1, turns-1)))
	s.onStuck.put("then", textNode(then.String()))
	s.onStuck.said("hint", hint)
}

// readHyphenTools reads the list of tools.
func (s *Spec) readHyphenTools(f fields) {
	items := f.items("tools", `[{"type": "action", "name": "lookup_ticket"}]`)
	if items == nil {
		return
	}
	library := s.library(f.document)
	first := map[string]int{}
	for _, item := range items {
		name := ""
		t := f.fields(hyphenToolKeys, item)
		if t.n != item {
			continue
		}
		kind := t.word("type")
		at := item.get("name")
		if id := item.get("id"); kind == "workflow" && id != nil {
			t.text("id", &name)
			at = id
		} else {
			t.text("name", &name)
		}
		switch {
		case kind == "action" && item.get("id") != nil:
			t.problem(item.get("id").place, "id is for workflows, and this is an action (write name)")
		case kind == "":
			continue
		case at == nil && kind == "action":
			t.problem(item.place, "the tool has no name (give it one)")
		case at == nil:
			t.problem(item.place, "the tool has no id (name the workflow)")
		}
		if name == "" {
			continue
		}
		if line, twice := first[name]; twice {
			t.problem(at.place, "the tool %s is there twice (first in line %d)", name, line)
			continue
		}
		first[name] = at.place.line
		switch {
		case kind == "action" && alwaysThere[name]: // some documents declare these tools anyway
		case kind == "action":
			s.action(t.document, at, name, library)
		default:
			s.workflow(t.document, at, name)
		}
	}
}

// action adds a tool of the library by name.
func (s *Spec) action(d *document, at *node, name string, library *Spec) {
	if library == nil {
		if s.opt.Tools == "" && s.opt.shelf == nil {
			d.problem(at.place, "the action %s is looked up by name (give --tools FILE with a list of tools)", name)
		}
		return // or the file cannot be read, which is reported
	}
	gated := func() {
		for _, g := range library.gates {
			if g.tool == name {
				s.gates = append(s.gates, g)
			}
		}
	}
	var names []string
	for _, t := range library.tools {
		if t.name == name {
			s.tools = append(s.tools, t)
			gated()
			return
		}
		names = append(names, t.name)
	}
	for _, own := range library.own {
		if own == name {
			s.own = append(s.own, own)
			gated()
			return
		}
		names = append(names, own)
	}
	for _, a := range library.agents {
		if a.name() == name {
			s.agents, s.beyond = append(s.agents, a), append(s.beyond, library.beyond...)
			s.members, s.untold = append(s.members, library.members...), append(s.untold, library.untold...)
			gated()
			return
		}
		names = append(names, a.name())
	}
	for _, server := range library.servers {
		if strings.HasPrefix(name, server.Name+"__") {
			s.actionOf(server, at, name, library)
			return
		}
		names = append(names, server.Name+"__TOOL")
	}
	d.problem(at.place, "there is no tool %s in %s%s", name, library.path, expr.DidYouMean(name, names))
}

// actionOf adds a tool of an MCP server in the library.
func (s *Spec) actionOf(server MCPServer, at *node, name string, library *Spec) {
	i := slices.IndexFunc(s.servers, func(m MCPServer) bool { return m.Name == server.Name })
	if i < 0 {
		i = len(s.servers)
		s.servers = append(s.servers, server)
		if server.Token != "" {
			s.beyond = append(s.beyond, server.Token)
		}
		if o := server.OAuth; o != nil && o.Secret != "" {
			s.beyond = append(s.beyond, o.Secret)
		}
		for _, g := range library.gates {
			if g.tool == server.Name+"__*" {
				s.gates = append(s.gates, g)
			}
		}
	}
	s.servers[i].only = append(s.servers[i].only, &node{kind: text, text: name, place: at.place})
}
