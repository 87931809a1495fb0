package window

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
)

const (
	worseMark  = "- made the goal worse: "
	mostBroken = 10 // names of broken items of one approach
)

// worse lists the approaches that moved the goal back, latest last: the calls of a turn
// after which the measure got worse or something new was broken. They are read from the
// whole run each time, not from the last summary, so that each appears exactly once; an
// approach that failed repeatedly appears at its last place.
func worse(s *pawl.State) (lines []string) {
	var before *meter.Measure
	if m, ok := s.Baseline(); ok {
		before = (*meter.Measure)(&m)
	}
	scale := meter.ScaleOf(s.Declaration().Goal)
	came := map[int]string{} // of a turn
	for _, t := range slices.Backward(slices.Collect(s.Tracks())) {
		if now := (*meter.Measure)(t.Measure); now != nil {
			if before != nil && scale.Trend(*before, *now) == meter.Regressing {
				came[t.Iteration] = harm(*before, *now)
			}
			before = now
		}
		before = cmp.Or((*meter.Measure)(t.Drift), before) // the measure at the start of the next turn
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
		did[c.Iteration] += display.Clip(oneLine(c.Tool+string(c.Args)), mostLine)
	}
	last := map[string]int{}
	for turn, what := range did {
		last[what] = max(last[what], turn)
	}
	turns := slices.Sorted(maps.Values(last))
	for _, turn := range turns[max(0, len(turns)-mostFailed):] {
		lines = append(lines, worseMark+display.Clip(did[turn], 2*mostLine)+" → "+came[turn])
	}
	return lines
}

// harm describes in one line what became worse from one measure to the next.
func harm(before, now meter.Measure) string {
	var parts []string
	if _, broke, _ := meter.Moved(before.Open, now.Open); len(broke) > 0 {
		more := len(broke) - mostBroken
		if more > 0 {
			broke = append(broke[:mostBroken:mostBroken], fmt.Sprintf("%d more", more))
		}
		parts = append(parts, "broke "+display.Clip(oneLine(strings.Join(broke, ", ")), 2*mostLine))
	}
	if before.Value != now.Value || parts == nil {
		parts = append(parts, fmt.Sprintf("the metric went from %g to %g", before.Value, now.Value))
	}
	return strings.Join(parts, "; ")
}
