package testfix

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modules returns the directories of the Go modules in a project, relative to it, that have a
// test file: those that its go.work names first, then the others, the project itself before
// what is in it. A module is fixed by itself. The result is empty for a project without any.
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
		case d.IsDir() && isFile(filepath.Join(path, "go.mod")):
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
	if work := filepath.Join(dir, "go.work"); os.Getenv("GOWORK") != "off" && isFile(work) {
		for _, path := range directories(work) {
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
	return found, nil
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

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// inside returns the directory of a module in a project.
func inside(dir, module string) (string, error) {
	if module == "" {
		return dir, nil
	}
	if !filepath.IsLocal(module) {
		return "", fmt.Errorf("module %s leads out of the project; name that directory as the project instead", module)
	}
	at := filepath.Join(dir, module)
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s has no directory %s", dir, module)
	}
	return at, nil
}
