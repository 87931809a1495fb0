package project

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// keeps says why a new content of a file that the project has is refused: what is there must stay,
// since a test that is weakened would hide what it showed. In Go every declaration stays as it is, in
// other files every line.
func keeps(name string, before, after []byte) error {
	if path.Ext(name) != ".go" {
		rest := strings.Split(string(after), "\n")
		for line := range strings.SplitSeq(strings.TrimSuffix(string(before), "\n"), "\n") {
			at := slices.Index(rest, line)
			if at < 0 {
				return fmt.Errorf("%s loses the line %q with this edit; only add to it, or write another file", name, line)
			}
			rest = rest[at+1:]
		}
		return nil
	}
	now := map[string]bool{}
	list, err := declarations(after)
	if err != nil {
		return fmt.Errorf("%s would not parse any more: %w", name, err)
	}
	for _, text := range list {
		now[text] = true
	}
	list, _ = declarations(before) // what does not parse has none
	for _, text := range list {
		if !now[text] {
			first, _, _ := strings.Cut(text, "\n")
			return fmt.Errorf("%s loses the declaration %s with this edit; only add to it, or write another file", name, first)
		}
	}
	return nil
}

// declarations lists the texts of a Go file's declarations other than imports.
func declarations(src []byte) (texts []string, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			texts = append(texts, string(src[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset]))
		}
	}
	return texts, nil
}
