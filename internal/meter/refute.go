package meter

import (
	"fmt"
	"strings"
)

// Refute returns the text for a model that claims to be done while the goal is
// not met. now is the latest measure, and measured reports whether the goal
// could be measured since; base is the measure before the first turn, nil:
// none.
func Refute(goal string, base *Measure, now Measure, measured bool) string {
	hint := "You said you are done, but the goal is not reached: " + goal + " does not hold"
	if measured {
		hint += fmt.Sprintf(" (metric is %g)", now.Value)
	} else {
		hint += " (it could not be measured)"
	}
	if open := first(now.Open); open != "" && !measured {
		hint += ". Open when it was measured last: " + open
	} else if open != "" {
		hint += ". Still open: " + open
	}
	if base != nil {
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
func first(names []string) string { return strings.Join(names[:min(len(names), mostShown)], ", ") }
