package meter

import (
	"fmt"
	"slices"
	"strings"
)

// Moved compares the open items of two measures by name: those fixed, those
// broken, and those that became visible because a fault that hid them was
// fixed. Fixing an import does not break the tests that can now fail.
func Moved(before, now []string) (fixed, broke, shown []string) {
	if slices.Equal(before, now) {
		return nil, nil, nil // the usual case
	}
	fixed = Apart(before, now)
	for _, id := range Apart(now, before) {
		if hidden(id, fixed) {
			shown = append(shown, id)
		} else {
			broke = append(broke, id)
		}
	}
	return fixed, broke, shown
}

// Apart returns the words of a that are not in b, in the order of a.
func Apart(a, b []string) (out []string) {
	known := make(map[string]bool, len(b))
	for _, w := range b {
		known[w] = true
	}
	for _, w := range a {
		if !known[w] {
			out = append(out, w)
		}
	}
	return out
}

// hidden reports whether one of the fixed items hid another. "P [build]", with
// any word in the brackets, hides all of P, as "[setup]" hides everything; a
// file hides the tests in it, and a test its parts.
func hidden(id string, gone []string) bool {
	for _, g := range gone {
		whole, inner := g, "/:"
		if name, kind, ok := strings.Cut(g, "["); ok && strings.HasSuffix(kind, "]") {
			whole, inner = strings.TrimSuffix(name, " "), ".: "
		}
		rest, ok := strings.CutPrefix(id, whole)
		if ok && rest != "" && (whole == "" || strings.ContainsRune(inner, rune(rest[0]))) {
			return true
		}
	}
	return false
}

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
