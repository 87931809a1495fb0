package refactor

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/pawl-run/pawl"
)

var rewrite = flag.Bool("rewrite", false, "write what the rules make to testdata")

// Each rule is applied again and again to code with what it is for and what it is to leave alone. The result
// builds.
func TestRules(t *testing.T) {
	for name, kind := range map[string]string{"returns": kindReturns, "inline": kindInline, "duplicates": kindDuplicates} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "rules", name+".txtar")
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := module(t, kind, map[string]string{"in.go": string(a.Files[0].Data)})
			for range 5 {
				list, err := r.places(t.Context(), kind)
				if err != nil {
					t.Fatal(err) // as where the result does not build
				}
				if len(list) == 0 {
					break
				}
				texts, _, err := r.with(list)
				if err != nil {
					t.Fatal(err)
				}
				for name, text := range texts {
					if err := r.Files.Write(name, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			got, _, err := r.Files.Read("in.go")
			if err != nil {
				t.Fatal(err)
			}
			if *rewrite {
				a.Files[1].Data = got
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(a.Files[1].Data), string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What go fix has said of one copy is not taken for what it says of another, as its cache does with -trimpath.
func TestModernTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go fix")
	}
	t.Parallel()
	for range 2 {
		r := module(t, kindModernise, map[string]string{"in.go": "package in\n\nvar Any interface{}\n"})
		r.Suite.Env = append(r.Suite.Env, "GOFLAGS=-trimpath")
		if list, err := r.places(t.Context(), kindModernise); len(list) != 1 || err != nil {
			t.Errorf("places %v, %v, want one", list, err)
		}
	}
	r := module(t, kindModernise, map[string]string{})
	for name, want := range map[string]bool{filepath.Join(t.TempDir(), "in.go"): true, filepath.Join(t.TempDir(), "_cgo_gotypes.go"): false, filepath.Join(r.Dir(), "in.go"): false} {
		var f fixed
		if err := json.Unmarshal([]byte(`{"suggested_fixes":[{"edits":[{"filename":`+strconv.Quote(name)+`,"new":"x"}]}]}`), &f); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := r.placeOf("any", f, nil); ok || (err != nil) != want {
			t.Errorf("%s: %v, %v, want an error: %v", name, ok, err, want)
		}
	}
}

// module is a module with some files, in a working copy.
func module(t *testing.T, goal string, files map[string]string) *Refactor {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/in\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := New(t.Context(), dir, goal, Mechanic(), &Options{StateDir: t.TempDir(), Env: []string{"GOWORK=off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// A process died while it tried edits. The next one takes them back, begins again, and leaves alone what a test
// does not bear and what no test executes.
func TestCutShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test several times")
	}
	t.Parallel()
	const watched = "package in\n\nfunc Watched(s string) string {\n\tt := s + \"!\"\n\treturn t\n}\n"
	r := module(t, kindInline, map[string]string{
		"a.go": watched,
		"b.go": "package in\n\nfunc Free(s string) string {\n\tt := s + \"!\"\n\treturn t\n}\n\nfunc Untested(s string) string {\n\tt := s + \"?\"\n\treturn t\n}\n",
		"in_test.go": "package in\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestFree(t *testing.T) {\n\tif Free(\"a\") != \"a!\" {\n\t\tt.Error(\"quiet\")\n\t}\n}\n\n" +
			"func TestWatched(t *testing.T) {\n\ttext, _ := os.ReadFile(\"a.go\")\n\tif Watched(\"a\") != \"a!\" || len(text) != " + strconv.Itoa(len(watched)) + " {\n\t\tt.Error(\"changed\")\n\t}\n}\n",
	})
	if _, err := r.Check(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.trying(r.state()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Files.Edit("b.go", `s + "!"`, `s + "!!"`); err != nil {
		t.Fatal(err)
	}
	if err := r.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(r.source, Mechanic(), pawl.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Release()
	got, err := again.byRules(t.Context(), byRulesArgs{})
	if err != nil {
		t.Fatal(err)
	}
	want := byRulesResult{
		Changed:  []string{`b.go:4: inline t := s + "!"`},
		Left:     []string{`a.go:4: inline t := s + "!" (example.com/in.TestWatched passed before and does not pass now)`, `b.go:8: inline t := s + "?" (no test executes it)`},
		Untested: []string{"b.go:9"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for name, want := range map[string]string{
		"a.go": watched,
		"b.go": "package in\n\nfunc Free(s string) string {\n\treturn s + \"!\"\n}\n\nfunc Untested(s string) string {\n\tt := s + \"?\"\n\treturn t\n}\n",
	} {
		if text, _, err := again.Files.Read(name); string(text) != want {
			t.Errorf("%s is %s, %v", name, text, err)
		}
	}
}

func TestMetrics(t *testing.T) {
	text, err := os.ReadFile("testdata/prices/prices.go")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := complexity(string(text)); n != 41 || err != nil {
		t.Errorf("complexity %v, %v, want 41", n, err)
	}
	if n := len(significant("prices.go", string(text), false)); n != 53 {
		t.Errorf("%d lines, want 53", n)
	}
	if n := len(significant("a.py", "# a\n\ndef f():\n    return 1 # b\n", false)); n != 2 {
		t.Errorf("%d lines of Python, want 2", n)
	}
	same := strings.Join(significant("prices.go", string(text), true), "\n")
	if n := duplicateLines([]string{same}); n != 4 {
		t.Errorf("%d duplicate lines, want 4", n)
	}
	if n := duplicateLines([]string{"a\nb\nc\nd\ne\n", "x\na\nb\nc\nd\ny", "c\nd\ne\nf"}); n != 4 {
		t.Errorf("%d duplicate lines, want 4", n)
	}
}

// Every line that differs in more than its space is touched, and the one before what was put in.
func TestTouchedLines(t *testing.T) {
	const old = "package p\n\nfunc f(a int) int {\n\tif a > 0 {\n\t\treturn 1\n\t} else {\n\t\tprintln(`x\n y`)\n\t}\n\treturn 2\n}\n"
	for now, want := range map[string][]int{
		old: nil,
		strings.Replace(old, "\t\treturn 1", "return 1 // one", 1):       nil,
		strings.Replace(old, "x\n y", "x\n\ty", 1):                       {7},
		strings.Replace(old, "\treturn 2", "\tprintln()\n\treturn 2", 1): {7},
		strings.Replace(old, "\t} else {", "\t}\n\t{", 1):                {6},
		"": {1, 3, 4, 5, 6, 7, 10},
	} {
		if d := cmp.Diff(want, touchedLines(old, now)); d != "" {
			t.Errorf("%s\n(-want +got):\n%s", now, d)
		}
	}
}
