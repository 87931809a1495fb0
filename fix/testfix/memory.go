package testfix

import (
	"slices"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/workspace"
)

// best is the state with the fewest open tests so far, none of which passed at first.
type best struct {
	Open   int            `json:"open"`
	Passed int            `json:"passed"`
	Report gotest.Report  `json:"report"`
	Diff   workspace.Diff `json:"diff"`
}

// below reports whether a later state is better. A test that had no verdict in the best state and
// fails now does not count against the later state; one that has lost its verdict does.
func (b *best) below(v verdict, now gotest.Report, edits bool) bool {
	d := gotest.Compare(b.Report, now)
	open := 0
	for _, id := range v.Open {
		if !slices.Contains(d.Revealed, id) {
			open++
		}
	}
	for _, id := range slices.Concat(d.Still, d.Hidden) {
		if !edits && !slices.Contains(v.Open, id) && !slices.Contains(v.Flaky, id) {
			open++
		}
	}
	return open < b.Open || open == b.Open && v.Passed > b.Passed
}

// remember keeps the best state, with the edits that led to it. A state in which anything is open that passed
// at first is not worth keeping, however few are open.
func (f *Fix) remember(c cached, first gotest.Report) error {
	known := f.Known()
	regressed := slices.ContainsFunc(c.verdict.Open, first.Passes)
	if was := known.More.Best; was != nil && (regressed || !was.below(c.verdict, c.ran.Report, f.source.AllowTestEdits)) {
		return nil
	}
	now := best{Open: len(c.verdict.Open), Passed: c.verdict.Passed, Report: c.ran.Report}
	if len(f.Edited()) > 0 {
		d, err := f.Diff()
		if err != nil {
			return err
		}
		now.Diff = d.Diff
	}
	return f.Note(func(m *memory) { m.More.Best = &now })
}
