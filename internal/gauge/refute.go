package gauge

import (
	"fmt"
	"strings"
)

// Refute tells a model that claims to be done how the goal stands. now is the
// latest reading, and measured whether the goal could be measured since; base is
// the one before the first turn, nil: there is none. Runs of older machines are
// told what they always were.
func Refute(goal string, base *Measure, now Measure, measured bool, machine int) string {
	hint := "You said you are done, but the goal is not reached: " + goal + " does not hold"
	if measured {
		hint += fmt.Sprintf(" (metric is %g)", now.Value)
	} else if machine > 2 {
		hint += " (it could not be measured)"
	}
	if open := first(now.Open); open != "" && !measured && machine > 2 {
		hint += ". Open when it was measured last: " + open
	} else if open != "" {
		hint += ". Still open: " + open
	}
	if base != nil && machine > 1 {
		if base.Value != now.Value {
			hint += fmt.Sprintf(". At the start the metric was %g", base.Value)
		}
		if _, broke, _ := Moved(base.Open, now.Open); len(broke) > 0 {
			hint += ". Not open at the start, and so broken since: " + first(broke)
		}
	}
	return hint + ". Go on."
}

// first lists the first names of many.
func first(names []string) string { return strings.Join(names[:min(len(names), most)], ", ") }
