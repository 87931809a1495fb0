package goedit

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// seed makes a fault of one kind in a function, by the bytes it replaces.
type seed struct {
	kind string
	at   func(fset *token.FileSet, n ast.Node, text func(ast.Node) string) (from, end token.Pos, with string)
}

// seeds are the inverses of what the rules propose, written down without them.
var seeds = []seed{
	{"comparison", func(_ *token.FileSet, n ast.Node, _ func(ast.Node) string) (from, end token.Pos, with string) {
		if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.LSS {
			return b.OpPos, b.OpPos + 1, "<="
		}
		return 0, 0, ""
	}},
	{"arithmetic", func(_ *token.FileSet, n ast.Node, _ func(ast.Node) string) (from, end token.Pos, with string) {
		if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.SUB {
			return b.OpPos, b.OpPos + 1, "+"
		}
		return 0, 0, ""
	}},
	{"negation", func(_ *token.FileSet, n ast.Node, _ func(ast.Node) string) (from, end token.Pos, with string) {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.NOT {
			return u.OpPos, u.X.Pos(), ""
		}
		return 0, 0, ""
	}},
	{"arguments", func(_ *token.FileSet, n ast.Node, text func(ast.Node) string) (from, end token.Pos, with string) {
		if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 2 && text(c.Args[0]) != text(c.Args[1]) {
			return c.Args[0].Pos(), c.Args[1].End(), text(c.Args[1]) + ", " + text(c.Args[0])
		}
		return 0, 0, ""
	}},
	{"order", func(_ *token.FileSet, n ast.Node, text func(ast.Node) string) (from, end token.Pos, with string) {
		if b, ok := n.(*ast.BlockStmt); ok && len(b.List) > 1 && isSimple(b.List[0]) && isSimple(b.List[1]) {
			return b.List[0].Pos(), b.List[1].End(), text(b.List[1]) + "\n" + text(b.List[0])
		}
		return 0, 0, ""
	}},
	{"step", func(_ *token.FileSet, n ast.Node, _ func(ast.Node) string) (from, end token.Pos, with string) {
		if i, ok := n.(*ast.IncDecStmt); ok && i.Tok == token.INC {
			return i.TokPos, i.TokPos + 2, "--"
		}
		return 0, 0, ""
	}},
	{"constant", func(_ *token.FileSet, n ast.Node, _ func(ast.Node) string) (from, end token.Pos, with string) {
		if l, ok := n.(*ast.BasicLit); ok && l.Value == "1" {
			return l.Pos(), l.End(), "2"
		}
		return 0, 0, ""
	}},
	{"shadow", func(_ *token.FileSet, n ast.Node, text func(ast.Node) string) (from, end token.Pos, with string) {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && isName(a.Lhs[0]) && !strings.Contains(text(a), ".") {
			return a.Pos(), a.End(), text(a.Lhs[0]) + " := " + text(a.Rhs[0])
		}
		return 0, 0, ""
	}},
	{"break", func(_ *token.FileSet, n ast.Node, _ func(ast.Node) string) (from, end token.Pos, with string) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.BREAK && b.Label == nil {
			return b.Pos(), b.End(), "continue"
		}
		return 0, 0, ""
	}},
}

// TestSeeds reads packages of the standard library from where Go is installed,
// makes one fault at a time in them, and looks for the edit that takes it back.
// The hints are what coverage would say of a test that runs the function.
func TestSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and has one goroutine only")
	}
	needGo(t)
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("the go command does not say where it is installed: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	if _, err := os.Stat(filepath.Join(root, "container", "heap", "heap.go")); err != nil {
		t.Skipf("no source of the standard library: %v", err)
	}
	imp := library()(t)
	tried, early := map[string]int{}, map[string]int{}
	for _, name := range []string{"container/heap/heap.go", "container/ring/ring.go", "container/list/list.go", "text/tabwriter/tabwriter.go"} {
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Skipf("no source of the standard library: %v", err)
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range seeds {
			done := 0
			for _, d := range parsed.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || done == 1 {
					continue
				}
				if rank, ok := sow(t, name, src, fset, fn, s, imp); ok {
					done++
					tried[s.kind]++
					if rank > 0 && rank <= 60 {
						early[s.kind]++
					}
				}
			}
		}
	}
	all, found := 0, 0
	for _, s := range seeds {
		t.Logf("%-10s %d of %d taken back by the first 60 edits", s.kind, early[s.kind], tried[s.kind])
		all, found = all+tried[s.kind], found+early[s.kind]
		if tried[s.kind] == 0 {
			t.Errorf("no place for a fault of the kind %s", s.kind)
		}
	}
	if found*10 < all*8 {
		t.Errorf("%d of %d faults are taken back by the first 60 edits, want four fifths", found, all)
	}
}

// sow makes the first fault of a kind in a function that compiles, and returns
// the place of the edit that takes it back.
func sow(t *testing.T, name string, src []byte, fset *token.FileSet, fn *ast.FuncDecl, s seed, imp types.Importer) (rank int, ok bool) {
	t.Helper()
	offset := func(p token.Pos) int { return fset.PositionFor(p, false).Offset }
	text := func(n ast.Node) string { return string(src[offset(n.Pos()):offset(n.End())]) }
	path := filepath.Base(name)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil || ok {
			return false
		}
		from, end, with := s.at(fset, n, text)
		if !from.IsValid() {
			return true
		}
		bad := slices.Concat(src[:offset(from)], []byte(with), src[offset(end):])
		c := faulty{files: fstest.MapFS{"go.mod": {Data: []byte("module m\n\ngo 1.26\n")}, path: {Data: bad}}, file: path, right: string(src)}
		if c.formatted(); !c.compiles(imp) {
			return true
		}
		ok = true
		c.hints = Hints{Failures: []Failure{{Package: "m", Test: "Test"}}, Spectra: map[Location]Spectrum{}}
		first, last := fset.Position(fn.Body.Lbrace).Line, fset.Position(fn.Body.Rbrace).Line
		for l := first; l <= last; l++ {
			c.hints.Spectra[Location{path, l}] = Spectrum{Failed: 1, Passed: 1}
		}
		edits, err := Candidates(c.files, c.hints, &Options{Importer: imp, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		rank = c.rankOf(edits)
		return false
	})
	return rank, ok
}

// formatted lays the fault out as gofmt would.
func (c *faulty) formatted() {
	if after, err := format.Source(c.files[c.file].Data); err == nil {
		c.files[c.file] = &fstest.MapFile{Data: after}
	}
}

func (c *faulty) compiles(imp types.Importer) bool {
	return wholeCheck(*c, c.file, c.files[c.file].Data, imp) == nil
}
