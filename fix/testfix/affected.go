package testfix

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// affects says which packages an edit in a directory may affect.
type affects struct {
	byDir map[string][]string // failing packages, by the directories of their dependencies
	dirs  map[string]string   // the directory of each package, relative to the project's root
}

// reach caches what is known of a state of the files, since many edits are tried on one.
type reach struct {
	state    string
	packages []string // that fail
	affects  affects
}

func failingPackages(r gotest.Report) []string {
	var list []string
	for _, x := range r.Failures {
		if x.Package != "" && !slices.Contains(list, x.Package) {
			list = append(list, x.Package)
		}
	}
	return list
}

// affected lists for each directory the failing packages whose tests depend on it.
func affected(ctx context.Context, s *testrun.Suite, g testrun.GoCommand, packages []string) (affects, error) {
	a := affects{map[string][]string{}, map[string]string{}}
	if len(packages) == 0 {
		return a, nil
	}
	list, err := s.Modules(ctx, g, packages)
	if err != nil {
		return a, err
	}
	byPath := map[string][]testrun.Listed{} // with the variants made for tests
	for _, p := range list {
		name, _, _ := strings.Cut(p.ImportPath, " ")
		byPath[name] = append(byPath[name], p)
		a.dirs[p.ImportPath] = p.Dir
	}
	for _, pkg := range packages {
		seen := map[string]bool{}
		todo := []string{pkg, pkg + "_test"}
		for len(todo) > 0 {
			name := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[name] {
				continue
			}
			seen[name] = true
			for _, p := range byPath[name] {
				if p.ForTest != "" && p.ForTest != pkg {
					continue
				}
				if dir := p.Dir; !slices.Contains(a.byDir[dir], pkg) {
					a.byDir[dir] = append(a.byDir[dir], pkg)
				}
				for _, i := range p.Imports {
					i, _, _ = strings.Cut(i, " ")
					todo = append(todo, i)
				}
			}
		}
	}
	return a, nil
}

// mostAffected is how many failing packages an edit is tried on: a fault
// that many packages show is shown by some of them.
const mostAffected = 4

// of returns the failing packages for an edit, its own first.
func (a affects) of(c *candidate) []string {
	var own, list []string
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		for i, pkg := range a.byDir[path.Dir(name)] {
			switch {
			case slices.Contains(own, pkg), slices.Contains(list, pkg):
			case i == 0 || strings.HasSuffix(pkg, "/"+path.Dir(name)):
				own = append(own, pkg)
			default:
				list = append(list, pkg)
			}
		}
	}
	list = append(own, list...)
	return list[:min(len(list), mostAffected)]
}
