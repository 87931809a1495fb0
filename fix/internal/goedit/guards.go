package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// before puts lines above a statement.
func (m *mutator) before(s ast.Stmt, text string, c class, weight float64, rule string, args ...any) {
	m.replace(s.Pos(), s.Pos(), text+"\n", c, weight, rule, args...)
}

// after puts lines below a statement and its trailing comment.
func (m *mutator) after(s ast.Stmt, text string, c class, weight float64, rule string, args ...any) {
	n := len(m.sites)
	m.replace(s.End()-1, s.End(), "", c, weight, rule, args...)
	if len(m.sites) == n {
		return
	}
	at := &m.sites[n]
	src := m.d.file.src
	at.with = string(src[at.from:at.end]) + "\n" + text
	if rest, ok := restOfLine(src[at.end:]); ok {
		at.with = string(src[at.from:at.end]) + rest + "\n" + text
		at.end += len(rest)
	}
}

// restOfLine returns a trailing comment with the space before it.
func restOfLine(src []byte) (string, bool) {
	for i := 0; i+1 < len(src); i++ {
		switch {
		case src[i] == ' ' || src[i] == '\t':
		case src[i] == '/' && src[i+1] == '/':
			for j := i; j < len(src); j++ {
				if src[j] == '\n' {
					return string(src[:j]), true
				}
			}
			return string(src), true
		default:
			return "", false
		}
	}
	return "", false
}

// guarded proposes an if statement that leaves before a statement.
func (m *mutator) guarded(s ast.Stmt, conds []twin, stack []ast.Node, weight float64, most int) {
	exits := m.exits(s.Pos(), stack)
	conds = distinct(conds)
	for i, c := range conds[:min(len(conds), most)] {
		for j, e := range exits {
			w := weight * c.weight * e.weight / ((1 + 0.08*float64(i)) * (1 + 0.3*float64(j)))
			m.before(s, "if "+c.text+" {\n"+e.text+"\n}", guard, w, "missing: if %s { %s }", c.text, e.text)
		}
	}
}

// entry proposes guards at the beginning of a function.
func (m *mutator) entry(fn *ast.FuncDecl, stack []ast.Node) {
	if fn.Body == nil || len(fn.Body.List) == 0 {
		return
	}
	first := fn.Body.List[0]
	var conds []twin
	for _, v := range m.locals(first.Pos()) {
		w := 1.0
		if v == m.receiver() {
			w = 0.5
			s := structOf(v.Type())
			for i := range fieldsOf(s) {
				f := s.Field(i)
				conds = append(conds, scaled(m.unusual(v.Name()+"."+f.Name(), f.Type()), 0.75)...)
			}
		} else if v.Kind() == types.ResultVar {
			continue
		}
		conds = append(conds, scaled(m.unusual(v.Name(), v.Type()), w)...)
		conds = append(conds, scaled(m.asked(v.Name(), v.Type()), w)...)
		conds = append(conds, m.rangedGuards(v)...)
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if x, ok := n.(*ast.IndexExpr); ok && !hasCall(x.X) {
			if id, ok := x.Index.(*ast.Ident); ok {
				if len(m.within(x.X, x.Index)) > 0 {
					a, i := m.text(x.X), id.Name
					w := times(m.clues.outside, 2.5)
					conds = append(conds, twin{i + " < 0 || " + i + " >= len(" + a + ")", 0.9 * w}, twin{i + " >= len(" + a + ")", 0.7 * w})
				}
			}
		}
		return true
	})
	conds = append(conds, m.borrowed(m.g.ingredients(m.d.file.dir()).guards, 0.9)...)
	m.guarded(first, conds, stack, 0.45, 24)
}

func scaled(list []twin, by float64) []twin {
	for i := range list {
		list[i].weight *= by
	}
	return list
}

