package goedit

import "slices"

// Constants of mix, set on the corpora of the tests.
const (
	perKind = 20.0 // edits of one kind after which the next weighs half
	perLine = 80.0 // edits of one line
)

// mix keeps kinds of edits, and lines, with many edits from crowding out the others. The
// priors are about kinds of faults and about lines; the more edits share one, the less is
// left for each.
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
		case missing, guard, dependent:
			half *= 2 // of which there are most, and which are asked for as often
		case term:
			half *= 4 // and of which people forget most
		}
		s.weight /= (1 + kinds[s.class]/half) * (1 + lines[at]/perLine)
		kinds[s.class]++
		lines[at]++
	}
	slices.SortStableFunc(sites, compareSites)
}
