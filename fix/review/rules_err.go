package review

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// swallowed matches if err != nil { return nil } in a function that returns an error. A
// comment in the branch, or another result than zero, says that it is meant.
func (m *matcher) swallowed(fn *ast.FuncDecl) {
	results := fn.Type.Results
	if results == nil || len(results.List) == 0 || text(results.List[len(results.List)-1].Type) != "error" {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if _, other := n.(*ast.FuncLit); other {
			return false
		}
		branch, ok := n.(*ast.IfStmt)
		if !ok || len(branch.Body.List) != 1 {
			return true
		}
		cond, ok := branch.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.NEQ || text(cond.Y) != "nil" || !isError(cond.X) {
			return true
		}
		back, ok := branch.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(back.Results) == 0 || text(back.Results[len(back.Results)-1]) != "nil" || m.commented(branch) {
			return true
		}
		name := text(cond.X)
		for _, r := range back.Results {
			if !zero(r) {
				return true
			}
		}
		m.report("lost-error", Warning, fmt.Sprintf("%s is not nil here, and the function returns nil for it", name), back.Pos(), branch.Pos())
		return true
	})
}

// commented reports whether there is a comment on the lines of a branch or just above it.
func (m *matcher) commented(branch *ast.IfStmt) bool {
	from, to := m.fset.Position(branch.Pos()).Line-1, m.fset.Position(branch.End()).Line
	for _, group := range m.file.Comments {
		if first, last := m.fset.Position(group.Pos()).Line, m.fset.Position(group.End()).Line; last >= from && first <= to {
			return true
		}
	}
	return false
}

// isError goes by the name, since a file alone has no types.
func isError(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && (name.Name == "err" || strings.HasSuffix(name.Name, "Err") || strings.HasPrefix(name.Name, "err") && len(name.Name) == 4)
}

// statements matches an error that is overwritten before anything has read it.
func (m *matcher) statements(list []ast.Stmt) {
	for i, s := range list {
		set, ok := s.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 {
			continue
		}
		if _, calls := set.Rhs[0].(*ast.CallExpr); !calls {
			continue
		}
		last := set.Lhs[len(set.Lhs)-1]
		if !isError(last) {
			continue
		}
		name := text(last)
		for _, next := range list[i+1:] {
			again, assigns := next.(*ast.AssignStmt)
			if !assigns && !simple(next) || mentionsIn(next, name, again) {
				break
			}
			if assigns && len(again.Rhs) == 1 && sets(again, name) {
				if _, calls := again.Rhs[0].(*ast.CallExpr); calls {
					m.report("overwritten-error", Warning, fmt.Sprintf("%s is overwritten on line %d before anything reads it", name, m.fset.Position(again.Pos()).Line), set.Pos(), again.Pos())
				}
				break
			}
		}
	}
}

// simple reports whether a statement only calls or counts, and control goes on after it.
func simple(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && text(call.Fun) != "panic"
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// mentionsIn reports whether a statement reads a name. Being assigned to is no reading.
func mentionsIn(s ast.Stmt, name string, set *ast.AssignStmt) bool {
	if set == nil {
		return mentions(s, name)
	}
	for _, x := range set.Rhs {
		if mentions(x, name) {
			return true
		}
	}
	for _, x := range set.Lhs {
		if _, plain := x.(*ast.Ident); !plain && mentions(x, name) {
			return true
		}
	}
	return set.Tok != token.ASSIGN && set.Tok != token.DEFINE && sets(set, name)
}

func sets(set *ast.AssignStmt, name string) bool {
	for _, x := range set.Lhs {
		if id, ok := x.(*ast.Ident); ok && id.Name == name {
			return true
		}
	}
	return false
}
