package spec

import (
	"path/filepath"
	"slices"
)

// originOf is the spec that a run's agent came from; nil: it came from none.
func originOf(source string) *Spec {
	if !IsSource(source) {
		return nil
	}
	s, err := ParseSource(source, nil)
	if err != nil {
		return nil // it was a spec for another version
	}
	return s
}

// effective is the document with absolute paths; a Hyphen document becomes a
// spec.
func (s *Spec) effective() *node {
	root := s.root.mapTexts(func(s string) string { return s })
	if s.onStuck != nil {
		root = s.asSpec()
	}
	ran := false
	program := func(holder *node) {
		if argv := holder.get("command"); argv != nil {
			ran = true
			for i, arg := range argv.items {
				arg.text = s.beside(i, arg.text)
			}
		}
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
	if s.cage != nil {
		root.pairs = slices.DeleteFunc(root.pairs, func(p pair) bool { return p.key == "cage" })
		root.put("cage", s.cageNode())
	}
	s.located(root.get("steps"))
	program(root.get("observe"))
	program(root.get("goal").get("metric"))
	ran = ran || root.get("tools") != nil
	if ran {
		if dir := root.get("dir"); dir != nil {
			dir.text = s.dir
		} else {
			root.put("dir", textNode(s.dir))
		}
	}
	if skills := root.get("skills"); skills != nil {
		for _, dir := range skills.items {
			if !filepath.IsAbs(dir.text) {
				dir.text = filepath.Join(s.base, dir.text)
			}
		}
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
		if p.key != "args" && p.key != "input" && p.key != "single" {
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

// asSpec is a Hyphen document in the words of a spec.
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
	if l := s.shelved; l != nil {
		all := &node{kind: list}
		for _, item := range l.root.get("tools").items {
			used := false
			for _, t := range s.tools {
				used = used || t.name == item.name()
			}
			if !used {
				continue
			}
			item = item.mapTexts(func(s string) string { return s })
			for i, arg := range item.get("command").items {
				arg.text = l.beside(i, arg.text)
			}
			all.items = append(all.items, item)
		}
		if len(s.own) > 0 {
			item, names := &node{kind: mapping}, &node{kind: list}
			for _, name := range s.own {
				names.items = append(names.items, textNode(name))
			}
			item.put("builtin", names)
			all.items = append(all.items, item)
		}
		n.put("tools", all)
	}
	return n
}
