package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// shadowed proposes that := should have assigned to a variable of an outer
// scope, and that = should have declared one.
func (m *mutator) shadowed(s *ast.AssignStmt, stack []ast.Node) {
	if s.Tok == token.ASSIGN {
		if _, ok := parent(stack).(*ast.BlockStmt); ok && len(stack) > 2 {
			m.replace(s.TokPos, s.TokPos+1, ":=", shadow, 0.2, "= → :=")
		}
		return
	}
	if s.Tok != token.DEFINE {
		return
	}
	outer := 0
	var fresh []string
	for _, x := range s.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		o := m.g.info.Defs[id]
		if o == nil {
			continue // declared here before, and so assigned
		}
		_, hidden := parentScope(o).LookupParent(id.Name, id.Pos())
		v, ok := hidden.(*types.Var)
		if ok && !v.IsField() && types.Identical(v.Type(), o.Type()) {
			outer++
			continue
		}
		t := m.typeText(o.Type())
		if t == "" {
			return
		}
		fresh = append(fresh, "var "+id.Name+" "+t+"\n")
	}
	if outer == 0 {
		return
	}
	weight := 1.1
	switch parent(stack).(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt:
		weight = 0.5
		if len(fresh) > 0 {
			return
		}
	}
	m.replace(s.Pos(), s.Rhs[0].Pos(), strings.Join(fresh, "")+m.list(s.Lhs)+" = ", shadow, weight, ":= hides a variable: assigned with =")
}

func parentScope(o types.Object) *types.Scope {
	if s := o.Parent(); s != nil && s.Parent() != nil {
		return s.Parent()
	}
	return types.Universe
}

func (m *mutator) list(xs []ast.Expr) string {
	return string(m.d.file.src[m.g.offset(xs[0].Pos()):m.g.offset(xs[len(xs)-1].End())])
}
