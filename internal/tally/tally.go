// Package tally counts calls by tool.
package tally

import (
	"iter"
	"slices"
)

// A Tally counts calls by tool. It is immutable and a plain list: a run uses
// few tools, and a search among them costs less than a map that can be shared.
type Tally []Count

// Count is what was counted of one tool.
type Count struct {
	Tool           string
	Ran, Succeeded int
}

// Of returns a tool's counts.
func (t Tally) Of(tool string) Count {
	for i := range t {
		if t[i].Tool == tool {
			return t[i]
		}
	}
	return Count{Tool: tool}
}

// Count returns the tally with by more calls of a tool.
func (t Tally) Count(tool string, ran, succeeded bool, by int) Tally {
	i := slices.IndexFunc(t, func(n Count) bool { return n.Tool == tool })
	if t = slices.Clip(slices.Clone(t)); i < 0 {
		i, t = len(t), append(t, Count{Tool: tool})
	}
	if ran {
		t[i].Ran += by
	}
	if succeeded {
		t[i].Succeeded += by
	}
	return t
}

// All yields the counts by tool.
func (t Tally) All() iter.Seq2[string, Count] {
	return func(yield func(string, Count) bool) {
		for _, n := range t {
			if !yield(n.Tool, n) {
				return
			}
		}
	}
}
