package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// constant changes an integer literal by one. Its position says how likely it is a bound:
// a comparison or an index more than a table.
func (m *mutator) constant(n *ast.BasicLit, stack []ast.Node) {
	v, ok := small(n)
	if !ok || n.Value != strconv.FormatInt(v, 10) {
		return // hexadecimal and the like are masks and codes, not counts
	}
	weight, from, negative := 0.55, n.Pos(), true
	switch p := parent(stack).(type) {
	case *ast.BinaryExpr:
		if _, ok := comparisons[p.Op]; ok {
			weight = 0.65
		}
		if p.Op == token.SHL || p.Op == token.SHR {
			weight = 0.4
		}
	case *ast.IndexExpr, *ast.SliceExpr:
		weight, negative = 0.65, false // a negative index does not compile
	case *ast.AssignStmt:
		weight = 0.65
	case *ast.CompositeLit, *ast.KeyValueExpr:
		weight = 0.2
	case *ast.CaseClause:
		weight = 0.3
	case *ast.UnaryExpr:
		if p.Op == token.SUB {
			weight, from, v = 0.3, p.Pos(), -v // mostly -1 as an answer
		}
	}
	up, down := weight, weight
	switch v {
	case 0:
		down = weight * 0.4
	case 1:
		down = weight * 1.15
	}
	m.replace(from, n.End(), strconv.FormatInt(v+1, 10), bounds, up, "off by one: constant %d → %d", v, v+1)
	if v > 0 || negative {
		m.replace(from, n.End(), strconv.FormatInt(v-1, 10), bounds, down, "off by one: constant %d → %d", v, v-1)
	}
}

// index moves x[i] to x[i-1] and x[i+1]; literals are constant's.
func (m *mutator) index(n *ast.IndexExpr) {
	if m.g.info.Types[n.Index].IsType() || !m.movable(n.Index) {
		return
	}
	less, more := 0.6, 0.5
	if t := m.g.info.Types[n.X].Type; t != nil {
		switch t.Underlying().(type) {
		case *types.Map:
			less, more = 0.2, 0.2
		case *types.Signature:
			return // an instantiation
		}
	}
	m.shift(n.Index, less, more, "index")
}

func (m *mutator) slice(n *ast.SliceExpr) {
	for i, x := range []ast.Expr{n.Low, n.High} {
		if x != nil && m.movable(x) {
			m.shift(x, 0.6, 0.6, []string{"lower bound", "upper bound"}[i])
		}
	}
}

// movable reports whether x may become x+1 or x-1 as an index: not literals, i+1 and i-1,
// which other rules change.
func (m *mutator) movable(x ast.Expr) bool {
	if _, ok := small(x); ok || !m.integer(x) {
		return false
	}
	switch x := x.(type) {
	case *ast.BinaryExpr:
		v, ok := small(x.Y)
		return !ok || v != 1
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return !ok || id.Name != "len"
	}
	return true
}

// length changes len(x) to len(x)-1 and len(x)+1. Next to + 1 or - 1 another rule does it.
func (m *mutator) length(n *ast.CallExpr, stack []ast.Node) {
	id, ok := n.Fun.(*ast.Ident)
	if !ok || id.Name != "len" || m.g.declared(id) != nil {
		return
	}
	less, more := 0.6, 0.3
	if p, ok := parent(stack).(*ast.BinaryExpr); ok {
		if v, ok := small(p.Y); ok && v == 1 && (p.Op == token.ADD || p.Op == token.SUB) {
			return
		}
		if v, ok := small(p.Y); ok && v == 0 {
			less, more = 0.2, 0.1 // len(x) == 0 asks whether there is anything
		}
		if p.Op.Precedence() > token.ADD.Precedence() || p.Op == token.SUB && p.Y == n {
			m.replace(n.Pos(), n.End(), "("+m.text(n)+" - 1)", bounds, less, "off by one: len − 1")
			m.replace(n.Pos(), n.End(), "("+m.text(n)+" + 1)", bounds, more, "off by one: len + 1")
			return
		}
	}
	m.shift(n, less, more, "len")
}
