package pawl

import (
	"iter"
	"slices"
)

// A tally counts calls by tool. It is immutable and a plain list: a run uses
// few tools, and a search among them costs less than a map that can be shared.
type tally []toolCount

type toolCount struct {
	tool           string
	ran, succeeded int
}

// of returns a tool's counts.
func (t tally) of(tool string) toolCount {
	for i := range t {
		if t[i].tool == tool {
			return t[i]
		}
	}
	return toolCount{tool: tool}
}

// count returns the tally with by more calls of a tool.
func (t tally) count(tool string, ran, succeeded bool, by int) tally {
	i := slices.IndexFunc(t, func(n toolCount) bool { return n.tool == tool })
	if t = slices.Clip(slices.Clone(t)); i < 0 {
		i, t = len(t), append(t, toolCount{tool: tool})
	}
	if ran {
		t[i].ran += by
	}
	if succeeded {
		t[i].succeeded += by
	}
	return t
}

// All yields the counts by tool.
func (t tally) All() iter.Seq2[string, toolCount] {
	return func(yield func(string, toolCount) bool) {
		for _, n := range t {
			if !yield(n.tool, n) {
				return
			}
		}
	}
}
