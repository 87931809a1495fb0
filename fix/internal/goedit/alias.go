package goedit

import (
	"go/ast"
	"go/types"
	"strings"
)

// copied proposes a copy of a slice where the slice itself is kept or given
// away, so that two owners write to it.
func (m *mutator) copied(x ast.Expr, weight float64) {
	t := m.typ(x)
	if t == nil {
		return
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok || !isName(x) && !isSlicing(x) {
		return
	}
	elem := m.typeText(s.Elem())
	if elem == "" || m.text(x) == "nil" {
		return
	}
	m.replace(x.Pos(), x.End(), "append([]"+elem+"(nil), "+m.text(x)+"...)", alias, weight, "copy of %s", m.text(x))
}

func isSlicing(x ast.Expr) bool { _, ok := x.(*ast.SliceExpr); return ok }

// owned offers copied what a call, assignment or return keeps.
func (m *mutator) owned(n ast.Node) {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		for _, x := range n.Results {
			if _, ok := x.(*ast.SelectorExpr); ok || isSlicing(x) {
				m.copied(x, 0.45)
			}
		}
	case *ast.AssignStmt:
		for i, x := range n.Rhs {
			if i < len(n.Lhs) && len(n.Lhs) == len(n.Rhs) && m.text(n.Lhs[i]) != m.text(x) {
				w := 0.35
				if b, ok := x.(*ast.SliceExpr); ok && m.text(b.X) == m.text(n.Lhs[i]) {
					w = 0.1
				}
				m.copied(x, w)
			}
		}
	case *ast.KeyValueExpr:
		m.copied(n.Value, 0.4)
	case *ast.SendStmt:
		m.copied(n.Value, 0.4)
	case *ast.CallExpr:
		if baseName(n.Fun) == "append" && len(n.Args) > 1 && !n.Ellipsis.IsValid() {
			for _, x := range n.Args[1:] {
				m.copied(x, 0.7)
			}
		}
		if baseName(n.Fun) == "append" && len(n.Args) > 1 {
			m.copied(n.Args[0], 0.3)
		}
	}
}

// made fixes calls of make: a length where a capacity was meant, and back.
func (m *mutator) made(n *ast.CallExpr) {
	if baseName(n.Fun) != "make" || len(n.Args) < 2 {
		return
	}
	t := m.typ(n)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Slice); !ok {
		return
	}
	typ, size := m.text(n.Args[0]), m.text(n.Args[1])
	switch {
	case len(n.Args) == 2 && size != "0":
		m.replace(n.Pos(), n.End(), "make("+typ+", 0, "+size+")", alias, 0.55, "length of make is a capacity")
	case len(n.Args) == 3 && size == "0":
		m.replace(n.Pos(), n.End(), "make("+typ+", "+m.text(n.Args[2])+")", alias, 0.55, "capacity of make is a length")
	case size == "0":
		m.replace(n.Args[1].Pos(), n.Args[1].End(), "1", alias, 0.2, "make of one")
	}
}

// element makes a loop over copies one over the elements themselves, when the
// body changes the copy.
func (m *mutator) element(n *ast.RangeStmt) {
	v, ok := n.Value.(*ast.Ident)
	if !ok || v.Name == "_" || n.Key == nil || hasCall(n.X) {
		return
	}
	t := m.typ(n.X)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Slice); !ok {
		return
	}
	o := m.g.info.Defs[v]
	if o == nil || structOf(o.Type()) == nil {
		return
	}
	if _, ok := o.Type().Underlying().(*types.Pointer); ok {
		return
	}
	changed := false
	ast.Inspect(n.Body, func(x ast.Node) bool {
		var lhs []ast.Expr
		switch x := x.(type) {
		case *ast.AssignStmt:
			lhs = x.Lhs
		case *ast.IncDecStmt:
			lhs = []ast.Expr{x.X}
		case *ast.CallExpr:
			if s, ok := x.Fun.(*ast.SelectorExpr); ok {
				lhs = []ast.Expr{s}
			}
		case *ast.UnaryExpr:
			lhs = []ast.Expr{&ast.SelectorExpr{X: x.X, Sel: v}}
		}
		for _, l := range lhs {
			if s, ok := l.(*ast.SelectorExpr); ok {
				if id, ok := s.X.(*ast.Ident); ok && m.g.info.Uses[id] == o {
					changed = true
				}
			}
		}
		return !changed
	})
	if !changed {
		return
	}
	key := m.text(n.Key)
	if key == "_" {
		key = "i"
	}
	body := m.text(n.Body)
	rest := strings.TrimPrefix(body, "{")
	m.replace(n.Key.Pos(), n.End(), key+" := range "+m.text(n.X)+" {\n"+v.Name+" := &"+m.text(n.X)+"["+key+"]"+rest, alias, 0.8, "loop over a copy: &%s[%s]", m.text(n.X), key)
}

