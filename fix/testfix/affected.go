package testfix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
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

// reach caches what is known as long as no file imports something else.
type reach struct {
	imports  string
	packages []string
	affects  affects
}

// affected lists for each directory those of the packages whose tests depend on it.
func (f *Fix) affected(ctx context.Context, g testrun.GoCommand, packages []string) (affects, error) {
	imports, err := f.importing()
	if err != nil {
		return affects{}, err
	}
	if r := f.reach; r != nil && r.imports == imports && slices.Equal(r.packages, packages) {
		return r.affects, nil
	}
	found, err := affected(ctx, f.Suite, g, packages)
	if err == nil {
		f.reach = &reach{imports, packages, found}
	}
	return found, err
}

// importing digests what the files depend on: those of Go up to the end of their imports, and the modules.
func (f *Fix) importing() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(f.Root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		kind := path.Ext(name)
		if err != nil || entry.IsDir() || kind != ".go" && kind != ".mod" && kind != ".work" {
			return nil //nolint:nilerr // the go command says it better
		}
		text, _, err := f.Files.Read(name)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		if file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly); err == nil && kind == ".go" {
			end := file.Name.End()
			for _, d := range file.Decls {
				end = max(end, d.End())
			}
			text = text[:end-file.FileStart]
		}
		fmt.Fprintf(sum, "%q %q\n", name, text)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("look at the imports: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
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
