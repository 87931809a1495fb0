package goedit

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// hardly is the weight of edits that make tests pass by removing the question: a predicate
// that always gives the same answer, a check that never fails. Nobody means such an edit,
// however many tests pass, so every other edit comes first.
const hardly = 0.02

// weakens reports whether an edit makes a function constant whose answers differed. Tests
// compare with such functions, and a comparison that cannot fail makes all of them pass.
func weakens(before, after *ast.FuncDecl) bool {
	return constant(after) && !constant(before)
}

// constant reports whether all return statements of a function have one constant as their
// last result, a bool or an error.
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

// isSentinel reports whether a variable is a package's error value, which names a case and
// does not store one.
func isSentinel(o types.Object) bool {
	_, ok := o.(*types.Var)
	return ok && isGlobal(o) && isError(o.Type())
}

// helper is the weight of code in packages that help tests: where a test fails, it is they that
// say so, in lines that no test executes that passes.
const helper = 0.02

// speaks is the weight of what errors say of themselves: a test that fails by an error prints
// it, and one that passes has none to print.
const speaks = 0.1

// isOfError reports whether a declaration is a method of a type of errors, and no failing test is
// named after it.
func (g *graph) isOfError(d *decl, h Hints) bool {
	fn, ok := d.node.(*ast.FuncDecl)
	if !ok || fn.Recv == nil {
		return false
	}
	o, ok := g.info.Defs[fn.Name].(*types.Func)
	if !ok || o.Signature().Recv() == nil {
		return false
	}
	t := addressable(o.Signature().Recv().Type())
	e, _ := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	if !types.Implements(t, e) {
		return false
	}
	return !slices.ContainsFunc(h.Failures, func(f Failure) bool { return strings.Contains(strings.ToLower(f.Test), "err") })
}

// helpsTests reports whether a package has functions that are given a test to report to.
func (g *graph) helpsTests(dir string) bool {
	pkg := g.pkgs[dir]
	if pkg == nil {
		return false
	}
	for _, name := range pkg.Scope().Names() {
		f, ok := pkg.Scope().Lookup(name).(*types.Func)
		if !ok || f.Signature().Params().Len() == 0 {
			continue
		}
		first := f.Signature().Params().At(0).Type()
		set := types.NewMethodSet(first)
		if set.Lookup(pkg, "Errorf") != nil && (set.Lookup(pkg, "FailNow") != nil || set.Lookup(pkg, "Helper") != nil || strings.HasPrefix(lastName(first.String()), "Test")) {
			return true
		}
	}
	return false
}
