package goedit

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// swap is one operator that may have been meant instead of another.
type swap struct {
	to     token.Token
	weight float64
}

// Neighbours come first: the boundary of a comparison, the opposite of a sum.
var comparisons = map[token.Token][]swap{
	token.LSS: {{token.LEQ, 1}, {token.GTR, 0.7}, {token.GEQ, 0.4}, {token.NEQ, 0.45}, {token.EQL, 0.2}},
	token.LEQ: {{token.LSS, 1}, {token.GEQ, 0.7}, {token.GTR, 0.4}, {token.NEQ, 0.1}, {token.EQL, 0.15}},
	token.GTR: {{token.GEQ, 1}, {token.LSS, 0.7}, {token.LEQ, 0.4}, {token.NEQ, 0.45}, {token.EQL, 0.2}},
	token.GEQ: {{token.GTR, 1}, {token.LEQ, 0.7}, {token.LSS, 0.4}, {token.NEQ, 0.1}, {token.EQL, 0.15}},
	token.EQL: {{token.NEQ, 0.9}, {token.LEQ, 0.25}, {token.GEQ, 0.25}, {token.LSS, 0.15}, {token.GTR, 0.15}},
	token.NEQ: {{token.EQL, 0.9}, {token.LSS, 0.25}, {token.GTR, 0.25}, {token.LEQ, 0.1}, {token.GEQ, 0.1}},
}

var arithmetics = map[token.Token][]swap{
	token.ADD: {{token.SUB, 0.9}, {token.MUL, 0.5}, {token.QUO, 0.15}, {token.REM, 0.1}},
	token.SUB: {{token.ADD, 0.9}, {token.QUO, 0.2}, {token.MUL, 0.25}, {token.REM, 0.1}},
	token.MUL: {{token.QUO, 0.8}, {token.ADD, 0.55}, {token.SUB, 0.25}, {token.REM, 0.2}},
	token.QUO: {{token.MUL, 0.8}, {token.REM, 0.65}, {token.SUB, 0.25}, {token.ADD, 0.15}},
	token.REM: {{token.QUO, 0.8}, {token.MUL, 0.3}, {token.SUB, 0.25}, {token.ADD, 0.15}},

	token.AND:     {{token.OR, 0.85}, {token.AND_NOT, 0.6}, {token.XOR, 0.4}},
	token.OR:      {{token.AND, 0.85}, {token.XOR, 0.6}, {token.AND_NOT, 0.4}},
	token.XOR:     {{token.OR, 0.7}, {token.AND_NOT, 0.6}, {token.AND, 0.6}},
	token.AND_NOT: {{token.AND, 0.8}, {token.XOR, 0.6}, {token.OR, 0.4}},
	token.SHL:     {{token.SHR, 0.9}},
	token.SHR:     {{token.SHL, 0.9}},
}

var assignments = map[token.Token][]swap{
	token.ADD_ASSIGN: {{token.SUB_ASSIGN, 0.85}, {token.MUL_ASSIGN, 0.4}, {token.ASSIGN, 0.2}},
	token.SUB_ASSIGN: {{token.ADD_ASSIGN, 0.85}, {token.QUO_ASSIGN, 0.25}, {token.ASSIGN, 0.2}},
	token.MUL_ASSIGN: {{token.QUO_ASSIGN, 0.8}, {token.ADD_ASSIGN, 0.6}, {token.ASSIGN, 0.2}},
	token.QUO_ASSIGN: {{token.MUL_ASSIGN, 0.8}, {token.REM_ASSIGN, 0.55}, {token.SUB_ASSIGN, 0.3}},
	token.REM_ASSIGN: {{token.QUO_ASSIGN, 0.8}, {token.SUB_ASSIGN, 0.3}},
	token.ASSIGN:     {{token.ADD_ASSIGN, 0.3}},

	token.AND_ASSIGN:     {{token.OR_ASSIGN, 0.7}, {token.AND_NOT_ASSIGN, 0.7}, {token.XOR_ASSIGN, 0.4}},
	token.OR_ASSIGN:      {{token.AND_ASSIGN, 0.6}, {token.XOR_ASSIGN, 0.6}, {token.AND_NOT_ASSIGN, 0.6}, {token.ASSIGN, 0.3}},
	token.XOR_ASSIGN:     {{token.AND_NOT_ASSIGN, 0.7}, {token.OR_ASSIGN, 0.7}, {token.AND_ASSIGN, 0.5}},
	token.AND_NOT_ASSIGN: {{token.AND_ASSIGN, 0.7}, {token.XOR_ASSIGN, 0.6}, {token.OR_ASSIGN, 0.6}},
	token.SHL_ASSIGN:     {{token.SHR_ASSIGN, 0.9}},
	token.SHR_ASSIGN:     {{token.SHL_ASSIGN, 0.9}},
}

