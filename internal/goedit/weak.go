package goedit

import (
	"go/ast"
	"go/types"
)

// hardly is by how much edits weigh less that make tests pass by taking the question
// away: a predicate that always gives the same answer, a check that never finds
// fault. They are not what anybody meant, however many tests they please, so
// that every other edit goes before.
const hardly = 0.02

// weakens tells whether a function that answered differently from case to case
// gives one and the same answer after an edit. Tests compare by such functions,
// and a comparison that cannot fail mends them all.
func weakens(before, after *ast.FuncDecl) bool {
	return constant(after) && !constant(before)
}

// constant tells whether all return statements of a function give one constant
// as its last result, a bool or an error.
func constant(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil || fn.Body == nil {
		return false
	}
	last, ok := fn.Type.Results.List[len(fn.Type.Results.List)-1].Type.(*ast.Ident)
	if !ok || last.Name != "bool" && last.Name != "error" {
		return false
	}
	answer, one := "", true
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				one = false
				return false
			}
			id, ok := n.Results[len(n.Results)-1].(*ast.Ident)
			if !ok || id.Name != "true" && id.Name != "false" && id.Name != "nil" || answer != "" && answer != id.Name {
				one = false
				return false
			}
			answer = id.Name
		}
		return one
	})
	return one && answer != ""
}

// isSentinel tells whether a variable is a package's error, which is the name of
// a case and no place to keep one in.
func isSentinel(o types.Object) bool {
	_, ok := o.(*types.Var)
	return ok && isGlobal(o) && isError(o.Type())
}
