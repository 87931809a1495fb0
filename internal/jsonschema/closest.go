package jsonschema

import (
	"maps"
	"slices"
	"strings"
)

// closest finds the known name that name is most likely a misspelling of, or
// "". A third of the letters may be wrong; a tie goes to the first in order.
func closest(name string, known map[string]any) string {
	best, found := len(name)/3+1, ""
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if d := distance(plain(name), plain(k)); d < best {
			best, found = d, k
		}
	}
	return found
}

// plain drops what naming styles differ in: filePath, file_path and file-path.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour (optimal string alignment; Damerau, CACM 7(3), 1964).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
