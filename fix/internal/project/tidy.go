package project

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Tidy formats a Go file and drops the imports that an earlier form of it used and it does not.
func Tidy(earlier, text string) (string, error) {
	old, err := parser.ParseFile(token.NewFileSet(), "", earlier, 0)
	if err != nil {
		return "", err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, i := range slices.Clone(file.Imports) {
		name, path := "", strings.Trim(i.Path.Value, "`\"")
		if i.Name != nil {
			name = i.Name.Name
		}
		if astutil.UsesImport(old, path) && !astutil.UsesImport(file, path) {
			astutil.DeleteNamedImport(fset, file, name, path)
		}
	}
	var b bytes.Buffer
	err = format.Node(&b, fset, file)
	return b.String(), err
}