func (m *mutator) operator(n *ast.BinaryExpr, stack []ast.Node) {
	end := n.OpPos + token.Pos(len(n.Op.String()))
	if swaps, ok := comparisons[n.Op]; ok {
		rare := 1.0
		if id, ok := n.X.(*ast.Ident); ok && id.Name == "err" {
			rare = 0.35 // err != nil is seldom the fault
		}
		for _, s := range swaps {
			if s.to == token.EQL || s.to == token.NEQ || m.ordered(n.X) && m.ordered(n.Y) {
				before := len(m.sites)
				m.replace(n.OpPos, end, s.to.String(), comparison, s.weight*rare*m.past(n, s.to), "comparison operator %s → %s", n.Op, s.to)
				for i := range m.sites[before:] {
					m.sites[before+i].differs = outcomes[n.Op] ^ outcomes[s.to]
				}
			}
		}
		m.limit(n, stack)
		m.forgotten(n.Y, false, 0.35, 0.25)
		m.forgotten(n.X, false, 0.2, 0.2)
		return
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		to := token.LAND
		if n.Op == token.LAND {
			to = token.LOR
		}
		m.replace(n.OpPos, end, to.String(), boolean, 0.9, "boolean operator %s → %s", n.Op, to)
		for _, x := range []ast.Expr{n.X, n.Y} {
			if b, ok := x.(*ast.BinaryExpr); !ok || b.Op != token.LAND && b.Op != token.LOR {
				m.negate(x, 0.4)
			}
		}
		return
	}
	swaps, ok := arithmetics[n.Op]
	if !ok || !m.numeric(n.X) || !m.numeric(n.Y) {
		return
	}
	for _, s := range swaps {
		if s.to != token.REM && !isBits(s.to) || m.integer(n.X) && m.integer(n.Y) {
			m.replace(n.OpPos, end, s.to.String(), arithmetic, s.weight, "arithmetic operator %s → %s", n.Op, s.to)
		}
	}
	switch n.Op {
	case token.ADD, token.SUB:
		if one, ok := small(n.Y); ok && one == 1 {
			whole := ast.Node(n)
			if p, ok := parent(stack).(*ast.ParenExpr); ok && isOperand(n.X) {
				whole = p // which the parentheses were for
			}
			m.replace(whole.Pos(), whole.End(), m.text(n.X), bounds, 0.75, "off by one: without %s 1", n.Op)
		} else if m.surelyInteger(n) && !insideSum(stack) {
			m.replace(n.End(), n.End(), " - 1", bounds, 0.3, "off by one: sum − 1")
			m.replace(n.End(), n.End(), " + 1", bounds, 0.3, "off by one: sum + 1")
		}
	case token.MUL, token.QUO, token.REM:
		m.forgotten(n.X, true, 0.3, 0.3)
		m.forgotten(n.Y, true, 0.15, 0.15)
	}
}

// past favours a comparison that still holds when a number has passed the one that it is compared
// with: below zero, or beyond a limit. It is zero for questions about a length that have the same
// answer, or one answer only.
func (m *mutator) past(n *ast.BinaryExpr, to token.Token) float64 {
	zero, literal := small(n.Y)
	if c, ok := n.X.(*ast.CallExpr); ok && baseName(c.Fun) == "len" && literal && zero == 0 {
		opposite := map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL, token.GTR: token.LEQ}[n.Op]
		return times(opposite != 0 && opposite != to, 0)
	}
	beyond := to == token.LEQ && literal && zero == 0 || to == token.GEQ && !literal && m.surelyInteger(n.Y)
	return times(n.Op == token.EQL && beyond && m.surelyInteger(n.X), 2.5)
}

// outcomes are the results of comparing two values for which an operator holds: less, equal, more.
var outcomes = map[token.Token]uint{
	token.LSS: 0b100, token.LEQ: 0b110, token.EQL: 0b010, token.GEQ: 0b011, token.GTR: 0b001, token.NEQ: 0b101,
}

func isBits(t token.Token) bool {
	return token.AND <= t && t <= token.AND_NOT
}

