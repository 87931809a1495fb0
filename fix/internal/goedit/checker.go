package goedit

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
)

// checker type-checks the module's packages, each once without its tests, to
// be imported and to be edited, and once with them.
type checker struct {
	g       *graph
	outside types.Importer            // nil: packages outside the module are empty
	pkgs    map[string]*types.Package // by directory; nil while being checked
	full    map[string]bool
	sound   map[any]string // the original errors of a package or function
}

func newChecker(g *graph, outside types.Importer) *checker {
	return &checker{g: g, outside: outside, pkgs: map[string]*types.Package{}, full: map[string]bool{}, sound: map[any]string{}}
}

func (c *checker) checkDir(dir string) {
	if c.full[dir] {
		return
	}
	c.full[dir] = true
	c.importable(dir)
	var inside, outside []*ast.File
	tests := false
	for _, f := range c.g.dirs[dir] {
		switch {
		case !f.built:
		case f.test && strings.HasSuffix(f.ast.Name.Name, "_test"):
			outside = append(outside, f.ast)
		default:
			inside = append(inside, f.ast)
			tests = tests || f.test
		}
	}
	if tests {
		c.check(dir, inside, c.g.tests)
	}
	if len(outside) > 0 {
		c.check(dir+"_test", outside, c.g.tests)
	}
}

func (c *checker) importable(dir string) *types.Package {
	if p, ok := c.pkgs[dir]; ok {
		return p
	}
	c.pkgs[dir] = nil
	c.pkgs[dir] = c.check(dir, c.code(dir, nil, nil), c.g.info)
	return c.pkgs[dir]
}

// code lists the files of a package without its tests, now in the place of one.
func (c *checker) code(dir string, old *file, now *ast.File) []*ast.File {
	var files []*ast.File
	for _, f := range c.g.dirs[dir] {
		switch {
		case f.test || !f.built:
		case f == old:
			files = append(files, now)
		default:
			files = append(files, f.ast)
		}
	}
	return files
}

func (c *checker) check(dir string, files []*ast.File, info *types.Info) *types.Package {
	conf := types.Config{
		Importer:                 c,
		Error:                    func(error) {},
		FakeImportC:              true,
		DisableUnusedImportCheck: true,
	}
	p, _ := conf.Check(path.Join(c.g.path, dir), c.g.fset, files, info)
	return p
}

// Import returns a package of the module, or one from outside, or an empty one.
func (c *checker) Import(p string) (*types.Package, error) {
	if dir, ok := c.g.dirOf(p); ok && (c.g.path != "" || dir != ".") {
		if pkg := c.importable(dir); pkg != nil {
			return pkg, nil
		}
	} else if c.outside != nil {
		if pkg, err := c.outside.Import(p); err == nil && pkg != nil {
			return pkg, nil
		}
	}
	parts := strings.Split(p, "/")
	name := parts[len(parts)-1]
	if len(parts) > 1 && len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = parts[len(parts)-2]
	}
	empty := types.NewPackage(p, name)
	empty.MarkComplete()
	return empty, nil
}
