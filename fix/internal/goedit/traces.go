package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
)

// Variables that are read and never set, and functions with equal bodies, are traces of a
// fault in the code itself. Bugs as deviant behaviour (Engler et al., 2001) makes this idea a
// method.
const (
	neverFilled = 3.0 // for edits that fill what nothing else does
	copyOf      = 2.5 // for edits of a function with the body of its neighbour
)

// traces are those found in a package's code.
type traces struct {
	filled map[types.Object]bool // slices appended to, maps set, others assigned
	copies map[*decl]bool
	unused []types.Object // nil until asked for; see unusedOf
}

func (g *graph) tracesOf(dir string) *traces {
	if t := g.shown[dir]; t != nil {
		return t
	}
	t := &traces{filled: map[types.Object]bool{}, copies: map[*decl]bool{}}
	bodies := map[string]*decl{}
	for _, d := range g.decls {
		if path.Dir(d.file.path) != dir || d.file.test {
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			g.fills(t, n)
			return true
		})
		fn, ok := d.node.(*ast.FuncDecl)
		if !ok || fn.Body == nil || len(fn.Body.List) == 0 || len(fn.Type.Params.List) == 0 {
			continue
		}
		text := func(n ast.Node) string { return string(d.file.src[g.offset(n.Pos()):g.offset(n.End())]) }
		key := d.recv + " " + text(fn.Type.Params) + text(fn.Body)
		if first := bodies[key]; first != nil {
			t.copies[first], t.copies[d] = true, true
		} else {
			bodies[key] = d
		}
	}
	if g.shown == nil {
		g.shown = map[string]*traces{}
	}
	g.shown[dir] = t
	return t
}

// fills records what a statement or literal sets.
func (g *graph) fills(t *traces, n ast.Node) {
	note := func(x ast.Expr) {
		if o := g.object(x); o != nil {
			t.filled[o] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			if at, ok := x.(*ast.IndexExpr); ok {
				note(at.X)
				continue
			}
			o := g.object(x)
			if o == nil {
				continue
			}
			if _, ok := o.Type().Underlying().(*types.Slice); ok && len(n.Lhs) == len(n.Rhs) && !grows(n.Rhs[i]) {
				continue
			}
			t.filled[o] = true
		}
	case *ast.IncDecStmt:
		note(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			note(n.X)
		}
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok {
			if v, ok := g.info.Uses[id].(*types.Var); ok && v.IsField() {
				t.filled[v] = true
			}
		}
	case *ast.CompositeLit:
		// One without keys gives every field a value.
		if tv, ok := g.info.Types[n]; ok && len(n.Elts) > 0 && !isKeyed(n.Elts[0]) {
			s := structOf(tv.Type)
			for i := range fieldsOf(s) {
				t.filled[s.Field(i)] = true
			}
		}
	}
}

// grows reports whether an assigned value may be longer than the old one.
func grows(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SliceExpr:
		return false
	case *ast.Ident:
		return x.Name != "nil"
	case *ast.CompositeLit:
		return len(x.Elts) > 0
	}
	return true
}

// object is the variable or field that an expression names.
func (g *graph) object(x ast.Expr) types.Object {
	switch x := x.(type) {
	case *ast.Ident:
		if v, ok := g.info.ObjectOf(x).(*types.Var); ok {
			return v
		}
	case *ast.SelectorExpr:
		if v, ok := g.info.Uses[x.Sel].(*types.Var); ok {
			return v.Origin()
		}
	}
	return nil
}

// empty reports whether a variable or field is never filled in its package.
func (m *mutator) empty(o types.Object) bool {
	if v, ok := o.(*types.Var); ok {
		o = v.Origin()
	}
	if o.Pkg() == nil || o.Pkg() != m.pkg() {
		return false
	}
	return !m.g.tracesOf(m.d.file.dir()).filled[o]
}
