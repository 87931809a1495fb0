package testfix

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/beneath"
)

// A test that panics takes its process down before the profile is written. So
// for coverage the test files are laid over with copies in which each test and
// subtest catches its panic and fails by it. A panic in another goroutine, or an
// exit, still ends all.

// survivors writes such copies of the test files in the directories, which are relative to
// the project, and returns the flag of their overlay; empty if there are none.
func survivors(f *project.Files, dirs []string, to string) (string, error) {
	calm := map[string]string{}
	for _, dir := range dirs {
		names, err := f.Root.Open(filepath.FromSlash(dir))
		if err != nil {
			return "", beneath.Plainly(dir, err)
		}
		list, err := names.Readdirnames(-1)
		_ = names.Close() // it was only read
		if err != nil {
			return "", beneath.Plainly(dir, err)
		}
		slices.Sort(list)
		for _, name := range list {
			name = path.Join(dir, name)
			if !strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, _, err := f.Read(name)
			if err != nil {
				continue // the build reports the error
			}
			if text, ok := survive(name, string(text)); ok {
				calm[name] = text
			}
		}
	}
	if len(calm) == 0 {
		return "", nil
	}
	return testrun.Overlay(to, calm)
}

// survive makes every function of a test file that takes one *testing.T, by
// declaration or as a subtest, catch its panic. No line moves.
func survive(name, text string) (string, bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return "", false
	}
	type insert struct {
		at   int
		what string
	}
	var inserts []insert
	ast.Inspect(file, func(n ast.Node) bool {
		var kind *ast.FuncType
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			kind, body = n.Type, n.Body
		case *ast.FuncLit:
			kind, body = n.Type, n.Body
		}
		if t := testingT(kind); t != "" && body != nil {
			inserts = append(inserts, insert{
				fset.Position(body.Lbrace).Offset + 1,
				fmt.Sprintf(" defer func() { if r := recover(); r != nil { %s.Errorf(\"panic: %%v\", r) } }();", t),
			})
		}
		return true
	})
	slices.SortFunc(inserts, func(a, b insert) int { return b.at - a.at })
	for _, i := range inserts {
		text = text[:i.at] + i.what + text[i.at:]
	}
	return text, len(inserts) > 0
}

// testingT returns the name of a function's only parameter if that is a
// *testing.T and the function returns nothing.
func testingT(f *ast.FuncType) string {
	if f == nil || f.Results != nil || f.Params == nil || len(f.Params.List) != 1 || len(f.Params.List[0].Names) != 1 {
		return ""
	}
	star, ok := f.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return ""
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "T" {
		return ""
	}
	if id, ok := sel.X.(*ast.Ident); !ok || id.Name != "testing" || f.Params.List[0].Names[0].Name == "_" {
		return ""
	}
	return f.Params.List[0].Names[0].Name
}
