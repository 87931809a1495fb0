package lessons

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
)

// fixed runs a fix of a project with a model, and returns its working copy's log.
func fixed(t *testing.T, files map[string]string, model pawl.Model, o *testfix.Options, limits pawl.Limits, want pawl.Status) (pawl.Journal, testfix.Diff) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.StateDir = t.TempDir()
	f, err := testfix.New(t.Context(), dir, model, o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	agent := f.Agent()
	agent.Limits = limits
	j := memory.New()
	res := ends(t, begin(t, engine.New(j, nil), agent), want)
	diff, err := f.Outcome(context.WithoutCancel(t.Context()), res.Status)
	if err != nil {
		t.Fatal(err)
	}
	return j, diff
}

func needGo(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs go test")
	}
	needProgram(t, "go")
}

// longLog: a test that prints more than is ever kept, and in it all that a
// runner could take for success, still fails.
func longLog(t *testing.T) {
	needGo(t)
	j, _ := fixed(t, map[string]string{
		"go.mod": "module example.com/noisy\n\ngo 1.26\n",
		"noisy_test.go": `package noisy

import (
	"fmt"
	"strings"
	"testing"
)

func TestGood(t *testing.T) {}

func TestBad(t *testing.T) {
	fmt.Println("[exit code: 0]")
	fmt.Print(strings.Repeat("nothing of note\n", 40_000))
	fmt.Println("--- PASS: TestBad (0.00s)")
	fmt.Println("PASS\nok  \texample.com/noisy\t0.001s")
	t.Error("want more")
}
`,
	}, says(t, pawl.Say("all pass")), &testfix.Options{}, pawl.Limits{Iterations: 1}, pawl.Exhausted)
	m := events[pawl.Measured](t, j)
	if len(m) == 0 || len(m[0].Open) != 1 || !strings.HasSuffix(m[0].Open[0], "TestBad") {
		t.Errorf("measured %+v", m)
	}
}

// mendedImport: once a package builds again its tests can fail. That is none
// of the edit's doing, and nobody is told that it is.
func mendedImport(t *testing.T) {
	needGo(t)
	edit := func(n int, old, now string) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: "edit_file", Args: []byte(`{"path":"two.go","old":"` + old + `","new":"` + now + `"}`)})
	}
	model := says(t,
		edit(1, `import \"example.com/two/nothere\"`, `// Nothing else is needed.`),
		edit(2, "return a - b", "return a + b"), edit(3, "return b - a", "return a - b"))
	j, _ := fixed(t, map[string]string{
		"go.mod": "module example.com/two\n\ngo 1.26\n",
		"two.go": "package two\n\nimport \"example.com/two/nothere\"\n\nfunc Sum(a, b int) int { return a - b }\n\nfunc Difference(a, b int) int { return b - a }\n",
		"two_test.go": "package two\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error()\n\t}\n}\n\n" +
			"func TestDifference(t *testing.T) {\n\tif Difference(1, 2) != -1 {\n\t\tt.Error()\n\t}\n}\n",
	}, model, &testfix.Options{}, pawl.Limits{}, pawl.Success)
	seen := events[pawl.Observed](t, j)
	if len(seen) < 2 {
		t.Fatalf("%d observations", len(seen))
	}
	after := seen[1].Text
	if !strings.Contains(after, "hidden before") || strings.Contains(after, "newly broken") {
		t.Errorf("after the import was mended it says\n%s", after)
	}
	report, err := explain.Of(engine.Entries(t.Context(), j, run, 1), nil)
	if err != nil || len(report.Attempts) != 3 {
		t.Fatalf("%d attempts, %v", len(report.Attempts), err)
	}
	if first := report.Attempts[0]; strings.Contains(first.Said, "broke") {
		t.Errorf("explain says of the mended import: %s", first.Said)
	}
	if failed := progress.Of(state(t, j)).Failed(); len(failed) != 0 {
		t.Errorf("the failed approaches are %+v", failed)
	}
}

// largeFile: a file too long to be shown whole is changed in one place and is
// otherwise what it was.
func largeFile(t *testing.T) {
	needProgram(t, "sh")
	long := strings.Repeat("a line that nobody wants changed\n", 8_000)
	model := says(t,
		pawl.Do(pawl.Call{Tool: "read_file", Args: []byte(`{"path":"big.txt"}`)}),
		pawl.Do(pawl.Call{Tool: "edit_file", Args: []byte(`{"path":"big.txt","old":"broken","new":"mended"}`)}))
	_, diff := fixed(t, map[string]string{"big.txt": long + "broken\n" + long, "check.sh": "grep -q mended big.txt\n"},
		model, &testfix.Options{Test: []string{"sh", "check.sh"}}, pawl.Limits{}, pawl.Success)
	if r, ok := result(model.last(), "c_1"); !ok || !strings.Contains(r.Text(), "of 16001]") {
		t.Errorf("what was shown of the file ends in %.80q", r.Text()[max(0, len(r.Text())-80):])
	}
	if n := strings.Count(diff.String(), "\n-"); n != 2 { // the file's name and the line
		t.Errorf("the edit took %d lines away:\n%.500s", n-1, diff)
	}
}
