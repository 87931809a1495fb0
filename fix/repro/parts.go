package repro

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// span is a part of a text that can be dropped.
type span struct{ from, to int }

// without returns a text without the spans of a group, in order, that are not kept.
func without(text string, group, kept []span) string {
	for _, s := range slices.Backward(group) {
		if !slices.Contains(kept, s) {
			text = text[:s.from] + text[s.to:]
		}
	}
	return text
}

// declared lists the names of a file's functions.
func declared(text string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// added lists the declarations of a file, other than imports, that its original does not have.
func added(fset *token.FileSet, file *ast.File, text, original string) []ast.Decl {
	was := project.Declarations([]byte(original))
	var out []ast.Decl
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT || slices.Contains(was, project.TextOf(fset, []byte(text), d)) {
			continue
		}
		out = append(out, d)
	}
	return out
}

// groupsOf lists what may be dropped of the new declarations of a file, outer groups before inner ones:
// the declarations beside the test, then the cases of tables and the statements of blocks. Unless every
// statement may go, only those that do nothing may.
func groupsOf(text, original, test string, every bool) [][]span {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	var groups [][]span
	var first []span
	decls := added(fset, file, text, original)
	for _, d := range decls {
		if f, ok := d.(*ast.FuncDecl); !ok || f.Name.Name != test || f.Recv != nil {
			first = append(first, span{commented(text, offset(d.Pos())), offset(d.End())})
		}
	}
	groups = append(groups, first)
	for _, d := range decls {
		ast.Inspect(d, func(n ast.Node) bool {
			var group []span
			switch n := n.(type) {
			case *ast.BlockStmt:
				for _, s := range n.List {
					if !every && !idle(s) {
						continue
					}
					to := offset(s.End())
					if rest := strings.TrimLeft(text[to:], " \t"); strings.HasPrefix(rest, ";") {
						to = len(text) - len(rest) + 1
					}
					from := commented(text, offset(s.Pos()))
					if rest := strings.TrimLeft(text[to:], " \t"); strings.HasPrefix(rest, "\n") && (from == 0 || text[from-1] == '\n') {
						to = len(text) - len(rest) + 1
					}
					group = append(group, span{from, to})
				}
			case *ast.CompositeLit:
				if !isTable(n) {
					break
				}
				for i, e := range n.Elts {
					to := offset(n.Rbrace)
					if i+1 < len(n.Elts) {
						to = offset(n.Elts[i+1].Pos())
					}
					group = append(group, span{offset(e.Pos()), to})
				}
			}
			if len(group) > 0 {
				groups = append(groups, group)
			}
			return true
		})
	}
	return groups
}

// isTable reports whether a literal lists structures: a table of cases, which do not depend on each other,
// and not data of a case.
func isTable(n *ast.CompositeLit) bool {
	var element ast.Expr
	switch t := n.Type.(type) {
	case *ast.ArrayType:
		element = t.Elt
	case *ast.MapType:
		element = t.Value
	}
	switch element.(type) {
	case *ast.StructType:
		return true
	case *ast.Ident, *ast.StarExpr, *ast.SelectorExpr:
		return !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			_, composite := e.(*ast.CompositeLit)
			return !composite
		})
	}
	return false
}

// idle reports whether a statement changes nothing that another could see: it makes new variables or logs,
// and calls nothing else than functions that only compute.
func idle(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		blank := !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || id.Name != "_" })
		if s.Tok != token.DEFINE && !blank {
			return false
		}
	case *ast.DeclStmt, *ast.ExprStmt:
	default:
		return false
	}
	computes := []string{"fmt", "math", "strconv", "strings"}
	quiet := true
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				id, ok := n.Fun.(*ast.Ident)
				quiet = quiet && ok && slices.Contains([]string{"len", "make", "string"}, id.Name)
				return true
			}
			x, ok := f.X.(*ast.Ident)
			quiet = quiet && ok && (slices.Contains(computes, x.Name) || strings.HasPrefix(f.Sel.Name, "Log"))
		case *ast.UnaryExpr:
			quiet = quiet && n.Op != token.ARROW
		}
		return quiet
	})
	return quiet
}

// commented moves a place at the beginning of a line to that of the comment above it.
func commented(text string, at int) int {
	line := strings.LastIndexByte(text[:at], '\n') + 1
	if strings.TrimSpace(text[line:at]) != "" {
		return at
	}
	for line > 0 {
		above := strings.LastIndexByte(text[:line-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimSpace(text[above:line]), "//") {
			break
		}
		line = above
	}
	return line
}

// extract is a file with the new declarations of another alone, for a package that has that file in
// another form.
func extract(text, original string) string {
	if original == "" {
		return text
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	var b strings.Builder
	b.WriteString("package " + file.Name.Name + "\n\n")
	for _, i := range file.Imports {
		b.WriteString("import " + project.TextOf(fset, []byte(text), i) + "\n")
	}
	for _, d := range added(fset, file, text, original) {
		b.WriteString("\n" + project.TextOf(fset, []byte(text), d) + "\n")
	}
	return tidied(b.String(), text)
}

// tidied is a text that is formatted, without the imports that an earlier form of it used and it does not. A
// text that does not parse stays: the build says why.
func tidied(text, earlier string) string {
	if out, err := project.Tidy(earlier, text); err == nil {
		return out
	}
	return text
}
