package refactor

import (
	"go/ast"
	"go/token"
	"go/types"
)

// singleUses finds variables that only the next statement uses, where it evaluates them first of all: what it
// returns, tests, switches on or ranges over.
func singleUses(s *source) []place {
	uses := map[types.Object]int{}
	for _, obj := range s.info.Uses {
		uses[obj]++
	}
	var all []place
	look := func(list []ast.Stmt) {
		for i := 0; i+1 < len(list); i++ {
			a, ok := list[i].(*ast.AssignStmt)
			if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
				continue
			}
			id, ok := a.Lhs[0].(*ast.Ident)
			if !ok {
				continue
			}
			obj := s.info.Defs[id]
			if obj == nil || uses[obj] != 1 || !s.movable(a.Rhs[0], obj) {
				continue
			}
			at, header := s.firstIn(list[i+1])
			if at == nil || s.info.Uses[at] != obj || header && composite(a.Rhs[0]) || s.commented(a.Pos(), at.End()) {
				continue
			}
			all = append(all, place{file: s.name, line: s.line(a.Pos()), what: "inline " + id.Name + " := " + brief(s.textOf(a.Rhs[0])), edits: []textEdit{
				s.edit(a.Pos(), list[i+1].Pos(), ""), s.edit(at.Pos(), at.End(), s.textOf(a.Rhs[0])),
			}})
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			look(n.List)
		case *ast.CaseClause:
			look(n.Body)
		case *ast.CommClause:
			look(n.Body)
		}
		return true
	})
	return all
}

// movable reports whether an expression has the same type and value in place of the variable: a constant
// without a type, and what depends on one, takes the type of its place.
func (s *source) movable(e ast.Expr, obj types.Object) bool {
	t := s.info.Types[e]
	if t.Value != nil || t.IsNil() || t.Type == nil || !types.Identical(t.Type, obj.Type()) {
		return false
	}
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if b, is := n.(*ast.BinaryExpr); is && (b.Op == token.SHL || b.Op == token.SHR) {
			ok = false
		}
		return ok
	})
	return ok
}

// firstIn is the variable that a statement evaluates before anything else that matters, and whether it is in
// the header of a block.
func (s *source) firstIn(stmt ast.Stmt) (at *ast.Ident, header bool) {
	switch x := stmt.(type) {
	case *ast.ReturnStmt:
		for _, e := range x.Results {
			if t := s.info.Types[e]; t.Value != nil || t.IsNil() {
				continue
			}
			id, ok := e.(*ast.Ident)
			if !ok || at != nil {
				return nil, false
			}
			at = id
		}
		return at, false
	case *ast.IfStmt:
		if x.Init == nil {
			at, _ = x.Cond.(*ast.Ident)
		}
	case *ast.SwitchStmt:
		if x.Init == nil {
			at, _ = x.Tag.(*ast.Ident)
		}
	case *ast.RangeStmt:
		switch s.info.TypeOf(x.X).Underlying().(type) {
		case *types.Array, *types.Pointer: // what has a constant length may not be evaluated
		default:
			at, _ = x.X.(*ast.Ident)
		}
	}
	return at, true
}

// composite reports whether an expression has a literal with brackets, which the header of a block would take for
// its own, or the body of a function.
func composite(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CompositeLit, *ast.FuncLit:
			found = true
		}
		return !found
	})
	return found
}
