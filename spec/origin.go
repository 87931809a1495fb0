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

// effective returns the document with absolute paths, and a Hyphen document as
// a spec.
func (s *Spec) effective() *node {
	root := s.root.mapTexts(func(s string) string { return s })
	if s.onStuck != nil {
		root = s.asSpec()
	}
	ran := false
	program := func(holder *node) {
		ran = ran || holder.get("command") != nil
		s.resolve(holder)
	}
	if tools := root.get("tools"); tools != nil && s.onStuck == nil {
		for _, item := range tools.items {
			program(item)
			program(item.get("mcp"))
			for _, key := range []string{"agent", "workflow"} {
				if file := item.get(key); file != nil && file.kind == text && !filepath.IsAbs(file.text) {
					file.text = filepath.Join(s.base, file.text)
				}
			}
			if files := item.get("witness"); files != nil {
				for _, file := range files.items {
					file.text = s.witness(file.text)
				}
			}
		}
	}
	if handoffs := root.get("handoffs"); handoffs != nil {
		for _, item := range handoffs.items {
			if file := cmp.Or(item.get("agent"), item); file.kind == text {
				file.text = s.at(file.text)
			}
		}
	}
	if s.cage != nil {
		root.pairs = slices.DeleteFunc(root.pairs, func(p pair) bool { return p.key == "cage" })
		root.put("cage", s.cageNode())
	}
	s.located(root.get("steps"))
	if nodes := root.get("nodes"); nodes != nil {
		for _, p := range nodes.pairs {
			p.value.put("id", textNode(p.key)) // for a moment, since it is a step
			s.located(p.value)
			p.value.pairs = slices.DeleteFunc(p.value.pairs, func(p pair) bool { return p.key == "id" })
		}
	}
	program(root.get("observe"))
	program(root.get("goal").get("metric"))
	ran = ran || root.get("tools") != nil
	if ran {
		if dir := root.get("dir"); dir != nil {
			dir.text = s.project
		} else {
			root.put("dir", textNode(s.project))
		}
	}
	if files := root.get("input").get("files"); files != nil {
		for _, file := range files.items {
			file.text = s.at(file.text)
		}
	}
	if triggers := root.get("triggers"); triggers != nil {
		for _, item := range triggers.items {
			if dir := item.get("watch"); dir != nil {
				dir.text = s.at(dir.text)
			}
		}
	}
	if skills := root.get("skills"); skills != nil {
		for _, dir := range skills.items {
			if !filepath.IsAbs(dir.text) {
				dir.text = filepath.Join(s.base, dir.text)
			}
		}
	}
	if m := root.get("context").get("summary_model"); m != nil {
		m.text = scriptIn(m.text, s.base)
	}
	judges := root.get("judge")
	for _, holder := range []*node{judges.get("reflexion"), judges.get("grounding")} {
		s.scripted(holder)
	}
	if hooks := root.get("hooks"); hooks != nil {
		for _, item := range hooks.items {
			s.scripted(item.get("steer"))
		}
	}
	return root
}

// located makes the files of the agents in steps absolute.
func (s *Spec) located(n *node) {
	if n == nil {
		return
	}
	for _, p := range n.pairs {
		if (p.key == "agent" || p.key == "workflow") && n.get("id") != nil && p.value.kind == text && !filepath.IsAbs(p.value.text) {
			p.value.text = filepath.Join(s.base, p.value.text)
		}
		if p.key != "args" && p.key != "input" && !slices.Contains(askingKinds, p.key) {
			s.located(p.value)
		}
	}
	for _, item := range n.items {
		s.located(item)
	}
}

// scripted makes the file of a scripted model absolute.
func (s *Spec) scripted(holder *node) {
	if m := holder.get("model"); m != nil {
		m.text = scriptIn(m.text, s.base)
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
	if s.trace {
		n.put("trace", yes())
	}
	stuck := &node{kind: mapping}
	stuck.put("window", numberNode(s.onStuck.window))
	stuck.put("then", textNode(s.onStuck.then.String()))
	if s.onStuck.hint != "" {
		stuck.put("hint", textNode(s.onStuck.hint))
	}
	n.put("no_progress", stuck)
	all := &node{kind: list}
	if l := s.shelved; l != nil {
		for _, item := range l.root.get("tools").items {
			if item = s.taken(item); item != nil {
				l.resolve(item)
				l.resolve(item.get("mcp"))
				all.items = append(all.items, item)
			}
		}
	}
	for _, d := range s.agents {
		if l := s.shelved; l != nil && slices.ContainsFunc(l.agents, func(other delegate) bool { return other.spec == d.spec }) {
			continue
		}
		item := &node{kind: mapping}
		item.put("agent", textNode(filepath.Join(d.spec.base, filepath.Base(d.spec.path))))
		item.put("name", textNode(d.name()))
		if d.options.Description != "" {
			item.put("description", textNode(d.options.Description))
		}
		all.items = append(all.items, item)
	}
	if len(all.items) > 0 {
		n.put("tools", all)
	}
	return n
}

// taken returns the part of an entry of the file of tools that a Hyphen
// document uses; nil: none.
func (s *Spec) taken(item *node) *node {
	item = item.mapTexts(func(s string) string { return s })
	for _, t := range s.tools {
		if t.name == item.name() {
			return item
		}
	}
	if slices.ContainsFunc(s.hosted, func(h hostedSpec) bool { return item.get("hosted") != nil && h.name == item.get("hosted").text }) {
		return item
	}
	if own := item.get("builtin"); own != nil {
		own.items = slices.DeleteFunc(own.items, func(n *node) bool { return !slices.Contains(s.own, n.text) })
		if len(own.items) > 0 {
			return item
		}
	}
	if file := item.get("agent"); file != nil {
		path := file.text
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.shelved.base, path)
		}
		for _, d := range s.agents {
			if filepath.Join(d.spec.base, filepath.Base(d.spec.path)) == path && (item.name() == "" || item.name() == d.name()) {
				file.text = path
				return item
			}
		}
	}
	for _, server := range s.servers {
		if m := item.get("mcp"); m == nil || m.name() != server.Name {
			continue
		}
		names := &node{kind: list}
		for _, want := range server.only {
			name := strings.TrimPrefix(want.text, server.Name+"__")
			for _, own := range server.Allow { // they may have other characters
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
		item.pairs = slices.DeleteFunc(item.pairs, func(p pair) bool { return p.key == "allow" })
		item.put("allow", names)
		return item
	}
	return nil
}

// resolve makes the program of an entry absolute.
func (s *Spec) resolve(holder *node) {
	if argv := holder.get("command"); argv != nil {
		for i, arg := range argv.items {
			arg.text = s.beside(i, arg.text)
		}
	}
}
