package testfix

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// Modules returns the directories of the Go modules in a project, relative to it, that have a
// test file: those that its go.work names first, then the others, the project itself before
// what is in it, but each after those that it requires. A module is fixed by itself. The result is
// empty for a project without any.
func Modules(dir string) ([]string, error) {
	var found []string
	tested := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && rel != "." && (name == "testdata" || name == "vendor" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return fs.SkipDir
		case d.IsDir() && project.IsFile(filepath.Join(path, "go.mod")):
			found = append(found, rel)
		case strings.HasSuffix(name, "_test.go") && d.Type().IsRegular():
			if m := innermost(found, filepath.Dir(rel)); m != "" {
				tested[m] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for Go modules in %s: %w", dir, err)
	}
	used := map[string]bool{}
	if work := filepath.Join(dir, "go.work"); os.Getenv("GOWORK") != "off" && project.IsFile(work) {
		for _, path := range project.Directories(work) {
			used[filepath.Clean(filepath.FromSlash(path))] = true
		}
	}
	found = slices.DeleteFunc(found, func(m string) bool { return !tested[m] })
	slices.SortStableFunc(found, func(a, b string) int {
		switch {
		case used[a] == used[b]:
			return 0
		case used[a]:
			return -1
		}
		return 1
	})
	return requiredFirst(dir, found), nil
}

// requiredFirst sorts modules so that each comes after those that its go.mod names.
func requiredFirst(dir string, modules []string) []string {
	names, texts := map[string]string{}, map[string]string{}
	for _, m := range modules {
		text, _ := os.ReadFile(filepath.Join(dir, m, "go.mod")) // the go command says what is wrong with it
		names[m], texts[m] = testrun.ModulePath(text), string(text)
	}
	var sorted []string
	seen := map[string]bool{}
	var visit func(m string)
	visit = func(m string) {
		if seen[m] {
			return
		}
		seen[m] = true
		for _, other := range modules {
			if other != m && slices.Contains(strings.Fields(texts[m]), names[other]) {
				visit(other)
			}
		}
		sorted = append(sorted, m)
	}
	for _, m := range modules {
		visit(m)
	}
	return sorted
}

// innermost returns the module that a directory belongs to.
func innermost(modules []string, dir string) string {
	for _, m := range slices.Backward(modules) { // in the order of a walk
		if m == "." || dir == m || strings.HasPrefix(dir, m+string(filepath.Separator)) {
			return m
		}
	}
	return ""
}
