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
