package spec

// readHooks reads the list of what watches a run from beside it: each entry is
// a word, or a mapping of one word to its options.
func (s *Spec) readHooks(f fields) {
	const example = "[{steer: {policy: Never write to anybody outside the company.}}]"
	n := f.value("hooks", list, "a list such as "+example)
	if n == nil {
		return
	}
	seen := map[string]bool{}
	for _, item := range n.items {
		name, options := item.text, &node{kind: mapping, place: item.place}
		switch {
		case item.kind == 0:
			continue
		case item.kind == mapping && len(item.pairs) == 1:
			name = item.pairs[0].key
			if v := item.pairs[0].value; v.kind != 0 {
				options = v
			}
		case item.kind != text:
			f.problem(item.place, "hooks has %v in its list (write %s)", item.kind, example)
			continue
		}
		if seen[name] {
			f.problem(item.place, "the hook %s is there twice (drop one)", name)
			continue
		}
		seen[name] = true
		switch name {
		case "steer":
			s.readSteer(f.fields(name, options, "policy", "model", "writes_only", "ask"))
		case "log", "retry":
			f.problem(item.place, "the hook %s is not supported by this version (leave it out)", name)
		default:
			f.problem(item.place, "there is no hook %s (write %s)", name, example)
		}
	}
}
