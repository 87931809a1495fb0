package testfix

import (
	"bytes"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/fix/internal/goedit"
)

// CompareForTest says how a fix differs from the right text of a file.
func CompareForTest(t *testing.T, f *Fix, d Diff, file, right string) string {
	t.Helper()
	with := map[string]string{file: right}
	for name, text := range f.originals(d) {
		if name != file {
			with[name] = text
		}
	}
	same := true
	for name, text := range with {
		got, _, err := f.Files.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		same = same && plainGo(t, string(got)) == plainGo(t, text)
	}
	if same {
		return "the same code"
	}
	ctx := t.Context()
	pkg, tests := failedTests(f.first.Report)
	q, err := f.prober(pkg, path.Dir(file), tests, &goedit.Options{Importer: f.imports(ctx)})
	if err != nil {
		t.Fatal(err)
	}
	one, other := q.build(ctx, nil), q.build(ctx, with)
	if one == "" || other == "" {
		return "not to be compared"
	}
	if w := q.differ(ctx, one, other, 1); len(w) > 0 {
		t.Logf("it differs: %s", w[0])
		return "another program"
	}
	return "the same for all inputs"
}

// plainGo is a file's code without its comments.
func plainGo(t *testing.T, text string) string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution) // which leaves comments out
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, file); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// HunksForTest returns the text of a file without each change in turn.
func HunksForTest(name, before, after string) []string {
	var list []string
	for _, c := range hunks(name, before, after) {
		list = append(list, c.without)
	}
	return list
}
