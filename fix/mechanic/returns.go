package mechanic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// inspect calls f for the nodes of a file, until it returns false. The position of a node is its
// offset and one.
func (b *builder) inspect(file string, f func(ast.Node) bool) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, b.files[file], parser.SkipObjectResolution)
	if err == nil {
		ast.Inspect(parsed, f)
	}
}

// missingReturn ends a function with a return of one of its variables, the last first, or of zeros.
func (b *builder) missingReturn(c complaint, _ []string) {
	at, text := b.at(c), b.files[c.file]
	b.inspect(c.file, func(n ast.Node) bool {
		var kind *ast.FuncType
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			kind, body = n.Type, n.Body
		case *ast.FuncLit:
			kind, body = n.Type, n.Body
		}
		if body == nil || kind.Results == nil || int(body.Rbrace)-1 != at {
			return true
		}
		for _, values := range returns(kind, body, text) {
			b.add(c.file, text[:at]+"\treturn"+values+"\n"+text[at:], "return"+values)
		}
		return false
	})
}

// returns lists what a function may return at its end.
func returns(kind *ast.FuncType, body *ast.BlockStmt, text string) []string {
	var zeros []string
	for _, r := range kind.Results.List {
		if r.Names != nil {
			return []string{""}
		}
		zeros = append(zeros, zero(text[r.Type.Pos()-1:r.Type.End()-1]))
	}
	var names []string
	for _, s := range slices.Backward(body.List) {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				return false // its variables are out of scope at the end
			case *ast.ValueSpec:
				names = append(names, n.Names[0].Name)
			case *ast.AssignStmt:
				if id, ok := n.Lhs[0].(*ast.Ident); ok && n.Tok == token.DEFINE && id.Name != "_" {
					names = append(names, id.Name)
				}
			}
			return true
		})
	}
	for _, p := range kind.Params.List {
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
	}
	if zeros[0] == "false" {
		names = append(names, "false", "true")
	} else {
		names = append(names, zeros[0])
	}
	for i, n := range names {
		names[i] = " " + strings.Join(append([]string{n}, zeros[1:]...), ", ")
	}
	return names
}

// results makes a return have as many values as its function.
func (b *builder) results(c complaint, m []string) {
	at, text := b.at(c), b.files[c.file]
	have, want := split(m[1]), split(m[2])
	b.inspect(c.file, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		if !ok || int(r.Pos())-1 != at && !slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return int(x.Pos())-1 == at }) {
			return true
		}
		end := int(r.End()) - 1
		if len(have) > len(want) {
			cut := r.Pos() + token.Pos(len("return"))
			if n := len(want); n > 0 && n < len(r.Results) {
				cut = r.Results[n-1].End()
			}
			b.add(c.file, text[:cut-1]+text[end:], "return fewer values")
			return false
		}
		with := " "
		if len(have) > 0 {
			with = ", "
		}
		var more []string
		for _, t := range want[len(have):] {
			more = append(more, zero(t))
		}
		with += strings.Join(more, ", ")
		if rest, ok := strings.CutSuffix(with, "false"); ok {
			b.add(c.file, text[:end]+rest+"true"+text[end:], "return also"+rest+"true")
		}
		b.add(c.file, text[:end]+with+text[end:], "return also"+with)
		return false
	})
}

// split splits a list of types as the compiler writes it.
func split(types string) []string {
	if types == "" {
		return nil
	}
	return strings.Split(types, ", ")
}

// zero is the text of a type's zero value.
func zero(t string) string {
	for _, kind := range []struct{ begins, zero string }{
		{"string", `""`}, {"bool", "false"}, {"int", "0"}, {"uint", "0"}, {"float", "0"}, {"byte", "0"}, {"rune", "0"},
		{"error", "nil"}, {"any", "nil"}, {"*", "nil"}, {"[]", "nil"}, {"map[", "nil"}, {"func(", "nil"}, {"chan ", "nil"}, {"interface{", "nil"},
	} {
		if strings.HasPrefix(t, kind.begins) {
			return kind.zero
		}
	}
	return t + "{}"
}