// pointed makes the receiver of a method that changes it a pointer.
func (m *mutator) pointed(fn *ast.FuncDecl) {
	r := m.receiver()
	if r == nil || fn.Body == nil {
		return
	}
	if _, ok := r.Type().Underlying().(*types.Pointer); ok || structOf(r.Type()) == nil {
		return
	}
	changes := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				changes = changes || m.isPartOf(x, r)
			}
		case *ast.IncDecStmt:
			changes = changes || m.isPartOf(n.X, r)
		}
		return !changes
	})
	if changes {
		t := fn.Recv.List[0].Type
		m.replace(t.Pos(), t.Pos(), "*", alias, 1.5, "receiver is a copy: *%s", m.text(t))
	}
}

func (m *mutator) isPartOf(x ast.Expr, v *types.Var) bool {
	for {
		switch y := x.(type) {
		case *ast.SelectorExpr:
			x = y.X
		case *ast.Ident:
			return m.g.info.Uses[y] == v
		default:
			return false
		}
	}
}

// filled proposes to make a map before it is written to.
func (m *mutator) filled(s *ast.AssignStmt) {
	for _, x := range s.Lhs {
		at, ok := x.(*ast.IndexExpr)
		if !ok || hasCall(at.X) {
			continue
		}
		t := m.typ(at.X)
		if t == nil {
			continue
		}
		if _, ok := t.Underlying().(*types.Map); !ok {
			continue
		}
		text, typ := m.text(at.X), m.typeText(t)
		if typ == "" {
			continue
		}
		w := 0.15 * times(m.clues.nilMap, 8)
		m.before(s, "if "+text+" == nil {\n"+text+" = make("+typ+")\n}", guard, w, "missing make of %s", text)
	}
}

// unmade proposes to make the maps that a composite literal leaves nil.
func (m *mutator) unmade(n *ast.CompositeLit) {
	t := m.typ(n)
	if t == nil {
		return
	}
	s := structOf(t)
	if s == nil || len(n.Elts) > 0 && !isKeyed(n.Elts[0]) {
		return
	}
	given := map[string]bool{}
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			given[baseName(kv.Key)] = true
		}
	}
	for i := range fieldsOf(s) {
		f := s.Field(i)
		if given[f.Name()] || !f.Exported() && f.Pkg() != m.pkg() {
			continue
		}
		var with []twin
		switch f.Type().Underlying().(type) {
		case *types.Map:
			if typ := m.typeText(f.Type()); typ != "" {
				with = append(with, twin{"make(" + typ + ")", 0.3 * times(m.clues.nilMap, 5)})
			}
		}
		for _, v := range m.locals(n.Pos()) {
			if types.Identical(v.Type(), f.Type()) {
				w := 0.3 * likeness(f.Name(), v.Name())
				if strings.EqualFold(v.Name(), f.Name()) {
					w = 0.8
				}
				with = append(with, twin{v.Name(), w * times(m.idle(v), 2.5)})
			}
		}
		for _, w := range with {
			comma := ", "
			if len(n.Elts) == 0 {
				comma = ""
			}
			at := n.Lbrace + 1
			if len(n.Elts) > 0 {
				at = n.Elts[len(n.Elts)-1].End()
			}
			m.replace(at, at, comma+f.Name()+": "+w.text, alias, w.weight, "missing field %s: %s", f.Name(), w.text)
		}
	}
}

func isKeyed(x ast.Expr) bool { _, ok := x.(*ast.KeyValueExpr); return ok }
