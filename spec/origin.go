package spec

import "slices"

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

// effective returns the document with absolute paths.
func (s *Spec) effective() *node {
	root := s.root.mapTexts(func(s string) string { return s })
	runs := root.get("tools") != nil
	for _, path := range []string{"tools.*.command", "tools.*.mcp.command", "observe.command", "goal.metric.command"} {
		for _, argv := range root.all(path) {
			runs = true
			for i, arg := range argv.items {
				arg.text = s.beside(i, arg.text)
			}
		}
	}
	if runs {
		root.drop("dir")
		root.put("dir", textNode(s.project))
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
	s.located(root.get("steps"))
	for _, step := range root.all("nodes.*") {
		step.put("id", yes()) // for a moment, since it is a step
		s.located(step)
		step.drop("id")
	}
	if s.cage != nil {
		root.drop("cage")
		root.put("cage", s.cageNode())
	}
	return root
}

// located makes the files of the agents in steps absolute.
func (s *Spec) located(n *node) {
	if n == nil {
		return
	}
	for _, p := range n.pairs {
		if (p.key == "agent" || p.key == "workflow") && n.get("id") != nil && p.value.kind == text {
			p.value.text = s.at(p.value.text)
		}
		if p.key != "args" && p.key != "input" && !slices.Contains(askingKinds, p.key) {
			s.located(p.value)
		}
	}
	for _, item := range n.items {
		s.located(item)
	}
}
