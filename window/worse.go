package window

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/gauge"
)

const (
	worseMark  = "- made the goal worse: "
	mostBroken = 10 // names of what one approach broke
)

// worse are the approaches that took the goal back, latest last: what a turn
// did to the world before a measure that is worse than the one before, or finds
// broken what was not. They are read off the whole run each time, not off the
// last summary, so that none is lost or told twice; an approach that failed again
// stands where it did so last.
func worse(s *pawl.State) (lines []string) {
	var before *gauge.Measure
	if m, ok := s.Baseline(); ok {
		before = (*gauge.Measure)(&m)
	}
	scale := gauge.ScaleOf(s.Declaration().Goal)
	came := map[int]string{} // of a turn
	for _, t := range slices.Backward(slices.Collect(s.Tracks())) {
		if now := (*gauge.Measure)(t.Measure); now != nil {
			if before != nil && scale.Trend(*before, *now) == gauge.Regressing {
				came[t.Iteration] = harm(*before, *now)
			}
			before = now
		}
		before = cmp.Or((*gauge.Measure)(t.Drift), before) // what the next turn begins at
	}
	if len(came) == 0 {
		return nil
	}
	did := map[int]string{}
	for c := range s.Calls() {
		if came[c.Iteration] == "" || !c.Ran || c.Effect == pawl.Read {
			continue
		}
		if did[c.Iteration] != "" {
			did[c.Iteration] += ", "
		}
		did[c.Iteration] += excerpt.Clip(oneLine(c.Tool+string(c.Args)), mostLine)
	}
	last := map[string]int{}
	for turn, what := range did {
		last[what] = max(last[what], turn)
	}
	turns := slices.Sorted(maps.Values(last))
	for _, turn := range turns[max(0, len(turns)-mostFailed):] {
		lines = append(lines, worseMark+excerpt.Clip(did[turn], 2*mostLine)+" → "+came[turn])
	}
	return lines
}

// harm is what became worse from one measure to the next, in a line.
func harm(before, now gauge.Measure) string {
	var parts []string
	if _, broke, _ := gauge.Moved(before.Open, now.Open); len(broke) > 0 {
		more := len(broke) - mostBroken
		if more > 0 {
			broke = append(broke[:mostBroken:mostBroken], fmt.Sprintf("%d more", more))
		}
		parts = append(parts, "broke "+excerpt.Clip(oneLine(strings.Join(broke, ", ")), 2*mostLine))
	}
	if before.Value != now.Value || parts == nil {
		parts = append(parts, fmt.Sprintf("the metric went from %g to %g", before.Value, now.Value))
	}
	return strings.Join(parts, "; ")
}
