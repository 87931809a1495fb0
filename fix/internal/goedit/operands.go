package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// mostNamed bounds the names tried in the place of a literal or beside an operand: unlike a
// wrong name, which is mostly like the right one, these could be anything.
const mostNamed = 3

// named proposes a variable or a constant in the place of a literal: a value that was written
// down once and should depend on the call.
func (m *mutator) named(n *ast.BasicLit, stack []ast.Node) {
	switch parent(stack).(type) {
	case *ast.ReturnStmt, *ast.CaseClause, *ast.ValueSpec:
		return // a rule for results, and places where a variable makes no sense
	}
	t := m.typ(n)
	if t == nil {
		return
	}
	t = types.Default(t)
	var twins []twin
	for _, o := range m.visible(n.Pos()) {
		if !types.Identical(types.Default(o.Type()), t) || o.Pos() == m.d.name0() {
			continue
		}
		w := 0.5
		switch v := o.(type) {
		case *types.Const:
			if v.Val().ExactString() == n.Value {
				continue
			}
			w = 0.5
		case *types.Var:
			switch {
			case isGlobal(v):
				w = 0.3
			case m.idle(v):
				w = 3
			case v.Kind() == types.ParamVar:
				w = 0.7
			}
		default:
			continue
		}
		twins = append(twins, twin{o.Name(), w})
	}
	twins = distinct(twins)
	m.instead(n, twins[:min(len(twins), mostNamed)], variable, 0.2, "literal")
}

// fewerOperands takes an operand of arithmetic away, or a text out of several that are joined.
func (m *mutator) fewerOperands(n *ast.BinaryExpr, stack []ast.Node) {
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
	default:
		return
	}
	if one, ok := small(n.Y); ok && one == 1 && (n.Op == token.ADD || n.Op == token.SUB) || m.g.info.Types[n].Value != nil {
		return // without ± 1 there is a rule
	}
	whole := ast.Node(n)
	if p, ok := parent(stack).(*ast.ParenExpr); ok && isOperand(n.X) && isOperand(n.Y) {
		whole = p // which the parentheses were for
	}
	m.replace(whole.Pos(), whole.End(), m.text(n.X), arithmetic, 0.2, "without the operand %s %s", n.Op, firstLine(m.text(n.Y)))
	if n.Op == token.ADD || n.Op == token.MUL {
		m.replace(whole.Pos(), whole.End(), m.text(n.Y), arithmetic, 0.14, "without the operand %s %s", firstLine(m.text(n.X)), n.Op)
	}
}

// moreOperands adds an operand to a number or text that is assigned or returned: a parameter
// that nothing reads, or a variable that is named in the same statement elsewhere.
func (m *mutator) moreOperands(x ast.Expr) {
	t := m.typ(x)
	if t == nil || m.g.info.Types[x].Value != nil {
		return
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsNumeric|types.IsString) == 0 {
		return
	}
	var twins []twin
	for _, v := range m.locals(x.Pos()) {
		if !types.Identical(v.Type(), t) || mentions(m.text(x), v.Name()) {
			continue
		}
		switch {
		case m.idle(v):
			twins = append(twins, twin{v.Name(), 2.5})
		case v.Kind() == types.ParamVar:
			twins = append(twins, twin{v.Name(), 0.6})
		}
	}
	twins = distinct(twins)
	ops := []string{" + ", " - ", " * "}
	if b.Info()&types.IsString != 0 {
		ops = ops[:1]
	}
	text := m.text(x)
	for i, v := range twins[:min(len(twins), mostNamed)] {
		for j, op := range ops {
			left := text
			if inner, ok := x.(*ast.BinaryExpr); ok && op == " * " && inner.Op.Precedence() < token.MUL.Precedence() {
				left = "(" + text + ")"
			}
			w := 0.16 * v.weight / ((1 + 0.5*float64(i)) * (1 + 0.25*float64(j)))
			m.replace(x.Pos(), x.End(), left+op+v.text, arithmetic, w, "missing operand:%s%s", op, v.text)
			if j == 0 && len(ops) == 1 {
				m.replace(x.Pos(), x.End(), v.text+op+left, arithmetic, w, "missing operand: %s%s", v.text, strings.TrimRight(op, " "))
			}
		}
	}
}
