package goedit

import (
	"encoding/json"
	"fmt"
	"go/ast"
	values "go/constant"
	"go/token"
	"go/types"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
)

// A Probe is another value for a literal of a test: an input like those that the test's author
// chose, or one of a fuzz corpus of the package; or an entry of a corpus for its fuzz target.
type Probe struct {
	File string
	Line int
	Test string // the function of the test, or a fuzz target and its entry; empty: the literal stands outside of one
	// Literal and Value are what [ProbeVars] must be set to.
	Literal, Value string
	Old, New       string // as Go
}

// ProbeVars are the names of the variables of the environment that select a probe.
var ProbeVars = [2]string{"PAWL_PROBE", "PAWL_PROBE_VALUE"}

// Probes returns probes for the literals in the tests of the package in a directory, a slash
// path, with values next to theirs and those of the fuzz corpora in testdata/fuzz, in an order that
// spreads over them; and the test files that make way for them: with
// ProbeVars not set they behave as before.
func Probes(root fs.FS, dir string, o *Options) ([]Probe, map[string]string, error) {
	m, err := load(root)
	if err != nil {
		return nil, nil, err
	}
	var outside types.Importer
	if o != nil {
		outside = o.Importer
	}
	g := newGraph(m, outside)
	files := map[string]string{}
	entries := corpora(root, dir)
	lists := [][]Probe{targets(entries)}
	found := corpusValues(entries)
	packages := map[string]bool{}
	for _, f := range g.dirs[dir] {
		if !f.test || !f.built {
			continue
		}
		p := probing{g: g, file: f, found: found}
		p.walk()
		if len(p.inserts) == 0 {
			continue
		}
		files[f.path] = m.modern(string(f.src)) + p.text()
		packages[f.ast.Name.Name] = true
		lists = append(lists, p.lists...)
	}
	for name := range packages {
		files[path.Join(dir, "pawl_probe_"+name+"_test.go")] = m.modern("") + fmt.Sprintf(probeHelper, name, ProbeVars[0], ProbeVars[1])
	}
	var all []Probe
	for i := 0; len(lists) > 0; i++ {
		lists = slices.DeleteFunc(lists, func(l []Probe) bool { return i >= len(l) })
		for _, l := range lists {
			all = append(all, l[i])
		}
	}
	return all, files, nil
}

// modern is a constraint that gives a file of an old module a version of Go with type parameters,
// which probes need.
func (m *module) modern(text string) string {
	if !m.old || strings.Contains(text, "//go:build") {
		return ""
	}
	return "//go:build go1.21\n\n"
}

const probeHelper = `package %s

import (
	"encoding/json"
	"os"
)

var pawlProbed, pawlProbeValue = os.Getenv(%q), []byte(os.Getenv(%q))

func pawlProbe[T any](literal string, v T) T {
	var w T
	if literal != pawlProbed || json.Unmarshal(pawlProbeValue, &w) != nil {
		return v
	}
	return w
}
`

type probing struct {
	g       *graph
	file    *file
	test    string
	inserts []probeInsert
	lists   [][]Probe
	found   map[types.BasicInfo][]any // in fuzz corpora
}

type probeInsert struct {
	from, to int
	text     string
}

func (p *probing) walk() {
	for _, d := range p.file.ast.Decls {
		p.test = ""
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			p.test = f.Name.Name
		}
		ast.Inspect(d, p.visit)
	}
}

// spoken are the methods of a test whose constants only say something to people.
var spoken = map[string]bool{"Error": true, "Errorf": true, "Fatal": true, "Fatalf": true, "Log": true, "Logf": true, "Run": true, "Skip": true, "Skipf": true}

// visit passes by what must be constant, and what is no input.
func (p *probing) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST && n.Tok != token.IMPORT
	case *ast.Field, *ast.ArrayType:
		return false
	case *ast.CaseClause:
		for _, s := range n.Body {
			ast.Inspect(s, p.visit)
		}
		return false
	case *ast.KeyValueExpr:
		ast.Inspect(n.Value, p.visit)
		return false
	case *ast.CallExpr:
		if s, ok := n.Fun.(*ast.SelectorExpr); !ok || !spoken[s.Sel.Name] {
			return true
		}
		for _, arg := range n.Args {
			if p.g.tests.Types[arg].Value == nil {
				ast.Inspect(arg, p.visit)
			}
		}
		return false
	case *ast.BasicLit, *ast.UnaryExpr, *ast.BinaryExpr:
		// The operands of a constant have no type of their own.
		if tv, ok := p.g.tests.Types[n.(ast.Expr)]; ok && tv.Value != nil { //nolint:forcetypeassert // all three are
			p.constant(n, tv)
			return false
		}
	}
	return true
}

func (p *probing) constant(n ast.Node, tv types.TypeAndValue) {
	t, ok := types.Default(tv.Type).(*types.Basic)
	if !ok {
		return
	}
	others := probeValues(t, tv.Value)
	if len(others) == 0 {
		return
	}
	if v := p.lent(t, tv.Value); v != nil {
		others = slices.Insert(others, min(1, len(p.lists)%3), v) // every third literal begins with one
	}
	at, end := p.g.fset.Position(n.Pos()), p.g.fset.Position(n.End())
	old := string(p.file.src[at.Offset:end.Offset])
	id := fmt.Sprintf("%s:%d", path.Base(p.file.path), at.Offset)
	p.inserts = append(p.inserts, probeInsert{at.Offset, end.Offset, fmt.Sprintf("pawlProbe[%s](%q, %s)", t.Name(), id, old)})
	var list []Probe
	for _, v := range others {
		text, err := json.Marshal(v)
		if err != nil {
			continue // a float that JSON does not have
		}
		list = append(list, Probe{File: p.file.path, Line: at.Line, Test: p.test, Literal: id, Value: string(text), Old: old, New: string(text)})
	}
	p.lists = append(p.lists, list)
}

// probeValues are values next to one, and the usual bounds.
func probeValues(t *types.Basic, v values.Value) []any {
	switch info := t.Info(); {
	case info&types.IsString != 0:
		s := values.StringVal(v)
		list := []any{s + s, ""}
		if runes := []rune(s); len(runes) > 1 {
			list = append(list, string(runes[1:]), string(runes[:len(runes)-1]))
			slices.Reverse(runes)
			list = append(list, string(runes))
		}
		return slices.DeleteFunc(list, func(x any) bool { return x == s })
	case info&types.IsInteger != 0:
		n, exact := values.Int64Val(values.ToInt(v))
		if !exact || n > math.MaxInt32 || n < math.MinInt32 {
			return nil
		}
		list := []any{n + 1, n - 1, 2 * n, int64(0), -n}
		least := int64(math.MinInt32)
		if info&types.IsUnsigned != 0 {
			least = 0
		}
		most := int64(math.MaxInt32)
		if t.Kind() == types.Uint8 || t.Kind() == types.Int8 {
			most = math.MaxInt8
		}
		return slices.DeleteFunc(list, func(x any) bool { i, _ := x.(int64); return i == n || i < least || i > most })
	case info&types.IsFloat != 0:
		x, _ := values.Float64Val(v)
		return slices.DeleteFunc([]any{x + 1, x - 1, x / 2, 0.0, -x}, func(y any) bool { return y == x })
	}
	return nil
}

func (p *probing) text() string {
	var b strings.Builder
	at := 0
	for _, i := range p.inserts { // in the order of the file
		b.Write(p.file.src[at:i.from])
		b.WriteString(i.text)
		at = i.to
	}
	b.Write(p.file.src[at:])
	return b.String()
}
