package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"
	"testing"
)

// A seed is a fault that can be sown: a piece of a file and what takes its place.
type seed struct {
	file       string
	start, end int
	text       string
	kind       string
}

func (s seed) sow(files map[string]string) (text string) {
	src := files[s.file]
	return src[:s.start] + s.text + src[s.end:]
}

// instead is what people write by mistake.
var instead = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// seeds are all faults that can be sown into the packages of a module, by kind.
// They are made here, by rules of their own, and not by what mends them.
func seeds(t *testing.T, files map[string]string) map[string][]seed {
	t.Helper()
	all := map[string][]seed{}
	for name, src := range files {
		dir := path.Dir(name)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || strings.Contains(dir, "test") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		at := func(p token.Pos) int { return fset.Position(p).Offset }
		add := func(kind string, from, to token.Pos, text string) {
			all[kind] = append(all[kind], seed{name, at(from), at(to), text, kind})
		}
		piece := func(n ast.Node) string { return src[at(n.Pos()):at(n.End())] }
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if other, ok := instead[n.Op]; ok {
					add("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
				}
			case *ast.BasicLit:
				if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
					add("constant", n.Pos(), n.End(), strconv.Itoa(v+1))
				}
			case *ast.IfStmt:
				add("negation", n.Cond.Pos(), n.Cond.End(), "!("+piece(n.Cond)+")")
			case *ast.IncDecStmt:
				add("missing", n.Pos(), n.End(), "")
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					add("missing", n.Pos(), n.End(), "")
				}
			case *ast.BranchStmt:
				add("missing", n.Pos(), n.End(), "")
			case *ast.CallExpr:
				if len(n.Args) == 2 {
					add("swapped", n.Args[0].Pos(), n.Args[1].End(), piece(n.Args[1])+", "+piece(n.Args[0]))
				}
			case *ast.ReturnStmt:
				if len(n.Results) == 1 {
					if b := piece(n.Results[0]); b == "true" || b == "false" {
						add("result", n.Results[0].Pos(), n.Results[0].End(), strconv.FormatBool(b == "false"))
					}
				}
			}
			return true
		})
	}
	return all
}

// draw takes seeds by chance, a kind first, and none twice.
func draw(all map[string][]seed, kinds []string, random *rand.Rand) func() (seed, bool) {
	return func() (seed, bool) {
		for range 1000 {
			kind := kinds[random.IntN(len(kinds))]
			if left := all[kind]; len(left) > 0 {
				i := random.IntN(len(left))
				s := left[i]
				all[kind] = append(left[:i:i], left[i+1:]...)
				return s, true
			}
		}
		return seed{}, false
	}
}
