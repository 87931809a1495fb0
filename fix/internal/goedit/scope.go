package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
)

// visible lists the variables, constants and functions that may be named at a
// position, the innermost first.
func (m *mutator) visible(pos token.Pos) []types.Object {
	pkg := m.g.pkgs[path.Dir(m.d.file.path)]
	if pkg == nil {
		return nil
	}
	inner := pkg.Scope().Innermost(pos)
	var out []types.Object
	seen := map[string]bool{"_": true}
	for s := inner; s != nil && s != types.Universe; s = s.Parent() {
		for _, name := range s.Names() {
			if seen[name] {
				continue
			}
			_, o := inner.LookupParent(name, pos)
			if o == nil {
				continue
			}
			seen[name] = true
			switch o.(type) {
			case *types.Var, *types.Const, *types.Func:
				out = append(out, o)
			}
		}
	}
	return out
}

// locals are the variables of the function, its parameters included, that may
// be named at a position.
func (m *mutator) locals(pos token.Pos) []*types.Var {
	var out []*types.Var
	for _, o := range m.visible(pos) {
		if v, ok := o.(*types.Var); ok && !isGlobal(v) {
			out = append(out, v)
		}
	}
	return out
}

func isGlobal(o types.Object) bool { return o.Pkg() != nil && o.Parent() == o.Pkg().Scope() }

// typ is the type of an expression, or nil when it is not known.
func (m *mutator) typ(x ast.Expr) types.Type {
	if x == nil {
		return nil
	}
	t := m.g.info.Types[x].Type
	if t == nil {
		if id, ok := x.(*ast.Ident); ok {
			if o := m.g.info.ObjectOf(id); o != nil {
				t = o.Type()
			}
		}
	}
	if t == nil || t == types.Typ[types.Invalid] {
		return nil
	}
	return t
}

// same reports whether two expressions have the same type, or one that an untyped constant
// can take.
func (m *mutator) same(x, y ast.Expr) bool {
	a, b := m.typ(x), m.typ(y)
	return a != nil && b != nil && types.Identical(types.Default(a), types.Default(b))
}

// typeText writes a type as the file would, or returns "" if the file cannot
// name it.
func (m *mutator) typeText(t types.Type) string {
	ok := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p.Path() == path.Join(m.g.path, path.Dir(m.d.file.path)) {
			return ""
		}
		for _, spec := range m.d.file.ast.Imports {
			if name, known := m.g.info.Implicits[spec].(*types.PkgName); known && name.Imported() == p {
				return name.Name()
			}
			if spec.Name != nil {
				if name, known := m.g.info.Defs[spec.Name].(*types.PkgName); known && name.Imported() == p {
					return name.Name()
				}
			}
		}
		for _, name := range m.d.file.lent {
			if name.Imported() == p {
				return name.Name()
			}
		}
		ok = false
		return p.Name()
	})
	if !ok {
		return ""
	}
	return text
}

// zero writes the zero value of a type, or returns "" if the file cannot.
func (m *mutator) zero(t types.Type) string {
	if _, ok := t.(*types.TypeParam); ok {
		return "*new(" + m.typeText(t) + ")"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsNumeric != 0:
			return "0"
		case u.Info()&types.IsString != 0:
			return `""`
		}
		return "nil"
	case *types.Struct, *types.Array:
		if s := m.typeText(t); s != "" {
			return s + "{}"
		}
		return ""
	}
	return "nil"
}

// function is the innermost function around, its signature and body.
func (m *mutator) function(stack []ast.Node) (*types.Signature, *ast.BlockStmt) {
	for _, n := range slices.Backward(stack) {
		switch n := n.(type) {
		case *ast.FuncLit:
			sig, _ := m.typ(n).(*types.Signature)
			return sig, n.Body
		case *ast.FuncDecl:
			if fn, ok := m.g.info.Defs[n.Name].(*types.Func); ok {
				return fn.Signature(), n.Body
			}
			return nil, n.Body
		}
	}
	return nil, nil
}

// inLoop reports whether continue and break are allowed below the given nodes.
func inLoop(stack []ast.Node) (loop, breakable bool) {
	for _, n := range slices.Backward(stack) {
		switch n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return false, breakable
		case *ast.ForStmt, *ast.RangeStmt:
			return true, true
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			breakable = true
		}
	}
	return false, breakable
}
