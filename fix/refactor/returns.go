package refactor

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// leastGuarded is from how many statements on a guard is worth its lines.
const leastGuarded = 3

// earlyReturns finds an else after what does not go on, and an if around the rest of a function or loop.
func earlyReturns(s *source) []place {
	var all []place
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || jumps(f.Body) {
			continue
		}
		v := &returns{source: s, in: f.Name.Name}
		v.function(f.Type, f.Body)
		all = append(all, v.all...)
	}
	return all
}

// jumps reports whether a function has labels, beside which a moved declaration could be jumped over.
func jumps(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		_, is := n.(*ast.LabeledStmt)
		found = found || is
		return !found
	})
	return found
}

type returns struct {
	*source

	in  string // the function
	all []place
}

// function looks at a function's body, and at what is in it.
func (v *returns) function(t *ast.FuncType, body *ast.BlockStmt) {
	leave := ""
	if t.Results == nil || len(t.Results.List) == 0 {
		leave = "return"
	}
	v.list(body.List, leave)
	v.guardReturn(body.List)
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			v.function(n.Type, n.Body)
			return false
		case *ast.ForStmt:
			v.list(n.Body.List, "continue")
		case *ast.RangeStmt:
			v.list(n.Body.List, "continue")
		case *ast.BlockStmt:
			if n != body && !v.loops(body, n) {
				v.list(n.List, "")
			}
		case *ast.CaseClause:
			v.list(n.Body, "")
		case *ast.CommClause:
			v.list(n.Body, "")
		}
		return true
	})
}

// loops reports whether a block is the body of a loop, or of a function in the one looked at.
func (v *returns) loops(in *ast.BlockStmt, block *ast.BlockStmt) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			found = found || n.Body == block
		case *ast.RangeStmt:
			found = found || n.Body == block
		}
		return !found
	})
	return found
}

// list looks at statements. leave is what ends them early; empty: nothing does.
func (v *returns) list(list []ast.Stmt, leave string) {
	for i, stmt := range list {
		x, ok := stmt.(*ast.IfStmt)
		if !ok || x.Init != nil {
			continue
		}
		last := i == len(list)-1
		switch {
		case x.Else != nil && ends(x.Body):
			v.dropElse(x, last)
		case x.Else == nil && last && leave != "" && len(x.Body.List) >= leastGuarded:
			v.guard(x, leave, nil)
		}
	}
}

// ends reports whether control never leaves a block at its end.
func ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok != token.FALLTHROUGH
	}
	return false
}

// free reports whether the names that a block declares can be moved to the block around it.
func (v *returns) free(b *ast.BlockStmt) bool {
	scope := v.info.Scopes[b]
	if scope == nil || scope.Parent() == nil || scope.Parent().Parent() == nil {
		return false
	}
	around := scope.Parent().Parent() // the parent is that of the if statement
	for _, name := range scope.Names() {
		if around.Lookup(name) != nil {
			return false
		}
	}
	return true
}

// dropElse makes of if … { … return } else { … } two statements.
func (v *returns) dropElse(x *ast.IfStmt, last bool) {
	between := strings.TrimSpace(v.text[v.offset(x.Body.Rbrace)+1 : v.offset(x.Else.Pos())])
	if between != "else" {
		return // a comment is there
	}
	p := place{file: v.goFile.name, line: v.line(x.Else.Pos()), what: "no else in " + v.in + " after " + brief("if "+v.textOf(x.Cond))}
	switch e := x.Else.(type) {
	case *ast.IfStmt:
		p.edits = []textEdit{v.edit(x.Body.Rbrace+1, e.Pos(), "\n")}
	case *ast.BlockStmt:
		if scope := v.info.Scopes[e]; scope == nil || scope.Len() > 0 && (!last || !v.free(e)) {
			return
		}
		with := "\n"
		if v.text[v.offset(e.Lbrace)+1] == '\n' {
			with = ""
		}
		p.edits = []textEdit{v.edit(x.Body.Rbrace+1, e.Lbrace+1, with), v.closing(e)}
	}
	v.all = append(v.all, p)
}

// closing removes the bracket that ends a block, with the space before it.
func (v *returns) closing(b *ast.BlockStmt) textEdit {
	end := v.offset(b.Rbrace)
	return textEdit{v.goFile.name, len(strings.TrimRight(v.text[:end], " \t\n")), end + 1, ""}
}

// guardReturn makes of if … { …; return a }; return b at the end of a function a guard that returns b.
func (v *returns) guardReturn(list []ast.Stmt) {
	if len(list) < 2 {
		return
	}
	x, ok := list[len(list)-2].(*ast.IfStmt)
	final, ok2 := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || !ok2 || x.Init != nil || x.Else != nil || len(x.Body.List) < leastGuarded || v.commented(x.End(), final.End()) {
		return
	}
	if _, ok := x.Body.List[len(x.Body.List)-1].(*ast.ReturnStmt); ok {
		v.guard(x, v.textOf(final), final)
	}
}

// guard leaves early in place of an if around the rest.
func (v *returns) guard(x *ast.IfStmt, leave string, final ast.Stmt) {
	if !v.free(x.Body) || v.commented(x.Pos(), x.Body.Lbrace) {
		return
	}
	with := "if " + v.negated(x.Cond) + " {\n" + leave + "\n}"
	if v.text[v.offset(x.Body.Lbrace)+1] != '\n' {
		with += "\n"
	}
	p := place{file: v.goFile.name, line: v.line(x.Pos()), what: "a guard in " + v.in + " for " + brief("if "+v.textOf(x.Cond))}
	p.edits = []textEdit{v.edit(x.Pos(), x.Body.Lbrace+1, with), v.closing(x.Body)}
	if final != nil {
		p.edits = append(p.edits, v.edit(x.End(), final.End(), ""))
	}
	v.all = append(v.all, p)
}

// opposite are comparisons with the contrary result, for values that are ordered.
var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

// negated is the contrary of a condition.
func (v *returns) negated(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return v.negated(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return v.textOf(ast.Unparen(e.X))
		}
	case *ast.BinaryExpr:
		op, ok := opposite[e.Op]
		if equal := e.Op == token.EQL || e.Op == token.NEQ; ok && (equal || v.ordered(e.X) && v.ordered(e.Y)) {
			return v.textOf(e.X) + v.text[v.offset(e.X.End()):v.offset(e.OpPos)] + op.String() + v.text[v.offset(e.OpPos)+len(e.Op.String()):v.offset(e.End())]
		}
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
		return "!" + v.textOf(e)
	}
	return "!(" + v.textOf(e) + ")"
}

// ordered reports whether of two values of a type one is less or they are equal: not of NaN.
func (v *returns) ordered(e ast.Expr) bool {
	t := v.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsString) != 0
}

// brief is a piece of code in a line.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return text
}
