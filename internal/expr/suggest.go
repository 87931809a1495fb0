package expr

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/typo"
)

// Nearest is the known name that name was most likely meant to be, or "" when
// none is near: at most a third of its letters, and at least one, may differ.
// Of equally near ones the first in alphabetical order is taken.
func Nearest(name string, known []string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := typo.Distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// DidYouMean is " (did you mean X?)" when a known name is near, else the known
// names, else "".
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	if len(known) == 0 {
		return ""
	}
	return " (there is " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + ")"
}
