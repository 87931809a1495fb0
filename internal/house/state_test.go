package house

import (
	"go/ast"
	"go/token"
	"testing"
)

// State is few small parts, and no function of the machine is a web. The numbers only go down.
const (
	mostFields   = 70 // noCopy among them
	mostBranches = 15 // of a function: one, and one for each if, for, case, && and ||
)

func TestStateAndMachine(t *testing.T) {
	structs := map[string]*ast.StructType{}
	for _, s := range repository(t).pkgs[0].files {
		if s.test {
			continue
		}
		for _, decl := range s.ast.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && branches(f) > mostBranches {
				t.Errorf("%s: %s has a complexity of %d, more than %d: which of its conditions has a name?", s.name, f.Name, branches(f), mostBranches)
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					structs[spec.Name.Name], _ = spec.Type.(*ast.StructType)
				}
				return true
			})
		}
	}
	if n := fieldsOf("State", structs); n > mostFields || n < mostFields/2 {
		t.Errorf("State has %d fields in all its parts, want at most %d: what does Decide not read?", n, mostFields)
	}
}

// fieldsOf counts the fields of a type, with those of the types that it embeds.
func fieldsOf(name string, structs map[string]*ast.StructType) (n int) {
	for _, f := range structs[name].Fields.List {
		if part, ok := f.Type.(*ast.Ident); ok && f.Names == nil && structs[part.Name] != nil {
			n += fieldsOf(part.Name, structs)
		} else {
			n += max(1, len(f.Names))
		}
	}
	return n
}

// branches is the cyclomatic complexity of a function.
func branches(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			n += min(1, len(node.List))
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