// iteration proposes guards at the beginning of a loop's body.
func (m *mutator) iteration(loop ast.Stmt, body *ast.BlockStmt, stack []ast.Node) {
	if len(body.List) == 0 {
		return
	}
	first := body.List[0]
	var conds []twin
	if r, ok := loop.(*ast.RangeStmt); ok {
		for _, x := range []ast.Expr{r.Key, r.Value} {
			if id, ok := x.(*ast.Ident); ok && id.Name != "_" && m.typ(id) != nil {
				conds = append(conds, m.unusual(id.Name, m.typ(id))...)
				if s := structOf(m.typ(id)); s != nil {
					for i := range fieldsOf(s) {
						if b, ok := s.Field(i).Type().Underlying().(*types.Basic); ok && b.Info()&(types.IsBoolean|types.IsString) != 0 {
							conds = append(conds, scaled(m.unusual(id.Name+"."+s.Field(i).Name(), s.Field(i).Type()), 1.4)...)
						}
					}
				}
				for _, v := range m.locals(first.Pos()) {
					if v.Name() != id.Name && types.Identical(v.Type(), m.typ(id)) && types.Comparable(v.Type()) {
						conds = append(conds, twin{id.Name + " == " + v.Name(), 0.6})
					}
				}
			}
		}
	}
	conds = append(conds, m.diagonal(loop, stack)...)
	conds = append(conds, m.borrowed(m.g.ingredients(m.d.file.dir()).guards, 0.8)...)
	m.guarded(first, conds, append(stack, loop), 0.4, 14)
}

// diagonal compares the variable of a loop with that of the loop around it.
func (m *mutator) diagonal(loop ast.Stmt, stack []ast.Node) []twin {
	inner := m.counter(loop)
	for i := len(stack) - 1; i >= 0 && inner != nil; i-- {
		if outer := m.counter(stack[i]); outer != nil && m.same(inner, outer) {
			x, y := outer.Name, inner.Name
			if belowZero(loop) && belowZero(stack[i]) {
				// Steps to both sides, as around a position: a zero step is no neighbour.
				return []twin{{x + " == 0 && " + y + " == 0", 2}, {x + " == " + y, 0.4}}
			}
			return []twin{{x + " == " + y, 0.8}, {x + " == 0 && " + y + " == 0", 0.7}, {y + " <= " + x, 0.4}}
		}
	}
	return nil
}

// offDiagonal asks that the counters of two loops around, one in the other, are
// not equal, or not both nothing: that it is not about a thing and itself.
func (m *mutator) offDiagonal(stack []ast.Node) []twin {
	for i, n := range slices.Backward(stack) {
		loop, ok := n.(ast.Stmt)
		if inner := m.counter(n); ok && inner != nil {
			var out []twin
			for _, c := range m.diagonal(loop, stack[:i]) {
				if strings.Contains(c.text, " == ") {
					text := strings.NewReplacer("==", "!=", "&&", "||").Replace(c.text)
					if strings.Contains(text, "||") {
						text = "(" + text + ")"
					}
					out = append(out, twin{text, 0.9 * c.weight})
				}
			}
			return out
		}
	}
	return nil
}

// edges ask whether a loop is at its first or its last turn, or not.
func (m *mutator) edges(stack []ast.Node) []twin {
	for _, n := range slices.Backward(stack) {
		i := m.counter(n)
		if i == nil {
			continue
		}
		first, last := "0", ""
		switch n := n.(type) {
		case *ast.RangeStmt:
			switch {
			case hasCall(n.X):
			case m.surelyInteger(n.X):
				last = m.text(n.X) + " - 1"
			default:
				last = "len(" + m.text(n.X) + ") - 1"
			}
		case *ast.ForStmt:
			a, ok1 := n.Init.(*ast.AssignStmt)
			b, ok2 := n.Cond.(*ast.BinaryExpr)
			if !ok1 || !ok2 || len(a.Rhs) != 1 {
				return nil
			}
			first, last = m.text(a.Rhs[0]), m.text(b.Y)
			switch b.Op {
			case token.LSS:
				last += " - 1"
			case token.GTR:
				last += " + 1"
			}
		}
		var out []twin
		for _, end := range []string{last, first} {
			if end != "" {
				out = append(out, twin{i.Name + " == " + end, 0.6}, twin{i.Name + " != " + end, 0.5})
			}
		}
		return out
	}
	return nil
}

