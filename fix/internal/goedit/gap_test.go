package goedit

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// What only a failing test executes is not all suspect: helpers report, and errors speak, where
// something else is wrong.
func TestBesideTheFault(t *testing.T) {
	files := fstest.MapFS{
		"go.mod":           {Data: []byte("module m\n\ngo 1.26\n")},
		"m.go":             {Data: []byte("package m\n\ntype odd struct{ n int }\n\nfunc (o odd) Error() string {\n\tif o.n > 9 {\n\t\treturn \"large\"\n\t}\n\treturn \"small\"\n}\n\nfunc Do(n int) error {\n\tif n > 9 {\n\t\treturn odd{n}\n\t}\n\treturn nil\n}\n")},
		"assert/assert.go": {Data: []byte("package assert\n\ntype TestingT interface {\n\tErrorf(string, ...any)\n\tFailNow()\n}\n\nfunc NoError(t TestingT, err error) {\n\tif err != nil {\n\t\tt.Errorf(\"got %v\", err)\n\t}\n}\n")},
		"m_test.go":        {Data: []byte("package m\n\nimport (\n\t\"testing\"\n\n\t\"m/assert\"\n)\n\nfunc TestDo(t *testing.T) {\n\tassert.NoError(t, Do(10))\n}\n")},
	}
	h := Hints{Failures: []Failure{{Package: "m", Test: "TestDo"}}, Spectra: map[Location]Spectrum{
		{File: "m.go", Line: 6}: {1, 0}, {File: "m.go", Line: 7}: {1, 0}, {File: "m.go", Line: 13}: {1, 3}, {File: "m.go", Line: 14}: {1, 0},
		{File: "assert/assert.go", Line: 9}: {1, 3}, {File: "assert/assert.go", Line: 10}: {1, 0},
	}}
	edits, err := Candidates(files, h, &Options{Importer: library()(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range edits[:4] {
		if e.File != "m.go" || e.Line < 12 {
			t.Errorf("edit %d is %s:%d %s, want one of Do", i+1, e.File, e.Line, e.Rule)
		}
	}
}

// Where one of many cases fails, one more condition comes before another operator.
func TestGap(t *testing.T) {
	const src = "package m\n\ntype kind int\n\nconst (\n\tred kind = iota\n\tgreen\n\tblue\n)\n\nfunc Warm(k kind) bool {\n\treturn k == red\n}\n"
	place := func(rows int) int {
		var table strings.Builder
		for i := range rows {
			fmt.Fprintf(&table, "%d, ", i)
		}
		files := fstest.MapFS{
			"go.mod": {Data: []byte("module m\n\ngo 1.26\n")}, "m.go": {Data: []byte(src)},
			"m_test.go": {Data: []byte("package m\n\nimport \"testing\"\n\nfunc TestWarm(t *testing.T) {\n\tfor _, k := range []kind{" + table.String() + "} {\n\t\tif !Warm(k) {\n\t\t\tt.Error(k)\n\t\t}\n\t}\n}\n")},
		}
		h := Hints{Failures: []Failure{{Package: "m", Test: "TestWarm", Output: "m_test.go:8: 2\n"}}}
		edits, err := Candidates(files, h, &Options{Importer: library()(t)})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range edits {
			if strings.Contains(e.New, "k == red || k == blue") {
				return i + 1
			}
		}
		t.Fatal("the missing term is not proposed")
		return 0
	}
	if one, many := place(1), place(16); many >= one {
		t.Errorf("of many cases it is at place %d, of one at %d", many, one)
	}
}
