package meter

import "fmt"

// Changed describes the difference between two measures for a person: the names
// no longer open, those newly open and, if these are equal, the value. A nil
// measure was not taken.
func Changed(before, now *Measure) (what []string) {
	switch {
	case before == nil && now == nil:
		return nil
	case before == nil:
		return []string{"the goal, which could not be measured then"}
	case now == nil:
		return []string{"the goal, which cannot be measured now"}
	}
	if gone := Apart(before.Open, now.Open); len(gone) > 0 {
		what = append(what, "no longer open: "+some(gone))
	}
	if added := Apart(now.Open, before.Open); len(added) > 0 {
		what = append(what, "newly open: "+some(added))
	}
	if what == nil && before.Value != now.Value {
		what = []string{fmt.Sprintf("the metric, from %g to %g", before.Value, now.Value)}
	}
	return what
}

// mostShown is how many names are listed.
const mostShown = 20

// some lists the first names and counts the others.
func some(names []string) string {
	if len(names) <= mostShown {
		return first(names)
	}
	return fmt.Sprintf("%s and %d more", first(names), len(names)-mostShown)
}
