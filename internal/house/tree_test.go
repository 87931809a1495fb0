package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/pawl-run/pawl"

// A tree is the repository as the tests see it.
type tree struct {
	root  string   // the directory that holds go.mod
	files []string // every file, slash separated and relative to root, but for testdata and hidden directories
	fset  *token.FileSet
	pkgs  []*pkg // the packages of the modules of go.work, in order of dir
}

// A pkg is one directory of Go files.
type pkg struct {
	dir   string // relative to the root; "." for the root package
	files []*source
}

// A source is one parsed Go file.
type source struct {
	name string // relative to the root
	dir  string
	test bool
	ast  *ast.File
}

// external reports whether the file belongs to a package X_test, which the
// compiler treats as a package of its own and which may import anything.
func (s *source) external() bool {
	return s.test && strings.HasSuffix(s.ast.Name.Name, "_test")
}

// imports lists the file's import paths.
func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// testOnly reports whether the package has no code besides tests.
func (p *pkg) testOnly() bool {
	return !slices.ContainsFunc(p.files, func(s *source) bool { return !s.test })
}

// internal reports whether the package can be imported from inside the module only.
func internal(dir string) bool { return dir == "internal" || strings.HasPrefix(dir, "internal/") }

// load reads the repository once for all tests.
var load = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, fset: token.NewFileSet()}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			// .ci is ours although it is hidden; the rest of the hidden directories are tools' business. make builds into bin and dist.
			if rel != "." && rel != ".ci" && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || rel == "bin" || rel == "dist") {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			t.files = append(t.files, rel)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, t.parse()
})

func (t *tree) parse() error {
	byDir := map[string]*pkg{}
	for _, name := range t.files {
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "tools/") {
			continue
		}
		file, err := parser.ParseFile(t.fset, filepath.Join(t.root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byDir[dir] == nil {
			byDir[dir] = &pkg{dir: dir}
			t.pkgs = append(t.pkgs, byDir[dir])
		}
		byDir[dir].files = append(byDir[dir].files, &source{name: name, dir: dir, test: strings.HasSuffix(name, "_test.go"), ast: file})
	}
	slices.SortFunc(t.pkgs, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	return nil
}

func repository(t *testing.T) *tree {
	t.Helper()
	tr, err := load()
	must(t, err)
	if len(tr.pkgs) == 0 || tr.pkgs[0].dir != "." {
		t.Fatalf("no root package in %s: the walk went astray", tr.root)
	}
	return tr
}

func (t *tree) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(name)))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
