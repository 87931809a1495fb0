package goedit

import (
	"go/ast"
	"go/types"
)

// builtin proposes another function for a predeclared one.
func (m *mutator) builtin(n *ast.CallExpr) {
	id, ok := n.Fun.(*ast.Ident)
	if !ok {
		return
	}
	if _, ok := m.g.info.Uses[id].(*types.Builtin); !ok {
		return
	}
	switch id.Name {
	case "min":
		m.replace(id.Pos(), id.End(), "max", function, 0.9, "min → max")
	case "max":
		m.replace(id.Pos(), id.End(), "min", function, 0.9, "max → min")
	case "cap":
		m.replace(id.Pos(), id.End(), "len", function, 0.7, "cap → len")
	case "len":
		m.measured(n, id)
	}
	if id.Name != "min" && id.Name != "max" {
		return
	}
	for _, x := range n.Args {
		if len(n.Args) == 2 {
			m.replace(n.Pos(), n.End(), m.text(x), function, 0.2, "without %s", id.Name)
		}
	}
}

// measured proposes other measures of a text or collection than len: the count
// of its characters, or a function of the package that takes the same.
func (m *mutator) measured(n *ast.CallExpr, id *ast.Ident) {
	if len(n.Args) != 1 {
		return
	}
	t := m.typ(n.Args[0])
	if t == nil {
		return
	}
	text := m.text(n.Args[0])
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		m.replace(n.Pos(), n.End(), "len([]rune("+text+"))", function, 0.35, "characters, not bytes, of %s", text)
	}
	for _, o := range m.visible(n.Pos()) {
		f, ok := o.(*types.Func)
		if !ok || f.Name() == m.d.name {
			continue
		}
		p, r := f.Signature().Params(), f.Signature().Results()
		if p.Len() == 1 && r.Len() == 1 && types.Identical(p.At(0).Type(), t) && types.Identical(r.At(0).Type(), types.Typ[types.Int]) {
			m.replace(id.Pos(), id.End(), f.Name(), function, 0.6, "len → %s", f.Name())
		}
	}
}

// clamped keeps the bounds of a slice, or an index, within what there is.
func (m *mutator) clamped(x, low, high ast.Expr) {
	t := m.typ(x)
	if t == nil || hasCall(x) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			return
		}
	default:
		return
	}
	w := 0.22 * times(m.clues.outside, 4)
	if high != nil && !isLiteral(high) {
		m.replace(high.Pos(), high.End(), "min("+m.text(high)+", len("+m.text(x)+"))", term, w, "at most len(%s)", m.text(x))
	}
	if low != nil && !isLiteral(low) {
		m.replace(low.Pos(), low.End(), "max("+m.text(low)+", 0)", term, 0.7*w, "at least 0")
		m.replace(low.Pos(), low.End(), "min("+m.text(low)+", len("+m.text(x)+"))", term, 0.7*w, "at most len(%s)", m.text(x))
	}
}

// moved adds one to a number that is assigned, returned or handed over.
func (m *mutator) moved(x ast.Expr, weight float64) {
	if isName(x) && m.surelyInteger(x) {
		m.shift(x, weight, weight, "value")
	}
}

// kept is how likely an assigned number is off by one. A value that is stored in a field
// or an element is mostly right, and the comparison that reads it wrong.
// it wrongly.
func kept(where ast.Expr) float64 {
	switch where.(type) {
	case *ast.SelectorExpr, *ast.IndexExpr:
		return 0.1
	}
	return 0.4
}

// crossNames exchanges two names of one type within a statement, wherever in it
// they stand.
func (m *mutator) crossNames(s ast.Stmt) {
	var names []*ast.Ident
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.Ident:
			if v, ok := m.g.info.Uses[n].(*types.Var); ok && !v.IsField() {
				names = append(names, n)
			}
			if _, ok := m.g.info.Uses[n].(*types.Const); ok {
				names = append(names, n)
			}
		}
		return true
	})
	if len(names) > 8 {
		return
	}
	for i, x := range names {
		for _, y := range names[i+1:] {
			if x.Name != y.Name && m.same(x, y) {
				m.exchange(x, y, 0.28, "names")
			}
		}
	}
}
