package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// newer reports whether one version of an agent is newer than another.
func newer(a, b string) bool { return compareVersions(a, b) > 0 }

// compareVersions orders versions of an agent: part by part between dots, numbers by their
// value and before words, and none before any.
func compareVersions(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b))
	}
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, notX := strconv.ParseUint(strings.TrimPrefix(a, "v"), 10, 64)
		y, notY := strconv.ParseUint(strings.TrimPrefix(b, "v"), 10, 64)
		switch {
		case notX == nil && notY == nil:
			return cmp.Compare(x, y)
		case notX == nil:
			return -1
		case notY == nil:
			return 1
		}
		return cmp.Compare(a, b)
	})
}

// versions says which agents there are in place of an unknown one.
func (h *serveHost) versions() string {
	var all []string
	for _, one := range h.served {
		all = append(all, one.title())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
