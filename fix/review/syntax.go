package review

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
)

// text is how a piece of code is written, in the form of gofmt.
func text(n ast.Node) string {
	switch n := n.(type) {
	case nil:
		return ""
	case *ast.Ident:
		return n.Name
	}
	var b bytes.Buffer
	if printer.Fprint(&b, token.NewFileSet(), n) != nil {
		return ""
	}
	return b.String()
}

// pure reports whether an expression has the same value when it is evaluated twice in a row.
func pure(x ast.Expr) bool {
	same := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit, *ast.CompositeLit:
			same = false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				same = false
			}
		}
		return same
	})
	return same
}

// typesOf returns the types of the expressions in a file, as far as the file alone says them.
func typesOf(fset *token.FileSet, file *ast.File) map[ast.Expr]types.TypeAndValue {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	missing := types.Config{Error: func(error) {}} // as what other files declare
	_, _ = missing.Check(file.Name.Name, fset, []*ast.File{file}, info)
	return info.Types
}

// exact reports whether a type is known and has no NaN, so that each of its values equals itself.
func exact(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Chan:
		return true
	case *types.Basic:
		return t.Info()&(types.IsInteger|types.IsString|types.IsBoolean) != 0
	}
	return false
}

// literal reports whether an expression is a number or another literal, or made of such.
func literal(x ast.Expr) bool {
	only := true
	ast.Inspect(x, func(n ast.Node) bool {
		if _, name := n.(*ast.Ident); name {
			only = false
		}
		return only
	})
	return only
}

// zero reports whether an expression is written as a zero value.
func zero(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.BasicLit:
		return x.Value == "0" || x.Value == `""`
	case *ast.Ident:
		return x.Name == "nil" || x.Name == "false"
	}
	return false
}

// mentions reports whether a name occurs.
func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// base is the variable of an expression such as x.y[0]; empty: it has none.
func base(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return ""
		}
	}
}

// defines reports whether a block defines a variable.
func defines(body *ast.BlockStmt, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Tok == token.DEFINE && sets(n, name)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				found = found || id.Name == name
			}
		}
		return !found
	})
	return found
}

// introduces reports whether the head of a loop sets a variable.
func introduces(head ast.Node, name string) bool {
	switch h := head.(type) {
	case *ast.AssignStmt:
		return sets(h, name)
	case *ast.RangeStmt:
		return h.Key != nil && text(h.Key) == name || h.Value != nil && text(h.Value) == name || h.Value != nil && base(h.Value) == name
	}
	return false
}

// assigns reports whether a block changes a variable.
func assigns(body *ast.BlockStmt, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || sets(n, name)
		case *ast.IncDecStmt:
			found = found || text(n.X) == name
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && text(n.X) == name
		}
		return !found
	})
	return found
}
