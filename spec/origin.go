package spec

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// originOf returns the spec that a run's agent came from; nil: none.
func originOf(source string) *Spec {
	if !IsSource(source) {
		return nil
	}
	s, err := ParseSource(source, nil)
	if err != nil {
		return nil // a spec of another version
	}
	return s
}

// filePaths are where a spec names files relative to its directory, besides its programs and
// witnesses, and scriptPaths where it names models, which may be scripts.
var (
	filePaths   = []string{"tools.*.agent", "tools.*.workflow", "handoffs.*", "handoffs.*.agent", "input.files.*", "triggers.*.watch", "skills.*"}
	scriptPaths = []string{"context.summary_model", "judge.reflexion.model", "judge.grounding.model", "hooks.*.steer.model"}
)

// effective returns the document with absolute paths, and a Hyphen document as a spec.
func (s *Spec) effective() *node {
	var root *node
	if s.onStuck != nil {
		root = s.asSpec()
	} else {
		root = s.root.mapTexts(func(s string) string { return s })
		s.absolute(root)
	}
	if len(slices.Concat(root.all("tools"), root.all("observe.command"), root.all("goal.metric.command"))) > 0 {
		root.drop("dir")
		root.put("dir", textNode(s.dir))
	}
	if s.cage != nil {
		root.drop("cage")
		root.put("cage", s.cageNode())
	}
	return root
}

// absolute makes the paths of a document absolute.
func (s *Spec) absolute(root *node) {
	for _, path := range []string{"tools.*.command", "tools.*.mcp.command", "observe.command", "goal.metric.command"} {
		for _, argv := range root.all(path) {
			for i, arg := range argv.items {
				arg.text = s.beside(i, arg.text)
			}
		}
	}
	for _, file := range root.all("tools.*.witness.*") {
		file.text = s.witness(file.text)
	}
	for _, path := range filePaths {
		for _, file := range root.all(path) {
			if file.kind == text {
				file.text = s.at(file.text)
			}
		}
	}
	for _, path := range scriptPaths {
		for _, model := range root.all(path) {
			model.text = scriptIn(model.text, s.base)
		}
	}
	s.located(slices.Concat(root.all("steps.*"), root.all("nodes.*")))
}

// located makes the files of the agents in steps absolute.
func (s *Spec) located(steps []*node) {
	for _, step := range steps {
		for _, file := range slices.Concat(step.all("agent"), step.all("workflow")) {
			file.text = s.at(file.text)
		}
		s.located(slices.Concat(step.all("do.*"), step.all("default.*"), step.all("cases.*.*"), step.all("parallel.*.*")))
	}
}

// asSpec converts a Hyphen document to a spec.
func (s *Spec) asSpec() *node {
	n := &node{kind: mapping}
	n.put("name", textNode(s.Name))
	n.put("prompt", textNode(s.prompt))
	n.put("input", textNode(s.Input))
	n.put("strategy", textNode("json"))
	n.put("builtins", yes())
	n.flag("trace", s.trace, yes())
	n.put("no_progress", s.onStuck)
	all := &node{kind: list}
	var shelved []delegate
	if l := s.shelved; l != nil {
		shelved = l.agents
		for _, item := range l.effective().all("tools.*") {
			if s.takes(item) {
				all.items = append(all.items, item)
			}
		}
	}
	for _, d := range s.agents {
		if slices.ContainsFunc(shelved, func(other delegate) bool { return other.spec == d.spec }) {
			continue
		}
		item := &node{kind: mapping}
		item.put("agent", textNode(d.file()))
		item.put("name", textNode(d.name()))
		item.said("description", d.options.Description)
		all.items = append(all.items, item)
	}
	n.flag("tools", len(all.items) > 0, all)
	return n
}

// takes reports whether a Hyphen document uses an entry of the file of tools, and drops what it
// does not use of it.
func (s *Spec) takes(item *node) bool {
	file := cmp.Or(item.get("agent"), item.get("workflow"))
	switch {
	case item.get("builtin") != nil:
		own := item.get("builtin")
		own.items = slices.DeleteFunc(own.items, func(n *node) bool { return !slices.Contains(s.own, n.text) })
		return len(own.items) > 0
	case file != nil:
		return slices.ContainsFunc(s.agents, func(d delegate) bool {
			return d.file() == file.text && (item.name() == "" || item.name() == d.name())
		})
	case item.get("mcp") != nil:
		i := slices.IndexFunc(s.servers, func(server MCPServer) bool { return server.Name == item.get("mcp").name() })
		if i < 0 {
			return false
		}
		item.drop("allow")
		item.put("allow", s.servers[i].named())
		return true
	}
	return slices.ContainsFunc(s.tools, func(t toolSpec) bool { return t.name == item.name() })
}

// file is the path of the spec.
func (d delegate) file() string { return filepath.Join(d.spec.base, filepath.Base(d.spec.path)) }

// named are the tools of a server that a Hyphen document names, as the server names them.
func (m MCPServer) named() *node {
	names := &node{kind: list}
	for _, want := range m.only {
		name := strings.TrimPrefix(want.text, m.Name+"__")
		for _, own := range m.Allow { // they may have other characters
			if strings.Map(func(r rune) rune {
				if toolName.MatchString(string(r)) {
					return r
				}
				return '_'
			}, own) == name {
				name = own
			}
		}
		names.items = append(names.items, textNode(name))
	}
	return names
}
