package goedit

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"path"
)

// compiles reports whether a package still type-checks with one file changed. Existing
// errors may remain, so that such code can be fixed one error at a time; if in doubt,
// compiles returns true.
func (c *checker) compiles(f *file, now *ast.File) bool {
	if c.outside == nil {
		return true
	}
	dir := path.Dir(f.path)
	check := func(files []*ast.File) string {
		conf := types.Config{Importer: c, FakeImportC: true}
		_, err := conf.Check(path.Join(c.g.path, dir), c.g.fset, files, nil)
		return complaint(err)
	}
	before, ok := c.sound[dir]
	if !ok {
		before = check(c.code(dir, nil, nil))
		c.sound[dir] = before
	}
	after := check(c.code(dir, f, now))
	return after == "" || after == before
}

// fits is compiles for a function whose body was changed. Nothing outside a function
// depends on its body, so fits checks that function only, as a function literal in the scope
// of its file, which is about a thousand times faster than checking the package. It returns
// the imports of the file that have to change with the function.
func (c *checker) fits(f *file, d *decl, old, now *ast.FuncDecl) ([]importChange, bool) {
	pkg := c.pkgs[path.Dir(f.path)]
	if c.outside == nil || pkg == nil || !f.built {
		return nil, true
	}
	before, ok := c.sound[d]
	if !ok {
		before = complaint(c.checkBody(pkg, f, old, old, nil))
		c.sound[d] = before
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	after := complaint(c.checkBody(pkg, f, old, now, info))
	if after != "" {
		return nil, after == before
	}
	return c.importsAfter(f, d, info), true
}

func (c *checker) checkBody(pkg *types.Package, f *file, old, now *ast.FuncDecl, info *types.Info) error {
	typ := &ast.FuncType{Func: now.Type.Func, Params: &ast.FieldList{}, Results: now.Type.Results}
	for _, list := range []*ast.FieldList{now.Recv, now.Type.Params} {
		if list == nil {
			continue
		}
		for _, p := range list.List {
			if len(p.Names) == 0 {
				p = &ast.Field{Names: []*ast.Ident{{NamePos: p.Pos(), Name: "_"}}, Type: p.Type}
			}
			typ.Params.List = append(typ.Params.List, p)
		}
	}
	pos := f.ast.Package
	if fn, ok := c.g.info.Defs[old.Name].(*types.Func); ok {
		sig := fn.Signature()
		if sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0 {
			pos = c.openScope(pkg, f, old, sig)
		}
	}
	return types.CheckExpr(c.g.fset, pkg, pos, &ast.FuncLit{Type: typ, Body: now.Body}, info)
}

// openScope makes a scope that has nothing but the type parameters of a
// function, and returns a position in it: that of the line end before the
// function, for the function's own scope has its variables too.
func (c *checker) openScope(pkg *types.Package, f *file, fn *ast.FuncDecl, sig *types.Signature) (pos token.Pos) {
	pos = fn.Pos() - 1
	inner := pkg.Scope().Innermost(pos)
	if inner == nil {
		return f.ast.Package
	}
	if inner.Parent() == nil || inner.Parent() != pkg.Scope() {
		return pos // opened before
	}
	inner = types.NewScope(inner, pos, pos+1, "type parameters")
	for _, list := range []*types.TypeParamList{sig.TypeParams(), sig.RecvTypeParams()} {
		for p := range list.TypeParams() {
			if p.Obj().Name() != "_" {
				// A name of its own, for the parameter's own is not known so early.
				inner.Insert(types.NewTypeName(token.NoPos, pkg, p.Obj().Name(), p))
			}
		}
	}
	return pos
}

// complaint is a type checker's error without its position.
func complaint(err error) string {
	var t types.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &t):
		return t.Msg
	}
	return err.Error()
}
