package goedit

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
		sel := m.g.info.Selections[x]
		if sel == nil || sel.Kind() != types.FieldVal || hasCall(x.X) {
			return nil
		}
		s := structOf(sel.Recv())
		for i := range fieldsOf(s) {
			f := s.Field(i)
			if f.Name() != x.Sel.Name && (f.Exported() || f.Pkg() == m.pkg()) && types.Identical(f.Type(), sel.Type()) {
				out = append(out, twin{m.text(x.X) + "." + f.Name(), likeness(x.Sel.Name, f.Name())})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b twin) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), mostSiblings)]
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

// compared are the comparisons of a condition, said of their counterparts too:
// first == 2 suggests second == 2.
func (m *mutator) compared(cond ast.Expr) []twin {
	var out []twin
	for _, x := range terms(cond) {
		b, ok := x.(*ast.BinaryExpr)
		if !ok || b.Op == token.LAND || b.Op == token.LOR || hasCall(b.X) {
			continue
		}
		rest := string(m.d.file.src[m.g.offset(b.X.End()):m.g.offset(b.End())])
		for _, t := range m.siblings(b.X) {
			if t.text != m.text(b.Y) {
				out = append(out, twin{t.text + rest, 0.5 * t.weight})
			}
		}
	}
	return out
}

// hollow proposes statements for an empty block: an empty block has a reason only if it says
// with break that nothing is to be done.
func (m *mutator) hollow(at token.Pos, stack []ast.Node) {
	var list []twin
	for _, e := range m.exits(at, stack) {
		list = append(list, twin{e.text, 0.9 * e.weight})
	}
	for _, i := range m.g.ingredients(m.d.file.dir()).statements {
		list = append(list, twin{i.text, m.near(i)})
	}
	list = append(list, m.suggested(at)...)
	list = distinct(list)
	for i, x := range list[:min(len(list), 20)] {
		m.replace(at, at, "\n"+x.text+"\n", missing, 0.9*x.weight/(1+0.1*float64(i)), "missing: %s", x.text)
	}
}
