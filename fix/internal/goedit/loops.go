package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
)

// direction turns a loop around: from the first to the last becomes from the
// last to the first.
func (m *mutator) direction(n *ast.ForStmt) {
	init, ok1 := n.Init.(*ast.AssignStmt)
	cond, ok2 := n.Cond.(*ast.BinaryExpr)
	post, ok3 := n.Post.(*ast.IncDecStmt)
	if ok3 {
		m.replace(post.Pos(), post.End(), m.text(post.X)+" "+map[token.Token]string{token.INC: "+", token.DEC: "-"}[post.Tok]+"= 2", step, 0.3, "step of two")
	}
	if p, ok := n.Post.(*ast.AssignStmt); ok && len(p.Lhs) == 1 && (p.Tok == token.ADD_ASSIGN || p.Tok == token.SUB_ASSIGN) {
		m.replace(p.Pos(), p.End(), m.text(p.Lhs[0])+map[token.Token]string{token.ADD_ASSIGN: "++", token.SUB_ASSIGN: "--"}[p.Tok], step, 0.4, "step of one")
	}
	if !ok1 || !ok2 || !ok3 || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return
	}
	i, from, to := m.text(init.Lhs[0]), m.text(init.Rhs[0]), m.text(cond.Y)
	var head string
	switch {
	case cond.Op == token.LSS && post.Tok == token.INC:
		head = i + " := " + to + " - 1; " + i + " >= " + from + "; " + i + "--"
	case cond.Op == token.LEQ && post.Tok == token.INC:
		head = i + " := " + to + "; " + i + " >= " + from + "; " + i + "--"
	case cond.Op == token.GEQ && post.Tok == token.DEC:
		last := from + " + 1"
		if b, ok := init.Rhs[0].(*ast.BinaryExpr); ok && b.Op == token.SUB {
			if v, ok := small(b.Y); ok && v == 1 {
				last = m.text(b.X)
			}
		}
		head = i + " := " + to + "; " + i + " < " + last + "; " + i + "++"
	default:
		return
	}
	m.replace(init.Pos(), post.End(), head, step, 0.3, "loop in the other direction")
}

// part makes a loop over a part of a slice one over the whole, and back.
func (m *mutator) part(n *ast.RangeStmt) {
	t := m.typ(n.X)
	if t == nil || hasCall(n.X) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			m.shift(n.X, 0.5, 0.5, "loop bound")
			return
		}
		if u.Info()&types.IsString == 0 {
			return
		}
	default:
		return
	}
	if s, ok := n.X.(*ast.SliceExpr); ok {
		m.replace(s.Pos(), s.End(), m.text(s.X), bounds, 0.5, "loop over the whole of %s", m.text(s.X))
		return
	}
	x := m.text(n.X)
	m.replace(n.X.End(), n.X.End(), "[1:]", bounds, 0.3, "loop over all but the first of %s", x)
	m.replace(n.X.End(), n.X.End(), "[:len("+x+")-1]", bounds, 0.25, "loop over all but the last of %s", x)
}

// halves proposes the other part of a sliced value, and the whole.
func (m *mutator) halves(n *ast.SliceExpr) {
	if n.Slice3 {
		return
	}
	x := m.text(n.X)
	switch {
	case n.Low == nil && n.High != nil:
		m.replace(n.Pos(), n.End(), x+"["+m.text(n.High)+":]", bounds, 0.4, "the other part of %s", x)
	case n.Low != nil && n.High == nil:
		m.replace(n.Pos(), n.End(), x+"[:"+m.text(n.Low)+"]", bounds, 0.4, "the other part of %s", x)
	case n.Low != nil:
		m.replace(n.Pos(), n.End(), x+"["+m.text(n.Low)+":]", bounds, 0.3, "%s to its end", x)
		m.replace(n.Pos(), n.End(), x+"[:"+m.text(n.High)+"]", bounds, 0.3, "%s from its beginning", x)
	}
}

// stuck proposes steps for a loop that does not end by itself: one of the
// variables in its condition has to move.
func (m *mutator) stuck(n *ast.ForStmt) {
	if n.Cond == nil || len(n.Body.List) == 0 {
		return
	}
	last := n.Body.List[len(n.Body.List)-1]
	ast.Inspect(n.Cond, func(x ast.Node) bool {
		e, ok := x.(ast.Expr)
		if !ok || !isName(e) {
			return true
		}
		t := m.typ(e)
		if t == nil {
			return true
		}
		w := 0.35 * times(m.clues.hangs, 3)
		text := m.text(e)
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 && m.g.info.Types[e].Value == nil {
			m.after(last, text+"++", step, w, "missing step: %s++", text)
			m.after(last, text+"--", step, w*0.8, "missing step: %s--", text)
		}
		if s := structOf(t); s != nil {
			for i := range fieldsOf(s) {
				if f := s.Field(i); types.Identical(f.Type(), t) {
					with := text + " = " + text + "." + f.Name()
					m.after(last, with, step, w, "missing step: %s", with)
				}
			}
		}
		_, deeper := e.(*ast.SelectorExpr)
		return !deeper
	})
}

// headed weighs edits that turn one half of a loop's head against the other: a
// loop that counts up while it is below something is sound as it is, and was
// hardly meant to count down. Where the halves disagree, it is the fault.
func headed(f *ast.ForStmt, step, op token.Token) float64 {
	if op == token.ILLEGAL || f == nil {
		return 1
	}
	if toward(step, op) {
		return 0.1
	}
	return 2
}

// toward reports whether a step leads to where a comparison does not hold.
func toward(step, op token.Token) bool {
	switch op {
	case token.LSS, token.LEQ:
		return step == token.INC
	case token.GTR, token.GEQ:
		return step == token.DEC
	}
	return op == token.NEQ
}

// condOp is the comparison of a loop that counts the variable it steps.
func condOp(f *ast.ForStmt) token.Token {
	b, ok := f.Cond.(*ast.BinaryExpr)
	p, isStep := f.Post.(*ast.IncDecStmt)
	if !ok || !isStep {
		return token.ILLEGAL
	}
	x, ok1 := b.X.(*ast.Ident)
	y, ok2 := p.X.(*ast.Ident)
	if _, compares := comparisons[b.Op]; !compares || !ok1 || !ok2 || x.Name != y.Name {
		return token.ILLEGAL
	}
	return b.Op
}

// stepOf is the step of the loop whose condition is examined.
func stepOf(f *ast.ForStmt, heads bool) (token.Token, bool) {
	if !heads || condOp(f) == token.ILLEGAL {
		return token.ILLEGAL, false
	}
	return f.Post.(*ast.IncDecStmt).Tok, true
}
