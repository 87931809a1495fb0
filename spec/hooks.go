package spec

import "github.com/pawl-run/pawl/internal/expr"

// A Hook is a hook named in a spec. The program creates it and returns it from
// HooksOf of the engine that drives the agent.
type Hook struct {
	Name     string // log or retry
	JSON     bool   // of log: one JSON object per entry, instead of text lines
	Attempts int    // of retry: the most in a run
}

// readHooks reads the list of hooks: each entry is a word, or a mapping of one
// word to its options. Steering is a policy, not a hook.
func (s *Spec) readHooks(f fields) {
	const example = "[log, {retry: {attempts: 3}}, {steer: {policy: Never write to anybody outside the company.}}]"
	seen := map[string]bool{}
	for _, item := range f.items("hooks", example) {
		name, options := item.text, &node{kind: mapping, place: item.place}
		switch {
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
			s.readSteer(f.fields(steerKeys, options))
		case "log":
			s.Hooks = append(s.Hooks, Hook{Name: name, JSON: f.fields(logKeys, options).word("format") == "json"})
		case "retry":
			h := Hook{Name: name, Attempts: 3}
			f.fields(retryKeys, options).count("attempts", &h.Attempts, 1, "3")
			s.Hooks = append(s.Hooks, h)
		default:
			f.problem(item.place, "there is no hook %s%s", name, expr.DidYouMean(name, hookNames))
		}
	}
}

// HooksOf returns the hooks in the source of an agent: none if the source is
// not of a spec.
func HooksOf(source string) []Hook { return readAgain(source).Hooks }
