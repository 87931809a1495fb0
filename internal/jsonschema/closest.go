package jsonschema

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/typo"
)

// closest finds the known name that name is most likely a misspelling of, or
// "". A third of the letters may be wrong; a tie goes to the first in order.
func closest(name string, known map[string]any) string {
	best, found := len(name)/3+1, ""
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if d := typo.Distance(plain(name), plain(k)); d < best {
			best, found = d, k
		}
	}
	return found
}

// plain drops what naming styles differ in: filePath, file_path and file-path.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
