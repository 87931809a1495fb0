package goedit

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mostSiblings bounds the renamed variants of one statement or comparison.
const mostSiblings = 4

// siblings are possible counterparts of a variable or field: of the same type, in the same
// scope, under another name, the most similar first.
func (m *mutator) siblings(x ast.Expr) []twin {
	var out []twin
	switch x := x.(type) {
	case *ast.Ident:
		o, ok := m.g.info.ObjectOf(x).(*types.Var)
		if !ok || o.IsField() || isGlobal(o) {
			return nil
		}
		for _, v := range m.locals(x.Pos()) {
			if v != o && types.Identical(v.Type(), o.Type()) {
				out = append(out, twin{v.Name(), likeness(x.Name, v.Name())})
			}
		}
	case *ast.SelectorExpr:
		return m.fieldsBeside(x)
	}
	slices.SortStableFunc(out, func(a, b twin) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), mostSiblings)]
}

// fieldsBeside are the other fields of the type of one.
func (m *mutator) fieldsBeside(x *ast.SelectorExpr) []twin {
	sel := m.g.info.Selections[x]
	if sel == nil || sel.Kind() != types.FieldVal || hasCall(x.X) {
		return nil
	}
	var out []twin
	s := structOf(sel.Recv())
	for i := range fieldsOf(s) {
		f := s.Field(i)
		if f.Name() != x.Sel.Name && (f.Exported() || f.Pkg() == m.pkg()) && types.Identical(f.Type(), sel.Type()) {
			out = append(out, twin{m.text(x.X) + "." + f.Name(), likeness(x.Sel.Name, f.Name())})
		}
	}
	slices.SortStableFunc(out, func(a, b twin) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), mostSiblings)]
}

// sameOfOther repeats a call, or the two calls that end with it, for another field of the same
// type: where all fields are to be shown or copied, one is easily forgotten.
func (m *mutator) sameOfOther(s, before ast.Stmt) {
	if x, ok := s.(*ast.ExprStmt); !ok || strings.Contains(m.text(x), "\n") {
		return
	}
	at := m.g.offset(s.Pos())
	ast.Inspect(s, func(n ast.Node) bool {
		x, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		for i, t := range m.fieldsBeside(x) {
			from, end := m.g.offset(x.Pos())-at, m.g.offset(x.End())-at
			text := m.text(s)[:from] + t.text + m.text(s)[end:]
			w := 0.3 * t.weight / (1 + 0.4*float64(i))
			m.after(s, text, missing, w, "missing: %s", text)
			if b, ok := before.(*ast.ExprStmt); ok && !strings.Contains(m.text(b), "\n") {
				m.after(s, m.text(b)+"\n"+text, missing, w, "missing: %s", text)
			}
		}
		return true
	})
}

// secondOfTwo proposes the counterpart of a neighbouring statement: where one of two indexes
// moves, or one of two links is set, the other is easily forgotten.
func (m *mutator) secondOfTwo(s ast.Stmt, list []ast.Stmt) {
	var x ast.Expr
	switch s := s.(type) {
	case *ast.IncDecStmt:
		x = s.X
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && s.Tok != token.DEFINE {
			x = s.Lhs[0]
		}
	}
	if x == nil {
		return
	}
	rest := string(m.d.file.src[m.g.offset(x.End()):m.g.offset(s.End())])
	for i, t := range m.siblings(x) {
		text := t.text + rest
		if slices.ContainsFunc(list, func(s ast.Stmt) bool { return m.text(s) == text }) {
			continue
		}
		w := 0.3 * t.weight / (1 + 0.4*float64(i))
		m.after(s, text, missing, w, "missing: %s", text)
		m.before(s, text, missing, 0.7*w, "missing: %s", text)
	}
}
