package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/expr"
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
func (h *serveHost) versions(name string) string {
	name, _, exact := strings.Cut(name, "@")
	var all, names []string
	for _, one := range h.served {
		if !slices.Contains(names, one.about.Name) {
			names = append(names, one.about.Name)
		}
		if one.about.Name == name && one.about.Version != "" {
			all = append(all, name+"@"+one.about.Version)
		}
	}
	if !exact || len(all) == 0 {
		if near := expr.Nearest(name, names); near != "" {
			return "; did you mean " + near + "?"
		}
		if len(names) > mostCandidates {
			return "; GET /v1/agents lists the agents"
		}
		all = names
	}
	slices.Sort(all)
	return "; there is " + strings.Join(all, ", ")
}
