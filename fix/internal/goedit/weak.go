package goedit

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
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

// judged is by how much a predicate weighs less that tests compare by: what is
// wrong in it makes tests fail that are about something else, and what makes it
// milder mends them, whatever their fault.
const judged = 0.2

// judges tells whether a function says if two things of one type are alike, and
// tests ask it that are not, by their names, about itself.
func (g *graph) judges(d *decl, h Hints) bool {
	fn, ok := d.node.(*ast.FuncDecl)
	if !ok {
		return false
	}
	o, ok := g.info.Defs[fn.Name].(*types.Func)
	if !ok {
		return false
	}
	sig := o.Signature()
	if sig.Results().Len() != 1 || !types.Identical(sig.Results().At(0).Type(), types.Typ[types.Bool]) {
		return false
	}
	var of []types.Type
	if r := sig.Recv(); r != nil {
		of = append(of, r.Type())
	}
	for v := range sig.Params().Variables() {
		of = append(of, v.Type())
	}
	if len(of) != 2 || !types.Identical(pointee(of[0]), pointee(of[1])) {
		return false
	}
	for _, f := range h.Failures {
		if strings.Contains(strings.ToLower(f.Test), strings.ToLower(d.name)) {
			return false
		}
	}
	return slices.ContainsFunc(g.decls, func(t *decl) bool {
		return t.file.test && slices.ContainsFunc(t.uses, func(u use) bool { return u.of == d })
	})
}

func pointee(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