// belowZero reports whether a loop counts from a negative number.
func belowZero(loop ast.Node) bool {
	f, ok := loop.(*ast.ForStmt)
	if !ok {
		return false
	}
	a, ok := f.Init.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return false
	}
	u, ok := a.Rhs[0].(*ast.UnaryExpr)
	return ok && u.Op == token.SUB
}

// counter is the variable that a loop counts with.
func (m *mutator) counter(loop ast.Node) *ast.Ident {
	var x ast.Expr
	switch n := loop.(type) {
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			x = a.Lhs[0]
		}
	case *ast.RangeStmt:
		x = n.Key
	}
	id, ok := x.(*ast.Ident)
	if !ok || id.Name == "_" || !m.surelyIntegerVar(id) {
		return nil
	}
	return id
}

func (m *mutator) surelyIntegerVar(id *ast.Ident) bool {
	t := m.typ(id)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// checked proposes the question that an assignment calls for: whether there was
// an error, whether it was found, whether there is anything.
func (m *mutator) checked(s *ast.AssignStmt, next ast.Stmt, stack []ast.Node) {
	var conds []twin
	for _, x := range s.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok || id.Name == "_" || m.typ(id) == nil {
			continue
		}
		t := m.typ(id)
		b, _ := t.Underlying().(*types.Basic)
		w := 0.7
		switch {
		case isError(t):
			w = 1.6
		case b != nil && b.Info()&types.IsBoolean != 0:
			conds = append(conds, twin{"!" + id.Name, 1.2}, twin{id.Name, 0.8})
			continue
		case b != nil:
			w = 0.4
		}
		conds = append(conds, scaled(m.unusual(id.Name, t), w)...)
		conds = append(conds, scaled(m.asked(id.Name, t), 0.7)...)
	}
	conds = append(conds, m.borrowed(m.g.ingredients(m.d.file.dir()).guards, 0.4)...)
	m.guarded(next, conds, stack, 0.38, 8)
}

// reached asks whether a counter that has just been moved has come to its end.
func (m *mutator) reached(s ast.Stmt) []twin {
	var x ast.Expr
	switch s := s.(type) {
	case *ast.IncDecStmt:
		x = s.X
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && s.Tok != token.DEFINE {
			x = s.Lhs[0]
		}
	}
	if x == nil || hasCall(x) {
		return nil
	}
	if info, known := m.basic(x); !known || info&types.IsNumeric == 0 {
		return nil
	}
	return []twin{{m.text(x) + " == 0", 1}, {m.text(x) + " > 0", 0.7}, {m.text(x) + " != 0", 0.6}}
}

// conditional proposes to make a statement depend on something.
func (m *mutator) conditional(s, before ast.Stmt, stack []ast.Node) {
	conds := append(m.bounded(s), m.reached(before)...)
	if a, ok := s.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && a.Tok == token.ASSIGN && m.same(a.Lhs[0], a.Rhs[0]) && m.ordered(a.Lhs[0]) {
		x, y := m.text(a.Lhs[0]), m.text(a.Rhs[0])
		conds = append(conds, twin{y + " > " + x, 0.9}, twin{y + " < " + x, 0.9})
	}
	loop, _ := inLoop(stack)
	for _, v := range m.locals(s.Pos()) {
		b, ok := v.Type().Underlying().(*types.Basic)
		switch {
		case isError(v.Type()):
			conds = append(conds, twin{v.Name() + " == nil", 0.4})
		case ok && b.Info()&types.IsBoolean != 0:
			conds = append(conds, twin{v.Name(), 0.7}, twin{"!" + v.Name(), 0.7})
		case ok && b.Info()&types.IsInteger != 0 && loop && v.Kind() == types.LocalVar:
			conds = append(conds, twin{v.Name() + " > 0", 0.9})
		}
	}
	conds = append(conds, m.borrowed(m.g.ingredients(m.d.file.dir()).conds, 0.8)...)
	conds = distinct(append(conds, m.flags(s)...))
	for i, c := range conds[:min(len(conds), 16)] {
		m.replace(s.Pos(), s.End(), "if "+c.text+" {\n"+m.text(s)+"\n}", dependent, 0.32*c.weight/(1+0.15*float64(i)), "missing condition: if %s", c.text)
	}
}

