package goedit

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"go/version"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Bounds on what is read, far above the size of a module that suits such repairs: they bound
// memory and time for anything else.
const (
	maxFiles    = 5000
	maxFileSize = 1 << 20
)

// module is the parsed source.
type module struct {
	path  string // from go.mod; "" without one
	old   bool   // the go.mod asks for a Go in which all iterations of a loop share their variables
	fset  *token.FileSet
	files []*file // sorted by path
	dirs  map[string][]*file
}

type file struct {
	path      string
	src       []byte
	ast       *ast.File
	test      bool
	editable  bool
	formatted bool                       // gofmt has nothing to say
	built     bool                       // no constraint keeps it from being compiled here
	imports   map[*decl][]*types.PkgName // which declaration uses which import; made when asked for
	lent      []*types.PkgName           // packages that it does not import and edits may use; nil: not known yet
}

func (f *file) dir() string { return path.Dir(f.path) }

func load(root fs.FS) (*module, error) {
	m := &module{fset: token.NewFileSet(), dirs: map[string][]*file{}}
	if b, err := fs.ReadFile(root, "go.mod"); err == nil {
		m.path, m.old = ModulePath(b), sharesLoops(b)
	}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(root, p, d)
		}
		if !strings.HasSuffix(p, ".go") || len(m.files) >= maxFiles || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
			return nil
		}
		if info, err := d.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFileSize {
			return nil
		}
		src, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		m.add(p, src)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	if len(m.files) == 0 {
		return nil, errors.New("no Go file that parses: want the root of a Go module")
	}
	return m, nil
}

func skipDir(root fs.FS, p string, d fs.DirEntry) error {
	if p == "." {
		return nil
	}
	if skipped(d.Name()) {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, path.Join(p, "go.mod")); err == nil {
		return fs.SkipDir // another module
	}
	return nil
}

func (m *module) add(p string, src []byte) {
	parsed, err := parser.ParseFile(m.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return
	}
	f := &file{path: p, src: src, ast: parsed, test: strings.HasSuffix(p, "_test.go")}
	f.built = builds(p, src)
	f.editable = !f.test && f.built && !ast.IsGenerated(parsed)
	if f.editable {
		clean, err := format.Source(src)
		f.formatted = err == nil && bytes.Equal(clean, src)
	}
	m.files = append(m.files, f)
	dir := path.Dir(p)
	m.dirs[dir] = append(m.dirs[dir], f)
}

// builds reports whether the go command on this machine would compile a file, by its name
// and its build constraint.
func builds(p string, src []byte) bool {
	ctx := build.Default
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	match, err := ctx.MatchFile(path.Dir(p), path.Base(p))
	return match || err != nil
}

// ModulePath reads the module directive of a go.mod; empty: there is none.
func ModulePath(gomod []byte) string {
	for line := range strings.Lines(string(gomod)) {
		line, _, _ = strings.Cut(line, "//")
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return strings.Trim(f[1], "\"`")
		}
	}
	return ""
}

// sharesLoops reports whether a go.mod asks for a version of Go before 1.22, or for none.
func sharesLoops(gomod []byte) bool {
	for line := range strings.Lines(string(gomod)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "go" {
			return version.Compare("go"+f[1], "go1.22") < 0
		}
	}
	return true
}

// dirOf returns the directory of a package by its import path.
func (m *module) dirOf(pkg string) (string, bool) {
	pkg, _, _ = strings.Cut(pkg, " ")
	if m.path != "" {
		rest, ok := strings.CutPrefix(pkg, m.path)
		rest = strings.TrimPrefix(rest, "/")
		if rest == "" {
			rest = "."
		}
		_, known := m.dirs[rest]
		return rest, ok && known
	}
	best, found := ".", false
	if _, ok := m.dirs["."]; ok {
		found = true
	}
	for dir := range m.dirs {
		if (pkg == dir || strings.HasSuffix(pkg, "/"+dir)) && (best == "." || len(dir) > len(best)) {
			best, found = dir, true
		}
	}
	return best, found
}

// spare closes the packages that help tests, such as testutil, unless a test of their own fails:
// an edit there changes what a test asks.
func (m *module) spare(failures []Failure) {
	failing := map[string]bool{}
	for _, f := range failures {
		dir, _ := m.dirOf(f.Package)
		failing[dir] = true
	}
	for _, f := range m.files {
		name := f.ast.Name.Name
		if (strings.HasPrefix(name, "test") || strings.HasSuffix(name, "test")) && !failing[f.dir()] {
			f.editable = false
		}
	}
}

// find returns the file that a location of a failure in dir means.
func (m *module) find(dir string, l Location) *file {
	name := path.Clean(strings.TrimPrefix(l.File, "./"))
	for _, p := range []string{name, path.Join(dir, path.Base(name))} {
		for _, f := range m.dirs[path.Dir(p)] {
			if f.path == p {
				return f
			}
		}
	}
	return nil
}

func (m *module) line(p token.Pos) int { return m.fset.PositionFor(p, false).Line }

func (m *module) offset(p token.Pos) int { return m.fset.PositionFor(p, false).Offset }
