package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
)

// running adds to the condition under which the best so far is replaced that the
// new one is better.
func (m *mutator) running(n *ast.IfStmt) {
	if len(n.Body.List) == 0 {
		return
	}
	a, ok := n.Body.List[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !isName(a.Lhs[0]) || !isName(a.Rhs[0]) || !m.same(a.Lhs[0], a.Rhs[0]) {
		return
	}
	best, next := m.text(a.Lhs[0]), m.text(a.Rhs[0])
	var pairs [][2]string
	if m.ordered(a.Lhs[0]) {
		pairs = append(pairs, [2]string{next, best})
	}
	s := structOf(m.typ(a.Lhs[0]))
	for i := range min(fieldsOf(s), 8) {
		f := s.Field(i)
		if b, ok := f.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsNumeric != 0 && (f.Exported() || f.Pkg() == m.pkg()) {
			pairs = append(pairs, [2]string{next + "." + f.Name(), best + "." + f.Name()})
		}
	}
	for i, p := range pairs {
		for _, op := range []string{" < ", " > "} {
			m.replace(n.Cond.End(), n.Cond.End(), " || "+p[0]+op+p[1], term, 0.3/(1+0.3*float64(i)), "missing term: || %s", p[0]+op+p[1])
		}
	}
}

// moves proposes a step of a number just before it is asked whether it has come
// to somewhere.
func (m *mutator) moves(n *ast.IfStmt) {
	if n.Init != nil {
		return
	}
	b, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL || hasCall(b.X) || isLiteral(b.X) {
		return
	}
	switch b.X.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
	default:
		return
	}
	if !m.surelyInteger(b.X) {
		return
	}
	for _, step := range []string{"++", "--"} {
		m.before(n, m.text(b.X)+step, missing, 0.25, "missing: %s", m.text(b.X)+step)
	}
}
