package propose

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// ListFlags are the arguments of go list whose output [Load] reads, before the flags of the build and the
// packages.
var ListFlags = []string{"list", "-e", "-deps", "-test", "-export", "-json=ImportPath,Dir,GoFiles,Export,Standard,Module"}

// A Module is the code that some tests are about: the packages of the main module, or of the workspace, that
// they depend on.
type Module struct {
	Paths []string // the import paths of the packages

	fset     *token.FileSet
	packages []*goPackage
}

type goPackage struct {
	path  string
	files []*goFile
	types *types.Package
	info  *types.Info
}

type goFile struct {
	name string // with slashes, relative to the root
	text []byte
	ast  *ast.File
}

// Load parses and checks the packages that go list printed, as far as their files are beneath the root. Code
// that does not compile is checked as far as that goes.
func Load(listed string, root string, read func(name string) ([]byte, error)) (*Module, error) {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	m := &Module{fset: token.NewFileSet()}
	exports := map[string]string{}
	for list := json.NewDecoder(strings.NewReader(listed)); list.More(); {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Standard                bool
			Module                  *struct{ Main bool }
		}
		if err := list.Decode(&p); err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.Standard || p.Module == nil || !p.Module.Main || strings.Contains(p.ImportPath, " [") || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		if dir, err := filepath.Rel(root, p.Dir); err == nil && filepath.IsLocal(dir) {
			m.Paths = append(m.Paths, p.ImportPath)
			m.packages = append(m.packages, m.parse(p.ImportPath, filepath.ToSlash(dir), p.GoFiles, read))
		}
	}
	m.check(exports)
	return m, nil
}

// File returns the name of the file that a coverage profile names.
func (m *Module) File(profiled string) (string, bool) {
	for _, p := range m.packages {
		for _, f := range p.files {
			if path.Join(p.path, path.Base(f.name)) == profiled {
				return f.name, true
			}
		}
	}
	return "", false
}

// parse leaves out what does not parse: it is edited by nobody.
func (m *Module) parse(at, dir string, files []string, read func(name string) ([]byte, error)) *goPackage {
	p := &goPackage{path: at}
	for _, base := range files {
		name := path.Join(dir, base)
		text, err := read(name)
		if err != nil {
			continue
		}
		file, err := parser.ParseFile(m.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(file) {
			p.files = append(p.files, &goFile{name, text, file})
		}
	}
	return p
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// check finds the types of what the packages consist of. What they import was compiled by go list. Package
// go/importer reads that, too, but it imports go/build and readers of object files, which all users would compile.
func (m *Module) check(exports map[string]string) {
	read := map[string]*types.Package{"unsafe": types.Unsafe}
	imports := importer(func(path string) (*types.Package, error) {
		if p := read[path]; p != nil && p.Complete() {
			return p, nil
		}
		f, err := os.Open(exports[path])
		if err != nil {
			return nil, fmt.Errorf("%s was not compiled: %w", path, err)
		}
		defer f.Close()
		r, err := gcexportdata.NewReader(f) //nolint:staticcheck // up to Go 1.27, go list names archives
		if err != nil {
			return nil, fmt.Errorf("read the types of %s: %w", path, err)
		}
		return gcexportdata.Read(r, m.fset, read, path)
	})
	for _, p := range m.packages {
		var files []*ast.File
		for _, f := range p.files {
			files = append(files, f.ast)
		}
		p.info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		}
		conf := types.Config{Importer: imports, Error: func(error) {}, FakeImportC: true}
		p.types, _ = conf.Check(p.path, m.fset, files, p.info) // as far as it goes
	}
}
