package goedit

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// answers proposes other results for a return statement.
func (m *mutator) answers(n *ast.ReturnStmt, stack []ast.Node) {
	sig, _ := m.function(stack)
	if sig == nil || len(n.Results) != sig.Results().Len() {
		return
	}
	for i, x := range n.Results {
		t := sig.Results().At(i).Type()
		text := m.text(x)
		m.otherResults(x, t)
		plainly := isLiteral(x) || text == "nil" || text == "true" || text == "false" || isEmpty(x)
		if plainly {
			var twins []twin
			for _, v := range m.locals(n.Pos()) {
				if types.Identical(v.Type(), t) {
					w := 0.9
					if isError(t) {
						w = 1.3
					}
					twins = append(twins, twin{v.Name(), w})
				}
			}
			if isError(t) {
				for _, e := range m.g.ingredients(m.d.file.dir()).errors {
					w := 0.6
					if mentions(m.clues.text, e.text) {
						w = 1.4
					}
					twins = append(twins, twin{e.text, w})
				}
			}
			if isError(t) {
				twins = append(twins, m.joinedErrors(n.Pos())...)
			}
			if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
				for _, c := range []string{"-1", "0", "1"} {
					if c != text {
						twins = append(twins, twin{c, 0.8})
					}
				}
			}
			m.instead(x, twins, wrong, 0.42, "result")
			continue
		}
		if z := m.zero(t); z != "" && z != text {
			w := 0.22
			if isError(t) {
				w = 0.28
			}
			m.replace(x.Pos(), x.End(), z, wrong, w, "result %s → %s", firstLine(text), z)
		}
		if isError(t) {
			m.instead(x, m.otherErrors(text), wrong, 0.35, "error")
		}
		if isOperand(x) && isName(x) {
			continue
		}
		var twins []twin
		for _, v := range m.locals(n.Pos()) {
			if types.Identical(v.Type(), t) {
				twins = append(twins, twin{v.Name(), 0.5 * times(m.idle(v), 2)})
			}
		}
		m.instead(x, twins, wrong, 0.25, "result")
	}
}

// joinedErrors wrap an error at hand in one of the package's.
func (m *mutator) joinedErrors(pos token.Pos) []twin {
	var form string
	switch {
	case m.imported("fmt"):
		form = "fmt.Errorf(\"%%w: %%w\", %s, %s)"
	case m.imported("errors"):
		form = "errors.Join(%s, %s)"
	default:
		return nil
	}
	var out []twin
	for _, v := range m.locals(pos) {
		if isError(v.Type()) && v.Kind() != types.ResultVar {
			for _, e := range m.g.ingredients(m.d.file.dir()).errors {
				out = append(out, twin{fmt.Sprintf(form, e.text, v.Name()), 0.5 * times(mentions(m.clues.text, e.text), 1.6)})
			}
		}
	}
	return out[:min(len(out), 4)]
}

// imported reports whether a file can use a package under its own name.
func (m *mutator) imported(p string) bool {
	return slices.ContainsFunc(m.d.file.ast.Imports, func(s *ast.ImportSpec) bool {
		return s.Name == nil && s.Path.Value == strconv.Quote(p)
	}) || slices.ContainsFunc(m.d.file.lent, func(n *types.PkgName) bool { return n.Imported().Path() == p })
}

func (m *mutator) otherErrors(text string) []twin {
	var out []twin
	for _, e := range m.g.ingredients(m.d.file.dir()).errors {
		if e.text != text {
			out = append(out, twin{e.text, times(mentions(m.clues.text, e.text), 1.6)})
		}
	}
	return out
}

func isEmpty(x ast.Expr) bool {
	c, ok := x.(*ast.CompositeLit)
	return ok && len(c.Elts) == 0
}

// otherConstant proposes other numbers of the package for one, its negative,
// and what people mix up: 1000 and 1024, 24 and 60.
func (m *mutator) otherConstant(n *ast.BasicLit, stack []ast.Node) {
	v, ok := small(n)
	if !ok {
		return
	}
	weight := 0.3
	if p, ok := parent(stack).(*ast.CompositeLit); ok && len(p.Elts) > 4 {
		weight = 0.1 // a table
	}
	if u, ok := parent(stack).(*ast.UnaryExpr); ok && u.Op == token.SUB {
		return
	}
	var twins []twin
	for _, x := range []int64{-v, v * 2, v / 2, v * 10, v / 10, v + 2, v - 2} {
		if x != v && (x != 0 || v == 1) {
			twins = append(twins, twin{strconv.FormatInt(x, 10), 0.6})
		}
	}
	usual := [][]int64{{1000, 1024}, {12, 24, 60, 7, 100, 3600}, {10, 16, 8, 2}, {365, 366}, {32, 64, 26}, {400, 100, 4}, {0, 1}}
	for _, set := range usual {
		if slices.Contains(set, v) {
			for _, x := range set {
				if x != v && x-v != 1 && v-x != 1 {
					twins = append(twins, twin{strconv.FormatInt(x, 10), 1})
				}
			}
		}
	}
	if v == 0 {
		weight *= 0.4
	}
	if s, ok := m.d.node.(*ast.ValueSpec); ok && len(s.Values) == 1 && s.Values[0] == n {
		weight = 0.6 // a constant with a name has little else that can be wrong
	} else if ok {
		weight = 0.45
	}
	if v == 1 {
		twins = append(twins, twin{"-1", 0.9})
	}
	m.instead(n, distinct(twins), wrong, weight, "constant")
}

// fewer takes one side of a compound condition away.
func (m *mutator) fewer(n *ast.BinaryExpr) {
	m.replace(n.Pos(), n.End(), m.text(n.X), term, 0.25, "without the term %s", m.text(n.Y))
	m.replace(n.Pos(), n.End(), m.text(n.Y), term, 0.25, "without the term %s", m.text(n.X))
}

// locked proposes to unlock a lock at the end.
func (m *mutator) locked(s *ast.ExprStmt, next ast.Stmt) {
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Lock" && sel.Sel.Name != "RLock" {
		return
	}
	un := map[string]string{"Lock": "Unlock", "RLock": "RUnlock"}[sel.Sel.Name]
	text := m.text(sel.X) + "." + un + "()"
	if next != nil && m.text(next) == "defer "+text {
		return
	}
	m.after(s, "defer "+text, missing, 0.35*times(m.clues.hangs, 3), "missing: defer %s", text)
	if next != nil {
		m.replace(next.Pos(), next.Pos(), "defer ", missing, 0.3, "missing defer")
	}
}
