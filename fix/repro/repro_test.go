package repro_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/journal/memory"
)

type args = map[string]any

func writes(name, content string) pawl.Call {
	return call("write_file", args{"path": name, "content": content})
}

const (
	right = "package most\n\n// Of returns the largest.\nfunc Of(list []int) int {\n\tm := list[0]\n\tfor _, n := range list {\n\t\tm = max(m, n)\n\t}\n\treturn m\n}\n"
	kept  = "package most\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif got := Of([]int{1, 3, 2}); got != 3 {\n\t\tt.Errorf(\"got %d, want 3\", got)\n\t}\n}\n"
	late  = "package most\n\nimport (\n\t\"os\"\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc show(list []int) string { return strings.Repeat(\"x\", len(list)) }\n\n" +
		"// Numbers below zero are lost.\nfunc TestBelowZero(t *testing.T) {\n\tname := os.TempDir()\n\tt.Log(name)\n\t// Several lists.\n\tfor _, c := range []struct {\n\t\tlist []int\n\t\twant int\n\t}{\n" +
		"\t\t{[]int{1, 2}, 2},\n\t\t{[]int{-3, -1, -2}, -1},\n\t\t{[]int{5}, 5},\n\t} {\n\t\tif got := Of(c.list); got != c.want {\n\t\t\tt.Errorf(\"got %d, want %d\", got, c.want)\n\t\t}\n\t}\n}\n\nfunc TestShow(t *testing.T) {\n\tif show(nil) != \"\" {\n\t\tt.Error(\"not empty\")\n\t}\n}\n"
	chance = "package most\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestChance(t *testing.T) {\n\t_, err := os.Stat(\"seen\")\n\tif err != nil {\n\t\t_ = os.WriteFile(\"seen\", nil, 0o600)\n\t\tt.Fatal(\"never seen\")\n\t}\n\t_ = os.Remove(\"seen\")\n}\n"
)

// project is a module with a bug.
func project(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "most")
	write(t, dir, map[string]string{
		"go.mod": "module example.com/most\n\ngo 1.26\n", "most_test.go": kept,
		"most.go": strings.Replace(right, "list[0]", "0", 1),
	})
	return dir
}

// A model goes wrong in the ways that models do, and each is named. Only a test that shows the bug is a success.
func TestRepro(t *testing.T) { // Promises: T18.
	check.SkipShort(t, "it runs go test dozens of times")
	t.Parallel()
	dir := project(t)
	var last pawl.Request
	model := modeltest.Turns(&last,
		[]pawl.Call{
			call("edit_file", args{"path": "most.go", "old": "m := 0", "new": "m := list[0]"}),
			call("edit_file", args{"path": "most_test.go", "old": "got != 3", "new": "got != 4"}),
			writes("go.mod", "module example.com/other\n"),
			writes("bug_test.go", "package most\n\nfunc TestBug(t *testing.T) {}\n"),
		},
		[]pawl.Call{writes("bug_test.go", "package most\n\nimport \"testing\"\n\nfunc TestBug(t *testing.T) {}\n")},
		[]pawl.Call{writes("bug_test.go", chance)},
		[]pawl.Call{writes("bug_test.go", "package most\n\nimport \"testing\"\n\nfunc TestBug(t *testing.T) { Of(nil); panic(\"it is wrong\") }\n")},
		[]pawl.Call{writes("bug_test.go", late)},
	)
	r, err := repro.New(t.Context(), dir, "The largest of -3, -1 is 0.", model, &repro.Options{StateDir: t.TempDir(), Env: []string{"GOFLAGS=-vet=off -trimpath"}})
	must(t, err)
	defer r.Close()
	if c, err := r.Check(t.Context(), nil); err != nil || c.Passed != 1 || len(c.Open) > 0 {
		t.Fatalf("before: %+v, %v", c, err)
	}
	run, err := engine.New(memory.New(), nil).Start(t.Context(), r.Agent(), r.Input(), nil)
	must(t, err)
	result, err := run.Wait(t.Context())
	if err != nil || result.Status != pawl.StatusSuccess {
		t.Fatalf("%v, %v: %s", result.Status, err, result.Verdict.Detail)
	}
	var said strings.Builder
	for _, m := range last.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				said.WriteString(p.Text + "\n")
			case pawl.ToolResult:
				said.WriteString(p.Text() + "\n")
			}
		}
	}
	for _, want := range []string{
		"- a new test that fails because of the bug\n",
		"most.go is no test, and only tests may be edited",
		"most_test.go loses the declaration func TestOf",
		"go.mod decides which tests run",
		"[build] does not build, so nothing is shown",
		"example.com/most.TestBug passes, so it does not show the bug",
		"example.com/most.TestChance fails by chance: run 1 of 5",
		"panics; catch it in the test",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the model was not told %q:\n%s", want, said.String())
		}
	}
	out, err := r.Finish(t.Context(), result.Status)
	must(t, err)
	found := repro.Found{Test: "example.com/most.TestBelowZero", Command: "go test -run ^TestBelowZero$ .", Runs: 5}
	if d := cmp.Diff(any(found), out.Facts); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"bug_test.go"}, out.Diff.Files()); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if _, err := os.Stat(filepath.Join(dir, "bug_test.go")); err == nil {
		t.Error("the project was touched before Apply")
	}
	must(t, r.Apply(out.Diff))
	test := exec.Command("sh", "-c", found.Command)
	test.Dir = dir
	if out, err := test.CombinedOutput(); err == nil || !strings.Contains(string(out), "got 0, want -1") {
		t.Errorf("the test in the project: %v\n%s", err, out)
	}
}

var must, write, call = check.Must, check.Write, modeltest.Call
