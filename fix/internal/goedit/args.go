package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// exchange proposes that two expressions change places.
func (m *mutator) exchange(x, y ast.Expr, weight float64, what string) {
	a, b := m.text(x), m.text(y)
	if a == b {
		return
	}
	between := string(m.d.file.src[m.g.offset(x.End()):m.g.offset(y.Pos())])
	m.replace(x.Pos(), y.End(), b+between+a, args, weight, "%s exchanged: %s and %s", what, a, b)
}

// arguments swaps arguments of one type, above all those that are named as the other's
// parameter: names reveal most such faults (Pradel and Sen, "DeepBugs", 2018).
func (m *mutator) arguments(n *ast.CallExpr) {
	tv := m.g.info.Types[n.Fun]
	if tv.IsType() {
		return
	}
	sig, _ := tv.Type.(*types.Signature)
	for i, x := range n.Args {
		for j := i + 1; j < len(n.Args); j++ {
			y := n.Args[j]
			if !m.same(x, y) || isLiteral(x) && isLiteral(y) {
				continue
			}
			weight := 0.5
			if j != i+1 {
				weight = 0.3
			}
			if sig != nil {
				if sig.Variadic() && i >= sig.Params().Len()-1 {
					weight *= 0.5
				}
				weight *= m.crossed(sig, x, y, i, j)
			}
			m.exchange(x, y, weight, "arguments")
		}
	}
}

// crossed says how the names of two arguments fit the other's parameter.
func (m *mutator) crossed(sig *types.Signature, x, y ast.Expr, i, j int) float64 {
	if j >= sig.Params().Len() {
		return 1
	}
	a, b := baseName(x), baseName(y)
	p, q := sig.Params().At(i).Name(), sig.Params().At(j).Name()
	if a == "" || b == "" || p == "" || q == "" {
		return 1
	}
	switch {
	case a == p || b == q:
		return 0.4
	case a == q || b == p:
		return 2.5
	}
	return 1
}

// baseName is the last name of an expression.
func baseName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.CallExpr:
		return baseName(x.Fun)
	case *ast.IndexExpr:
		return baseName(x.Index)
	}
	return ""
}

func isLiteral(x ast.Expr) bool {
	_, ok := x.(*ast.BasicLit)
	return ok
}

// operands exchanges the sides of an operator for which that matters.
func (m *mutator) operands(n *ast.BinaryExpr) {
	switch n.Op {
	case token.SUB, token.QUO, token.REM:
		if m.same(n.X, n.Y) && isOperand(n.X) && isOperand(n.Y) && !isLiteral(n.Y) {
			m.exchange(n.X, n.Y, 0.35, "operands of "+n.Op.String())
		}
	case token.ADD:
		if info, known := m.basic(n.X); known && info&types.IsString != 0 && m.same(n.X, n.Y) {
			m.exchange(n.X, n.Y, 0.35, "operands of +")
		}
	case token.LAND, token.LOR:
		m.exchange(n.X, n.Y, 0.22, "operands of "+n.Op.String())
	}
}

// wrapped puts calls around x that the package's code puts around others.
func (m *mutator) wrapped(x ast.Expr) {
	t := m.typ(x)
	if t == nil || isLiteral(x) {
		return
	}
	if c, ok := x.(*ast.CallExpr); ok && len(c.Args) == 1 && m.same(c, c.Args[0]) {
		return
	}
	for _, name := range m.namesakes(t) {
		m.replace(x.Pos(), x.End(), name+"("+m.text(x)+")", args, 0.5, "%s around %s", name, m.text(x))
		if c, ok := x.(*ast.CallExpr); ok && len(c.Args) > 0 && m.same(c, c.Args[0]) && m.text(c.Fun) != name {
			m.replace(x.Pos(), x.End(), name+"("+m.text(c.Args[0])+")", args, 0.5, "%s → %s", m.text(c.Fun), name)
		}
	}
	i := 0
	for _, w := range m.g.ingredients(m.d.file.dir()).wrappers {
		name := strings.TrimSuffix(w.text, "(")
		if types.Identical(w.typ, t) && name != m.d.name && i < mostWrappers {
			what := name
			if w.tail != ")" || strings.Contains(name, "(") {
				what = w.text + "…" + w.tail
			}
			m.replace(x.Pos(), x.End(), w.text+m.text(x)+w.tail, args, 0.22/(1+0.2*float64(i)), "%s around %s", what, m.text(x))
			i++
		}
	}
}

// mostWrappers bounds the calls that are put around one value.
const mostWrappers = 8

// namesakes are functions from a type to itself, of the package and of those that it imports, that
// share a word with the name of a failing test.
func (m *mutator) namesakes(t types.Type) []string {
	if m.pkg() == nil {
		return nil
	}
	var out []string
	look := func(scope *types.Scope, before string) {
		for _, name := range scope.Names() {
			f, ok := scope.Lookup(name).(*types.Func)
			if !ok || before != "" && !f.Exported() || name == m.d.name || !m.clues.tests(name) {
				continue
			}
			s := f.Signature()
			if s.Params().Len() == 1 && !s.Variadic() && s.TypeParams().Len() == 0 && s.Results().Len() == 1 &&
				types.Identical(s.Params().At(0).Type(), t) && types.Identical(s.Results().At(0).Type(), t) {
				out = append(out, before+name)
			}
		}
	}
	look(m.pkg().Scope(), "")
	if file := m.pkg().Scope().Innermost(m.d.file.ast.Package); file != nil {
		for _, name := range file.Names() {
			if p, ok := file.Lookup(name).(*types.PkgName); ok {
				look(p.Imported().Scope(), name+".")
			}
		}
	}
	return out[:min(len(out), mostNamed)]
}
