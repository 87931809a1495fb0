package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// taken returns conditions for taking something away: have holds if there is enough of
// it, lack if there is not.
func (m *mutator) taken(s ast.Stmt) (have, lack []twin) {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		if x := m.text(s.X); s.Tok == token.DEC && !hasCall(s.X) {
			return []twin{{x + " > 0", 1}}, []twin{{x + " == 0", 1}, {x + " <= 0", 0.7}}
		}
	case *ast.AssignStmt:
		if s.Tok != token.SUB_ASSIGN || len(s.Lhs) != 1 || hasCall(s.Lhs[0]) || hasCall(s.Rhs[0]) || !m.ordered(s.Lhs[0]) {
			return nil, nil
		}
		x, y := m.text(s.Lhs[0]), m.operand(s.Rhs[0])
		return []twin{{x + " > " + y, 1}, {x + " >= " + y, 0.9}}, []twin{{x + " < " + y, 1}, {x + " <= " + y, 0.4}}
	}
	return nil, nil
}

// standing are questions about the state of the receiver, and about the numbers
// that a statement goes by.
func (m *mutator) standing(s ast.Node) []twin {
	var out []twin
	if r := m.receiver(); r != nil && r.Name() != "" && r.Name() != "_" {
		st := structOf(r.Type())
		for i := range min(fieldsOf(st), 12) {
			f := st.Field(i)
			b, ok := f.Type().Underlying().(*types.Basic)
			at := r.Name() + "." + f.Name()
			switch {
			case !ok:
			case b.Info()&types.IsBoolean != 0:
				out = append(out, twin{at, 0.5}, twin{"!" + at, 0.5})
			case b.Info()&types.IsInteger != 0:
				out = append(out, twin{at + " == 0", 0.5}, twin{at + " > 0", 0.5})
			}
		}
	}
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := m.g.info.Uses[id].(*types.Var)
		if ok && !v.IsField() && !isGlobal(v) && m.surelyIntegerVar(id) {
			out = append(out, twin{id.Name + " > 0", 0.5})
		}
		return true
	})
	return distinct(out)
}

// beyondEnd lists conditions under which a number is larger than what the receiver
// has: the lengths of its fields, and what its methods count.
func (m *mutator) beyondEnd(v *types.Var) []twin {
	b, ok := v.Type().Underlying().(*types.Basic)
	r := m.receiver()
	if !ok || b.Info()&types.IsInteger == 0 || r == nil || v == r || r.Name() == "" || r.Name() == "_" {
		return nil
	}
	var out []twin
	above := func(x string, w float64) {
		out = append(out, twin{v.Name() + " > " + x, w}, twin{v.Name() + " >= " + x, 0.8 * w})
	}
	set := types.NewMethodSet(addressable(r.Type()))
	for s := range set.Methods() {
		f, ok := s.Obj().(*types.Func)
		if !ok || f.Name() == m.d.name {
			continue
		}
		in, res := f.Signature().Params(), f.Signature().Results()
		if in.Len() == 0 && res.Len() == 1 && types.Identical(res.At(0).Type(), v.Type()) {
			above(r.Name()+"."+f.Name()+"()", 0.6)
		}
	}
	st := structOf(r.Type())
	for i := range fieldsOf(st) {
		f := st.Field(i)
		at := r.Name() + "." + f.Name()
		switch f.Type().Underlying().(type) {
		case *types.Slice:
			if types.Identical(v.Type(), types.Typ[types.Int]) {
				above("len("+at+")", 0.6)
			}
		case *types.Basic:
			if types.Identical(f.Type(), v.Type()) {
				above(at, 0.5)
			}
		}
	}
	return out
}

// inRange adds to a loop's condition what its body needs to hold.
func (m *mutator) inRange(n *ast.ForStmt) {
	cond := m.text(n.Cond)
	strong := cond
	if b, ok := n.Cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		strong = "(" + cond + ")"
	}
	left := 4
	for _, c := range m.bounded(n.Body) {
		// Skip what a condition or declaration in the body already covers.
		if left > 0 && !strings.Contains(cond, c.text) {
			m.replace(n.Cond.Pos(), n.Cond.End(), strong+" && "+c.text, term, 0.35*c.weight, "missing term: && %s", c.text)
			left--
		}
	}
}
