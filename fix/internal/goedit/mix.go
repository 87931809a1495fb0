package goedit

import "slices"

// Constants of mix, set on the corpora of the tests.
const (
	perKind = 20.0 // edits of one kind after which the next weighs half
	perLine = 80.0 // edits of one line
)

// mix keeps kinds that have many edits, and lines, from crowding out the
// others. What is known beforehand is about how likely a kind of fault is, and
// how likely a line; the more edits there are to share that, the less is left
// for each.
func mix(sites []site) {
	kinds := map[class]float64{}
	type place struct {
		file *file
		line int
	}
	lines := map[place]float64{}
	for i := range sites {
		s := &sites[i]
		at := place{s.file, s.line}
		half := perKind
		switch s.class {
		case missing, guard, term, dependent:
			half *= 2 // of which there are most, and which are asked for as often
		}
		s.weight /= (1 + kinds[s.class]/half) * (1 + lines[at]/perLine)
		kinds[s.class]++
		lines[at]++
	}
	slices.SortStableFunc(sites, compareSites)
}
