package meter

import (
	"iter"
	"slices"
)

// A Tally counts calls by tool. It is a list, since a run uses few tools.
type Tally []CallCount

// CallCount is the counts of one tool.
type CallCount struct {
	Tool           string
	Ran, Succeeded int
}

// Of returns a tool's counts.
func (t Tally) Of(tool string) CallCount {
	for i := range t {
		if t[i].Tool == tool {
			return t[i]
		}
	}
	return CallCount{Tool: tool}
}

// Count adds by calls of a tool.
func (t *Tally) Count(tool string, ran, succeeded bool, by int) {
	i := slices.IndexFunc(*t, func(n CallCount) bool { return n.Tool == tool })
	if i < 0 {
		i, *t = len(*t), append(*t, CallCount{Tool: tool})
	}
	if n := &(*t)[i]; ran {
		n.Ran += by
	}
	if n := &(*t)[i]; succeeded {
		n.Succeeded += by
	}
}

// Ran is how many calls of all tools ran.
func (t Tally) Ran() (n int) {
	for i := range t {
		n += t[i].Ran
	}
	return n
}

// All yields the counts by tool.
func (t Tally) All() iter.Seq2[string, CallCount] {
	return func(yield func(string, CallCount) bool) {
		for _, n := range t {
			if !yield(n.Tool, n) {
				return
			}
		}
	}
}

// Few counts events of a few kinds, which are numbered from 0 to 6. Kinds below that are
// not counted.
type Few [7]int32

// Count counts an event of a kind.
func (f *Few) Count(kind int) {
	if kind >= 0 {
		f[kind]++
	}
}

// Of returns the count of a kind.
func (f *Few) Of(kind int) int { return int(f[max(kind, 0)]) }

// Total returns the sum of all counts.
func (f *Few) Total() (n int) {
	for _, of := range f {
		n += int(of)
	}
	return n
}
