package expr

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/naming"
)

// DidYouMean returns " (did you mean X?)" if a known name is near, else the
// known names, else "".
func DidYouMean(name string, known []string) string {
	if near := naming.Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	if len(known) == 0 {
		return ""
	}
	return " (there is " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + ")"
}
