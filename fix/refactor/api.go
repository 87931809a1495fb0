package refactor

import (
	"context"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
)

// apiChanges lists the changes of what other modules can use: the exported names of packages that are not
// internal or commands.
func (r *Refactor) apiChanges(ctx context.Context, edits []edit) ([]string, error) {
	if !slices.ContainsFunc(edits, func(e edit) bool { return isGo(e.name) && !e.test }) {
		return nil, nil
	}
	old, err := r.load(ctx, edits)
	if err != nil {
		return nil, err
	}
	now, err := r.load(ctx, nil)
	if err != nil {
		return nil, err
	}
	was, is := offered(old), offered(now)
	all := maps.Clone(was)
	maps.Copy(all, is)
	var changes []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		switch {
		case is[path] == nil:
			changes = append(changes, path+": package removed")
		case was[path] == nil:
			changes = append(changes, path+": package added")
		default:
			for _, c := range apidiff.Changes(was[path], is[path]).Changes {
				changes = append(changes, path+": "+c.Message)
			}
		}
	}
	return changes, nil
}

// offered are the packages that other modules can use.
func offered(list []*goPackage) map[string]*types.Package {
	out := map[string]*types.Package{}
	for _, p := range list {
		if p.Name != "main" && !slices.Contains(strings.Split(p.ImportPath, "/"), "internal") {
			out[p.ImportPath] = p.types
		}
	}
	return out
}
