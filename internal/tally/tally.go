// Package tally counts the calls of each tool.
package tally

import (
	"iter"
	"slices"
)

// A Tally counts calls by tool. It is a list, since a run uses few tools.
type Tally []Count

// Count is the counts of one tool.
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

// Count adds by calls of a tool.
func (t *Tally) Count(tool string, ran, succeeded bool, by int) {
	i := slices.IndexFunc(*t, func(n Count) bool { return n.Tool == tool })
	if i < 0 {
		i, *t = len(*t), append(*t, Count{Tool: tool})
	}
	if n := &(*t)[i]; ran {
		n.Ran += by
	}
	if n := &(*t)[i]; succeeded {
		n.Succeeded += by
	}
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