// flags are the fields that say yes or no of the variables that code names: first those with
// words of the code or of a failing test's name.
func (m *mutator) flags(code ast.Node) []twin {
	said := words(m.text(code))
	for _, f := range m.clues.h.Failures {
		said = append(said, words(f.Test)...)
	}
	var out []twin
	ast.Inspect(code, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := m.g.info.Uses[id].(*types.Var)
		if !ok || v.IsField() {
			return true
		}
		s := structOf(v.Type())
		for i := range fieldsOf(s) {
			f := s.Field(i)
			text := id.Name + "." + f.Name()
			if b, ok := f.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.Bool || !f.Exported() && f.Pkg() != m.pkg() || mentions(m.text(code), text) {
				continue
			}
			w := times(slices.ContainsFunc(words(f.Name()), func(w string) bool { return slices.Contains(said, w) }), 2)
			out = append(out, twin{"!" + text, 0.7 * w}, twin{text, 0.5 * w})
		}
		return true
	})
	out = distinct(out)
	return out[:min(len(out), mostFlags)]
}

// mostFlags bounds the fields asked about in one place.
const mostFlags = 8

// narrower adds a term to a condition.
func (m *mutator) narrower(x ast.Expr, stack []ast.Node, leaving bool, weight float64) {
	text := m.text(x)
	strong, weak := text, text
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		strong = "(" + text + ")"
	}
	first := m.bounded(x)
	for i, c := range first[:min(len(first), 6)] {
		m.replace(x.Pos(), x.End(), c.text+" && "+strong, term, weight*c.weight/(1+0.15*float64(i)), "missing term: %s &&", c.text)
	}
	more := distinct(slices.Concat(m.borrowed(m.g.ingredients(m.d.file.dir()).conds, 0.7), m.offDiagonal(stack), m.flags(x), m.edges(stack)))
	for i, c := range more[:min(len(more), 14)] {
		if c.text == text {
			continue
		}
		w := weight * c.weight / (1 + 0.15*float64(i))
		m.replace(x.Pos(), x.End(), strong+" && "+paren(c.text, "||"), term, w, "missing term: && %s", c.text)
		m.replace(x.Pos(), x.End(), weak+" || "+c.text, term, w*0.8, "missing term: || %s", c.text)
	}
	var odd []twin
	for _, v := range m.locals(x.Pos()) {
		switch {
		case mentions(text, v.Name()):
			odd = append(odd, m.unusual(v.Name(), v.Type())...)
			odd = append(odd, m.asked(v.Name(), v.Type())...)
		case leaving:
			odd = append(odd, scaled(m.unusual(v.Name(), v.Type()), 0.7)...)
		}
	}
	odd = distinct(append(odd, m.askedOfAll(x)...))
	for i, c := range odd[:min(len(odd), 10)] {
		w := weight * c.weight / (1 + 0.15*float64(i))
		m.replace(x.Pos(), x.End(), weak+" || "+c.text, term, w, "missing term: || %s", c.text)
		m.replace(x.Pos(), x.Pos(), c.text+" || ", term, 0.6*w, "missing term: %s ||", c.text)
	}
}

func paren(x, op string) string {
	for i := range len(x) - len(op) {
		if x[i:i+len(op)] == op {
			return "(" + x + ")"
		}
	}
	return x
}
