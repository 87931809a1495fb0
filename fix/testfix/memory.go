package testfix

import (
	"slices"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/workspace"
)

// best is the state in which the most tests passed so far, and of those the one with the fewest open.
type best struct {
	Open   int            `json:"open"`
	Passed int            `json:"passed"`
	Diff   workspace.Diff `json:"diff"`
}

// remember keeps the best state, with the edits that led to it. A state in which anything is open that passed
// at first is not worth keeping, however few are open.
func (f *Fix) remember(v verdict, first gotest.Report) error {
	if was := f.Known().More.Best; was != nil && (slices.ContainsFunc(v.Open, first.Passes) || !was.below(v)) {
		return nil
	}
	now := best{Open: len(v.Open), Passed: v.Passed}
	if len(f.Edited()) > 0 {
		d, err := f.Diff()
		if err != nil {
			return err
		}
		now.Diff = d.Diff
	}
	return f.Note(func(m *memory) { m.More.Best = &now })
}

// below reports whether a later state is better.
func (b *best) below(v verdict) bool {
	return v.Passed > b.Passed || v.Passed == b.Passed && len(v.Open) < b.Open
}
