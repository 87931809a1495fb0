// Package naming compares, matches and finds names: how far apart two are, which match a pattern with *
// and ?, or a regular expression whose work is bounded, which things have the words of a query in their name
// or description, and which number a name of an enum stands for.
package naming

import (
	"slices"
	"strings"
)

// mostBytes bounds the names that are compared, since the work is the product
// of their lengths.
const mostBytes = 64

// Distance counts the bytes to insert, delete, replace or swap with their
// neighbour to make one name of the other (optimal string alignment: Damerau, A
// technique for computer detection and correction of spelling errors, 1964). A
// name of more than 64 bytes is 64 from any other.
func Distance(a, b string) int {
	if len(a) > mostBytes || len(b) > mostBytes {
		return mostBytes
	}
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, slices.Repeat([]int{i + 1}, len(b)+1)
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Nearest returns the known name that is probably meant, or "". A third of the letters may be wrong.
// Capitals do not count, and of equally near names it is the first.
func Nearest(name string, known []string) string {
	best, least := "", len([]rune(name))/3+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := Distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}
