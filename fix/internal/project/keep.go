package project

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// Keeps says why a new content of a file that the project has is refused: what is there must stay,
// since a test that is weakened would hide what it showed. In Go every declaration stays as it is, in
// other files every line.
func Keeps(name string, before, after []byte) error {
	if path.Ext(name) != ".go" {
		rest := strings.Split(string(after), "\n")
		for line := range strings.SplitSeq(strings.TrimSuffix(string(before), "\n"), "\n") {
			at := 0
			for at < len(rest) && rest[at] != line {
				at++
			}
			if at == len(rest) {
				return fmt.Errorf("%s has a line that this edit removes or changes: %q; only add to it, or write a file of its own", name, line)
			}
			rest = rest[at+1:]
		}
		return nil
	}
	if err := Parses(name, string(after)); err != nil {
		return fmt.Errorf("%s would not parse any more: %w", name, err)
	}
	now := map[string]bool{}
	for _, text := range Declarations(after) {
		now[text] = true
	}
	for _, text := range Declarations(before) {
		if !now[text] {
			first, _, _ := strings.Cut(text, "\n")
			return fmt.Errorf("%s has a declaration that this edit removes or changes: %s; only add to it, or write a file of its own", name, first)
		}
	}
	return nil
}

// Declarations lists the texts of a Go file's declarations other than imports; nil: it does not parse.
func Declarations(src []byte) []string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var texts []string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		texts = append(texts, TextOf(fset, src, d))
	}
	return texts
}

// TextOf is the source text of a part of a file.
func TextOf(fset *token.FileSet, src []byte, n ast.Node) string {
	return string(src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
}
