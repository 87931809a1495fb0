package review

import (
	"fmt"
	"go/ast"
	"go/token"
)

// unlocking are the calls that undo those of a lock.
var unlocking = map[string]string{"Lock": "Unlock", "RLock": "RUnlock"}

// locked matches a return between the locking and the unlocking of a lock. A function that
// never unlocks it, or leaves that to a defer or another function, is not looked at.
func (m *matcher) locked(body *ast.BlockStmt) {
	each(body, func(list []ast.Stmt) {
		for i, s := range list {
			lock, method := lockCall(s)
			if lock == "" {
				continue
			}
			undo := lock + "." + unlocking[method]
			if defersCall(body, undo) {
				continue
			}
			end := -1
			for j, later := range list[i+1:] {
				if isCall(later, undo) {
					end = i + 1 + j
					break
				}
			}
			if end < 0 {
				continue
			}
			for _, between := range list[i+1 : end] {
				if at := leaves(between, undo); at.IsValid() {
					m.report("held-lock", Error, fmt.Sprintf("this return leaves %s locked; line %d locks it, and line %d unlocks it on the other path",
						lock, m.fset.Position(s.Pos()).Line, m.fset.Position(list[end].Pos()).Line), at, s.Pos())
					break
				}
			}
		}
	})
}

// each calls do for every list of statements of a function, not of those within it.
func each(body *ast.BlockStmt, do func([]ast.Stmt)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			do(n.List)
		case *ast.CaseClause:
			do(n.Body)
		case *ast.CommClause:
			do(n.Body)
		}
		return true
	})
}

// lockCall returns the lock that a statement locks, and by which method.
func lockCall(s ast.Stmt) (lock, method string) {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", ""
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return "", ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || unlocking[sel.Sel.Name] == "" || !pure(sel.X) {
		return "", ""
	}
	return text(sel.X), sel.Sel.Name
}

func isCall(s ast.Stmt, fun string) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	return ok && text(call.Fun) == fun
}

// defersCall reports whether a function defers a call, or what could contain it.
func defersCall(body *ast.BlockStmt, fun string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if d, ok := n.(*ast.DeferStmt); ok {
			_, lit := d.Call.Fun.(*ast.FuncLit)
			found = found || text(d.Call.Fun) == fun || lit
		}
		return !found
	})
	return found
}

// leaves returns where a statement returns before it has called undo.
func leaves(s ast.Stmt, undo string) (at token.Pos) {
	unlocks := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			unlocks = unlocks || mentionsCall(n, undo)
			return false
		case *ast.ReturnStmt:
			if !at.IsValid() {
				at = n.Pos()
			}
		case *ast.CallExpr:
			unlocks = unlocks || text(n.Fun) == undo
		}
		return true
	})
	if unlocks { // on which path, only a reader can tell
		return token.NoPos
	}
	return at
}

func mentionsCall(n ast.Node, fun string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && text(call.Fun) == fun {
			found = true
		}
		return !found
	})
	return found
}
