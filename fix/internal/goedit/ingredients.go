package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Missing code mostly exists nearby: in the same function, in a sibling or elsewhere in the
// package. That is the observation behind repair by reuse (Barr et al., "The plastic surgery
// hypothesis", 2014). An ingredient is a piece of such code, as text.
type ingredient struct {
	text  string
	of    *decl
	tail  string     // of a wrapper: what follows the value
	typ   types.Type // of a wrapper: its parameter and result type
	pos   token.Pos
	node  ast.Node
	about *types.Var // of a guard: the one variable it is about; nil if there are several
}

// ingredients are what one package offers, each kind in the order of the source
// and without repetitions.
type ingredients struct {
	conds      []ingredient // conditions of if statements, and the terms of compound ones
	guards     []ingredient // conditions of those that leave
	returns    []ingredient // results of return statements
	statements []ingredient // simple statements
	wrappers   []ingredient // calls of a type to itself, up to the value
	relations  []ingredient // functions of two of a type that say yes or no
	predicates []ingredient // functions of one
	results    []ingredient // what is returned and needs nothing of the function
	texts      []ingredient // short texts, as they are written
	errors     []ingredient // package-level variables of type error
	chars      []ingredient // characters
	fields     []ingredient // elements of struct literals, with the literal's type
}

// mostIngredients bounds each kind.
const mostIngredients = 400

func (g *graph) ingredients(dir string) *ingredients {
	if in := g.larder[dir]; in != nil {
		return in
	}
	in := &ingredients{}
	for _, d := range g.decls {
		if d.file.test || d.file.dir() != dir {
			continue
		}
		if s, ok := d.node.(*ast.ValueSpec); ok {
			for _, n := range s.Names {
				if v, ok := g.info.Defs[n].(*types.Var); ok && isError(v.Type()) {
					in.errors = append(in.errors, ingredient{text: n.Name, of: d, pos: n.Pos()})
				}
			}
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			in.collect(g, d, n)
			return true
		})
	}
	g.larder[dir] = in
	return in
}

func (in *ingredients) collect(g *graph, d *decl, n ast.Node) {
	text := func(n ast.Node) string { return string(d.file.src[g.offset(n.Pos()):g.offset(n.End())]) }
	put := func(to *[]ingredient, n ast.Node, t types.Type) {
		s := text(n)
		if len(*to) < mostIngredients && !strings.Contains(s, "\n") && !slices.ContainsFunc(*to, func(i ingredient) bool { return i.text == s && i.of == d }) {
			*to = append(*to, ingredient{text: s, of: d, typ: t, pos: n.Pos(), node: n})
		}
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		if n.Init == nil {
			for _, c := range terms(n.Cond) {
				put(&in.conds, c, nil)
			}
			if leaves(n.Body) {
				put(&in.guards, n.Cond, nil)
				if last := len(in.guards) - 1; last >= 0 && in.guards[last].pos == n.Cond.Pos() {
					in.guards[last].about = g.about(n.Cond)
				}
			}
		}
	case *ast.ReturnStmt:
		put(&in.returns, n, nil)
		for _, x := range n.Results {
			in.collectResult(g, x, put)
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
		put(&in.statements, n, nil)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			put(&in.statements, n, nil)
		}
	case *ast.CompositeLit:
		for _, x := range n.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok && isName(kv.Key) && g.info.Types[n].Type != nil {
				put(&in.fields, x, g.info.Types[n].Type)
			}
		}
	case *ast.BasicLit:
		switch {
		case n.Kind == token.CHAR:
			put(&in.chars, n, nil)
		case n.Kind == token.STRING && len(n.Value) <= mostText+2:
			put(&in.texts, n, nil)
		}
	case *ast.CallExpr:
		in.collectCall(g, n, text, func(to *[]ingredient, before, after string, t types.Type) {
			if len(*to) < mostIngredients && !slices.ContainsFunc(*to, func(w ingredient) bool { return w.text == before && w.tail == after }) {
				*to = append(*to, ingredient{text: before, tail: after, of: d, typ: t, pos: n.Pos()})
			}
		})
	}
}

// about is the one variable that an expression names, or nil.
func (g *graph) about(x ast.Expr) *types.Var {
	var one *types.Var
	several := false
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := g.info.Uses[id].(*types.Var); ok {
				several = several || one != nil && v != one || v.IsField() || isGlobal(v)
				one = v
			}
		}
		return !several
	})
	if several {
		return nil
	}
	return one
}

// terms are a condition and, if it is compound, those it is made of.
func terms(x ast.Expr) []ast.Expr {
	out := []ast.Expr{x}
	if b, ok := x.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		out = append(out, terms(b.X)...)
		out = append(out, terms(b.Y)...)
	}
	return out
}

// leaves reports whether a block ends with a jump.
func leaves(b *ast.BlockStmt) bool {
	if b == nil || len(b.List) == 0 {
		return false
	}
	return jumps(b.List[len(b.List)-1])
}

func jumps(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := c.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}
