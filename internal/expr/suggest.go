package expr

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/naming"
)

// Nearest returns the known name most similar to name, or "" if none is near:
// at most a third of its letters, and at least one, may differ. Of equally near
// ones it returns the first in alphabetical order.
func Nearest(name string, known []string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := naming.Distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// DidYouMean returns " (did you mean X?)" if a known name is near, else the
// known names, else "".
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	if len(known) == 0 {
		return ""
	}
	return " (there is " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + ")"
}
