package refactor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// goPackage is a package of the module, with types.
type goPackage struct {
	ImportPath, Name, Dir string
	GoFiles, CgoFiles     []string
	Module                *struct{ GoVersion string }
	Error                 *struct{ Err string }

	fset  *token.FileSet
	files []*goFile
	types *types.Package
	info  *types.Info
}

// goFile is one of its files, without those of tests.
type goFile struct {
	name, at string // in the working copy, and as the go command calls it
	text     string
	file     *ast.File
}

// loader type-checks packages of the module from source, and reads others as they are built.
type loader struct {
	r        *Refactor
	fset     *token.FileSet
	packages map[string]*goPackage
	others   types.Importer
	was      []edit
}

// load type-checks the packages of the module. The files of edits are as they were. go/packages would do the same,
// and make the program a megabyte larger.
func (r *Refactor) load(ctx context.Context, was []edit) ([]*goPackage, error) {
	state := ""
	if was == nil && len(r.edits()) > 0 {
		state = r.state()
	}
	if list := r.loaded[state]; list != nil {
		return list, nil
	}
	list, err := r.loadNow(ctx, was)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(r.loaded, func(other string, _ []*goPackage) bool { return other != "" && state != "" })
	r.loaded[state] = list
	return list, nil
}

func (r *Refactor) loadNow(ctx context.Context, was []edit) ([]*goPackage, error) {
	g, err := testrun.ParseGoCommand(r.source.Test[2:])
	if err != nil {
		return nil, err
	}
	flags := testrun.Listable(g.Build)
	out, err := r.Suite.GoTool(ctx, slices.Concat([]string{"list", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Module,Error"}, flags, []string{"./..."})...)
	if err != nil {
		return nil, fmt.Errorf("load the packages: %w", err)
	}
	l := &loader{r: r, fset: token.NewFileSet(), packages: map[string]*goPackage{}, was: was}
	var list []*goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &goPackage{}
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("load the packages: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("load the packages: %s: %s", p.ImportPath, p.Error.Err)
		}
		if p.fset = l.fset; l.parse(p) {
			list = append(list, p)
			l.packages[p.ImportPath] = p
		}
	}
	if l.others, err = goedit.Exports(ctx, r.Tree.Dir(), r.Suite.Env, slices.Concat(flags, l.imports(list))...); err != nil {
		return nil, fmt.Errorf("load the packages: %w", err)
	}
	for _, p := range list {
		if _, err := l.check(p); err != nil {
			return nil, fmt.Errorf("load the packages: %w", err)
		}
	}
	return list, nil
}

// parse reads the files of a package, and reports whether there are any.
func (l *loader) parse(p *goPackage) bool {
	for _, base := range slices.Concat(p.GoFiles, p.CgoFiles) {
		f := &goFile{at: filepath.Join(p.Dir, base)}
		f.name = l.r.nameOf(f.at)
		if i := slices.IndexFunc(l.was, func(e edit) bool { return e.name == f.name }); i >= 0 {
			if l.was[i].old == nil {
				continue
			}
			f.text = *l.was[i].old
		} else if data, _, err := l.r.Files.Read(f.name); err == nil {
			f.text = string(data)
		} else {
			continue // such as what cgo makes
		}
		var err error
		if f.file, err = parser.ParseFile(l.fset, f.at, f.text, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			p.files = append(p.files, f)
		}
	}
	return len(p.files) > 0
}

// nameOf is what a file is called in the working copy; empty: it is elsewhere.
func (r *Refactor) nameOf(at string) string {
	real, err := filepath.EvalSymlinks(r.Tree.Dir())
	if err != nil {
		real = r.Tree.Dir()
	}
	for _, root := range []string{r.Tree.Dir(), real} {
		if rel, err := filepath.Rel(root, at); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return ""
}

// imports lists the packages of others that files import: those of files as they were may be imported no more.
func (l *loader) imports(list []*goPackage) []string {
	var all []string
	for _, p := range list {
		for _, f := range p.files {
			for _, spec := range f.file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err == nil && path != "C" && path != "unsafe" && l.packages[path] == nil && !slices.Contains(all, path) {
					all = append(all, path)
				}
			}
		}
	}
	return all
}

// check type-checks a package, after those that it imports.
func (l *loader) check(p *goPackage) (*types.Package, error) {
	if p.types != nil {
		return p.types, nil
	}
	conf := types.Config{Importer: l, FakeImportC: true, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
	files := make([]*ast.File, len(p.files))
	for i, f := range p.files {
		files[i] = f.file
	}
	var err error
	if p.types, err = conf.Check(p.ImportPath, l.fset, files, p.info); err != nil {
		return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
	}
	return p.types, nil
}

// Import implements [types.Importer].
func (l *loader) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := l.packages[path]; p != nil {
		return l.check(p)
	}
	return l.others.Import(path)
}
