package goedit

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Needed is for a caller that reads a module file by file, such as an agent with tools: given
// what it has read so far (go.mod first) and the existing paths, it returns the sorted paths
// to read before calling Candidates. These are the Go files in the directories of the failing
// packages and of the module's packages that those import, directly or not. When Needed
// returns nothing, Candidates gives the same result as for the whole module, except for
// interfaces implemented in packages that none of them import.
//
// Reading these paths may lead to more.
func Needed(have fs.FS, paths []string, h Hints) []string {
	m := &module{dirs: map[string][]*file{}}
	if b, err := fs.ReadFile(have, "go.mod"); err == nil {
		m.path = ModulePath(b)
	} else if slices.Contains(paths, "go.mod") {
		return []string{"go.mod"}
	}
	for _, p := range paths {
		if strings.HasSuffix(p, ".go") && !skipped(path.Dir(p)) {
			m.dirs[path.Dir(p)] = append(m.dirs[path.Dir(p)], &file{path: p})
		}
	}
	var need, dirs []string
	visit := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, f := range h.Failures {
		if dir, ok := m.dirOf(f.Package); ok {
			visit(dir)
		}
	}
	for i := 0; i < len(dirs); i++ {
		for _, f := range m.dirs[dirs[i]] {
			src, err := fs.ReadFile(have, f.path)
			if err != nil {
				need = append(need, f.path)
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f.path, src, parser.ImportsOnly)
			if err != nil {
				continue
			}
			for _, imp := range parsed.Imports {
				p, _ := strconv.Unquote(imp.Path.Value)
				// Without a module path, any import would seem to mean the root.
				if dir, ok := m.dirOf(p); ok && (m.path != "" || dir != ".") {
					visit(dir)
				}
			}
		}
	}
	slices.Sort(need)
	return need
}

// skipped reports whether the go command ignores a directory's packages.
func skipped(dir string) bool {
	if dir == "." {
		return false
	}
	return slices.ContainsFunc(strings.Split(dir, "/"), func(name string) bool {
		return name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
	})
}
