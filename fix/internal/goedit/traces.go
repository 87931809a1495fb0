package goedit

import (
	"go/ast"
	"go/types"
)

// traces are what a package's code shows of faults by itself. Bugs as deviant behaviour (Engler et
// al., 2001) makes this idea a method.
type traces struct {
	grown  map[types.Object]bool // slices that something is appended to
	copies map[*decl]bool        // functions with the body of their neighbour
	unused []types.Object        // nil until asked for; see unusedOf
}

const (
	copyOf     = 2.5 // the weight of edits of copies
	neverGrown = 3.0 // and of those that append where nothing else does
)

func (g *graph) tracesOf(dir string) *traces {
	if t := g.shown[dir]; t != nil {
		return t
	}
	t := &traces{copies: map[*decl]bool{}, grown: map[types.Object]bool{}}
	bodies := map[string]*decl{}
	for _, d := range g.decls {
		if d.file.dir() != dir || d.file.test {
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && baseName(c.Fun) == "append" && len(c.Args) > 0 {
				t.grown[g.object(c.Args[0])] = true
			}
			return true
		})
		fn, ok := d.node.(*ast.FuncDecl)
		if !ok || fn.Body == nil || len(fn.Body.List) == 0 || len(fn.Type.Params.List) == 0 {
			continue
		}
		text := func(n ast.Node) string { return string(d.file.src[g.offset(n.Pos()):g.offset(n.End())]) }
		key := d.recv + " " + text(fn.Type.Params) + text(fn.Body)
		if first := bodies[key]; first != nil {
			t.copies[first], t.copies[d] = true, true
		} else {
			bodies[key] = d
		}
	}
	g.shown[dir] = t
	return t
}

// object is the variable or field that an expression names; nil: it names none.
func (g *graph) object(x ast.Expr) types.Object {
	switch x := x.(type) {
	case *ast.Ident:
		return g.info.ObjectOf(x)
	case *ast.SelectorExpr:
		return g.info.Uses[x.Sel]
	}
	return nil
}
