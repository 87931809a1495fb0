package goedit

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// wholeCheck type-checks the package of a file in the plainest way, as a
// witness for the check of a function alone.
func wholeCheck(c faulty, name string, after []byte, imp types.Importer) error {
	m, err := load(c.files)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, f := range m.dirs[path.Dir(name)] {
		src := f.src
		if f.path == name {
			src = after
		}
		if f.test {
			continue
		}
		parsed, err := parser.ParseFile(fset, f.path, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, parsed)
	}
	inside := newGraph(m, imp)
	conf := types.Config{Importer: importerFunc(func(p string) (*types.Package, error) {
		if dir, ok := m.dirOf(p); ok && m.path != "" {
			return inside.importable(dir), nil
		}
		return imp.Import(p)
	})}
	_, err = conf.Check("p", fset, files, nil)
	return err
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(p string) (*types.Package, error) { return f(p) }

// TestOnlyWhatCompiles has code of all kinds for which checking a function
// alone could differ from checking its package.
func TestOnlyWhatCompiles(t *testing.T) {
	const src = `package m

import (
	"errors"
	"strings"
)

type list[T any] struct {
	items []T
	next  *list[T]
}

func (l *list[T]) push(v T) (n int) {
	l.items = append(l.items, v)
	n = len(l.items)
	return n
}

func (list[_]) name() string { return "list" }

func pick[K comparable, V any](m map[K]V, k, other K) (V, error) {
	v, ok := m[k]
	if !ok {
		var zero V
		return zero, errors.New("none")
	}
	_ = other
	return v, nil
}

func upper(s string, _ int) string {
	a := strings.TrimSpace(s)
	b := a
loop:
	for i := 0; i < len(b); i++ {
		for range 3 {
			if b[i] == 'x' {
				continue loop
			}
		}
	}
	f := func(x int) int { return x + len(a) }
	defer f(1)
	switch n := f(2); {
	case n > 3:
		return b
	}
	return strings.ToUpper(a)
}
`
	files := fstest.MapFS{"go.mod": {Data: []byte("module m\n\ngo 1.26\n")}, "m.go": {Data: []byte(src)}}
	imp := library()(t)
	edits, err := Candidates(files, Hints{Failures: []Failure{{Package: "m"}}}, &Options{Importer: imp, Limit: 900})
	if err != nil {
		t.Fatal(err)
	}
	checkEdits(t, files, edits)
	c := faulty{files: files}
	places := map[string]bool{}
	for i, e := range edits {
		places[e.Rule] = true
		if i%6 != 0 {
			continue
		}
		after, err := Apply([]byte(src), e)
		if err != nil {
			t.Fatal(err)
		}
		if err := wholeCheck(c, e.File, after, imp); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	if len(places) < 60 {
		t.Errorf("%d different edits, want more: too much is thought not to compile", len(places))
	}
}

// TestBrokenCode proposes edits of what builds, or what is no worse than before.
func TestBrokenCode(t *testing.T) {
	files := fstest.MapFS{
		"go.mod":         {Data: []byte("module m\n")},
		"m.go":           {Data: []byte("package m\n\nimport \"example.org/gone\"\n\nfunc F(a, b int) int {\n\tif a < b {\n\t\treturn gone.G(a)\n\t}\n\treturn undefined + 1\n}\n\nfunc G(a, b int) bool {\n\treturn a < b\n}\n")},
		"c/c.go":         {Data: []byte("package c\n\nimport \"m/d\"\n\nvar C = d.D + 1\n")},
		"d/d.go":         {Data: []byte("package d\n\nimport \"m/c\"\n\nvar D = c.C + 1\n")},
		"e/a.go":         {Data: []byte("package e\n\nfunc Same(x int) int { return x + 1 }\n")},
		"e/b.go":         {Data: []byte("package f\n\nfunc Same(x int) int { return x + 1 }\n")},
		"o/o_windows.go": {Data: []byte("package o\n\nfunc O() int { return 1 }\n")},
		"o/o_plan9.go":   {Data: []byte("package o\n\nfunc O() int { return 1 }\n")},
	}
	nobody := importerFunc(func(p string) (*types.Package, error) { return nil, errors.New("nothing here") })
	for _, pkg := range []string{"m", "m/c", "m/e", "m/o", "m/none"} {
		edits, err := Candidates(files, Hints{Failures: []Failure{{Package: pkg}}}, &Options{Importer: nobody})
		if err != nil {
			t.Fatal(err)
		}
		checkEdits(t, files, edits)
		if pkg == "m" && len(edits) == 0 {
			t.Error("no edits of a package that has errors elsewhere")
		}
	}
}

func FuzzTyped(f *testing.F) {
	for i, c := range leftOut {
		f.Add("package m\n\n"+c.src, "got \"a,b\", want \"a, b\"", 3+i%5, 1, i%3)
	}
	f.Add("package m\n\nfunc (r *R[T]) F(xs ...T) (n int, _ error) {\n\tfor i := range xs {\n\t\tn += i\n\t}\n\treturn\n}\n\ntype R[T any] struct{ f map[string][]T }", "panic: index out of range", 4, 0, 0)
	f.Fuzz(func(t *testing.T, src, message string, line, failed, passed int) {
		// The rules look at a function at a time: what a long text finds, a short
		// one finds a hundred times sooner.
		if len(src) > 2000 || len(message) > 500 {
			t.Skip()
		}
		files := mapFS(map[string]string{"go.mod": "module m", "m.go": src})
		h := Hints{
			Failures: []Failure{{Package: "m", Output: message, Got: message, Want: strings.ToUpper(message)}},
			Spectra:  map[Location]Spectrum{{File: "m.go", Line: line}: {failed, passed}, {File: "m.go", Line: line + 1}: {1, 1}},
		}
		nobody := importerFunc(func(p string) (*types.Package, error) { return nil, errors.New("nothing here") })
		edits, err := Candidates(files, h, &Options{Importer: nobody, Limit: 20})
		if err != nil {
			return
		}
		checkEdits(t, files, edits)
	})
}
