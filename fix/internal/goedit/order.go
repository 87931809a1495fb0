package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
)

// neighbours exchanges two statements that follow each other.
func (m *mutator) neighbours(a, b ast.Stmt) {
	if isDefine(a) && m.uses(b, a) || jumps(a) {
		return
	}
	weight := 0.33
	switch {
	case jumps(b):
		return
	case isDefer(a) && isDefer(b):
		weight = 0.7
	case isSimple(a) && isSimple(b):
		weight = 0.42
	}
	between := string(m.d.file.src[m.g.offset(a.End()):m.g.offset(b.Pos())])
	m.replace(a.Pos(), b.End(), m.text(b)+between+m.text(a), order, weight, "statements exchanged: %s and %s", firstLine(m.text(a)), firstLine(m.text(b)))
}

// grouping multiplies before it divides, and moves the parentheses of the classic slip of a + b / c.
func (m *mutator) grouping(n *ast.BinaryExpr) {
	x, xIs := n.X.(*ast.BinaryExpr)
	y, yIs := n.Y.(*ast.BinaryExpr)
	sum := n.Op == token.ADD || n.Op == token.SUB
	if n.Op == token.MUL && xIs && x.Op == token.QUO && m.integer(x.X) {
		m.replace(n.Pos(), n.End(), m.text(x.X)+" * "+m.text(n.Y)+" / "+m.text(x.Y), order, 0.7, "multiplication before division")
	}
	if sum && xIs && isProduct(x.Op) {
		m.replace(n.Pos(), n.End(), m.text(x.X)+" "+x.Op.String()+" ("+m.text(x.Y)+" "+n.Op.String()+" "+m.text(n.Y)+")", order, 0.45, "parentheses around the sum")
	}
	if sum && yIs && isProduct(y.Op) {
		m.replace(n.Pos(), n.End(), "("+m.text(n.X)+" "+n.Op.String()+" "+m.text(y.X)+") "+y.Op.String()+" "+m.text(y.Y), order, 0.5, "parentheses around the sum")
	}
}

func isProduct(t token.Token) bool { return t == token.MUL || t == token.QUO || t == token.REM }

// conversion divides after a conversion to a float in the place of before.
func (m *mutator) conversion(n *ast.CallExpr) {
	if len(n.Args) != 1 || !m.g.info.Types[n.Fun].IsType() {
		return
	}
	b, ok := n.Args[0].(*ast.BinaryExpr)
	t := m.typ(n)
	if !ok || t == nil {
		return
	}
	u, ok := t.Underlying().(*types.Basic)
	if !ok || u.Info()&types.IsNumeric == 0 {
		return
	}
	f := m.text(n.Fun)
	weight := 0.35
	if b.Op == token.QUO && u.Info()&types.IsFloat != 0 {
		weight = 0.9
	}
	whole := f + "(" + m.text(b.X) + ") " + b.Op.String() + " " + f + "(" + m.text(b.Y) + ")"
	m.replace(n.Pos(), n.End(), whole, order, weight, "%s of each operand", f)
}

func isDefine(s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	return ok && a.Tok == token.DEFINE
}

func isDefer(s ast.Stmt) bool { _, ok := s.(*ast.DeferStmt); return ok }

func isSimple(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

// uses reports whether a statement names what another declares.
func (m *mutator) uses(s, declares ast.Stmt) bool {
	names := map[types.Object]bool{}
	if a, ok := declares.(*ast.AssignStmt); ok {
		for _, x := range a.Lhs {
			if id, ok := x.(*ast.Ident); ok {
				if o := m.g.info.Defs[id]; o != nil {
					names[o] = true
				}
			}
		}
	}
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[m.g.info.Uses[id]] {
			found = true
		}
		return !found
	})
	return found
}
