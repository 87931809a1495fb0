package expr

import (
	"slices"
	"strings"
)

// Nearest is the known name that name was most likely meant to be, or "" when
// none is near: at most a third of its letters, and at least one, may differ.
// Of equally near ones the first in alphabetical order is taken.
func Nearest(name string, known []string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
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

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours between a and b (optimal string alignment: Damerau, A technique
// for computer detection and correction of spelling errors, 1964).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