// isOperand reports whether x needs no parentheses next to any operator.
func isOperand(x ast.Expr) bool {
	switch x.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr, *ast.BasicLit:
		return true
	}
	return false
}

// insideSum reports whether the expression with these parents is an operand of a longer sum,
// where adding one at the end has the same effect.
func insideSum(stack []ast.Node) bool {
	p, ok := parent(stack).(*ast.BinaryExpr)
	return ok && (p.Op == token.ADD || p.Op == token.SUB)
}

// forgotten adds or takes one to or from a variable, for a ± 1 that was left
// out.
func (m *mutator) forgotten(x ast.Expr, parens bool, less, more float64) {
	switch x.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return
	}
	if !m.surelyInteger(x) {
		return
	}
	form := "%s"
	if parens {
		form = "(%s)"
	}
	m.replace(x.Pos(), x.End(), fmt.Sprintf(form, m.text(x)+" - 1"), bounds, less, "off by one: operand − 1")
	m.replace(x.Pos(), x.End(), fmt.Sprintf(form, m.text(x)+" + 1"), bounds, more, "off by one: operand + 1")
}

// surelyInteger is for rules that would be too many on a guess.
func (m *mutator) surelyInteger(x ast.Expr) bool {
	info, known := m.basic(x)
	return known && info&types.IsInteger != 0 && m.g.info.Types[x].Value == nil
}

// limit changes the bound in a loop's condition by one.
func (m *mutator) limit(n *ast.BinaryExpr, stack []ast.Node) {
	f, ok := parent(stack).(*ast.ForStmt)
	if !ok || n.Op == token.EQL || n.Op == token.NEQ || f.Cond != n || !m.integer(n.Y) {
		return
	}
	switch n.Y.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		m.shift(n.Y, 0.45, 0.35, "loop bound")
	}
}

// shift makes x-1 and x+1 of x.
func (m *mutator) shift(x ast.Expr, less, more float64, what string) {
	m.replace(x.Pos(), x.End(), m.operand(x)+" - 1", bounds, less, "off by one: %s − 1", what)
	m.replace(x.Pos(), x.End(), m.operand(x)+" + 1", bounds, more, "off by one: %s + 1", what)
}

func (m *mutator) incDec(n *ast.IncDecStmt) {
	to := token.INC
	if n.Tok == token.INC {
		to = token.DEC
	}
	m.replace(n.TokPos, n.TokPos+2, to.String(), step, 0.75, "%s → %s", n.Tok, to)
}

func (m *mutator) assign(n *ast.AssignStmt) {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return
	}
	if !m.numeric(n.Lhs[0]) || !m.numeric(n.Rhs[0]) {
		return
	}
	if _, known := m.basic(n.Lhs[0]); n.Tok == token.ASSIGN && !known {
		return
	}
	for _, s := range assignments[n.Tok] {
		end := n.TokPos + token.Pos(len(n.Tok.String()))
		m.replace(n.TokPos, end, s.to.String(), step, s.weight, "assignment %s → %s", n.Tok, s.to)
	}
}

// unNegate takes a ! or a minus sign away.
func (m *mutator) unNegate(n *ast.UnaryExpr) {
	switch n.Op {
	case token.NOT:
		m.replace(n.OpPos, n.X.Pos(), "", negation, 0.9, "condition without !")
	case token.SUB:
		m.replace(n.OpPos, n.X.Pos(), "", arithmetic, 0.5, "without the minus sign")
	}
}

// negate puts a ! before a condition. A lone comparison is left to the rule of
// its operator, which says the same more plainly.
func (m *mutator) negate(x ast.Expr, weight float64) {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			m.replace(x.Pos(), x.End(), "!("+m.text(x)+")", negation, weight/2, "condition negated")
		}
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr, *ast.ParenExpr:
		if _, known := m.basic(x); known && !m.isBool(x) {
			return
		}
		m.replace(x.Pos(), x.Pos(), "!", negation, weight, "condition negated")
	}
}

func (m *mutator) truth(n *ast.Ident, stack []ast.Node) {
	if n.Name != "true" && n.Name != "false" || m.g.declared(n) != nil {
		return
	}
	to, weight := "true", 0.4
	if n.Name == "true" {
		to = "false"
	}
	switch parent(stack).(type) {
	case *ast.ReturnStmt:
		weight = 0.65
	case *ast.CompositeLit, *ast.KeyValueExpr:
		weight = 0.2
	}
	m.replace(n.Pos(), n.End(), to, truth, weight, "%s → %s", n.Name, to)
}
