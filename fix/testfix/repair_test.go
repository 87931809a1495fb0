package testfix_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/journal/memory"
)

// TestMain has copies share what is compiled. What vet says is no part of these tests; the script fix.txtar runs it.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"GOFLAGS": "-vet=off -trimpath", "GOGC": "800"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// needsGo skips a test where there is no go command, and fails it in CI.
func needsGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the go command is not here, and CI must have it")
		}
		t.Skip("there is no go command to run tests with")
	}
}

// project unpacks a broken module.
func project(t *testing.T, name string) string {
	t.Helper()
	needsGo(t)
	dir := filepath.Join(t.TempDir(), name)
	archive, err := txtar.ParseFile("../../testdata/broken/" + name + ".txtar")
	must(t, err)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	write(t, dir, files)
	return dir
}

// pair makes a module with two faults, each found at the first edits, in a file
// of its own.
func pair(t *testing.T) string {
	t.Helper()
	needsGo(t)
	dir := filepath.Join(t.TempDir(), "pair")
	write(t, dir, map[string]string{
		"go.mod":       "module example.com/pair\n\ngo 1.26\n",
		"small.go":     "package pair\n\nfunc Small(n int) bool { return n <= 10 }\n",
		"large.go":     "package pair\n\nfunc Large(n int) bool { return n >= 90 }\n",
		"pair_test.go": "package pair\n\nimport \"testing\"\n\nfunc TestSmall(t *testing.T) {\n\tif Small(10) || !Small(9) {\n\t\tt.Error(\"small\")\n\t}\n}\n\nfunc TestLarge(t *testing.T) {\n\tif Large(90) || !Large(91) {\n\t\tt.Error(\"large\")\n\t}\n}\n\nfunc TestTiny(t *testing.T) {\n\tif !Small(1) {\n\t\tt.Error(\"tiny\")\n\t}\n}\n",
	})
	return dir
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	must(t, err)
	return files
}

func open(t *testing.T, dir string, model pawl.Model, o *testfix.Options) *testfix.Fix {
	t.Helper()
	return choose(t, dir, model, testfix.Choices{}, o)
}

func choose(t *testing.T, dir string, model pawl.Model, c testfix.Choices, o *testfix.Options) *testfix.Fix {
	t.Helper()
	if o == nil {
		o = &testfix.Options{}
	}
	if o.StateDir == "" {
		o.StateDir = t.TempDir()
	}
	f, err := testfix.New(t.Context(), dir, model, c, o)
	must(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return f
}

// drive runs the agent to its end and logs what it thought.
func drive(t *testing.T, f *testfix.Fix) pawl.Result {
	t.Helper()
	began := time.Now()
	run, err := engine.New(memory.New(), nil).Start(t.Context(), f.Agent(), f.Input(), nil)
	must(t, err)
	for e, err := range run.Entries(t.Context()) {
		must(t, err)
		switch e := e.Event.(type) {
		case pawl.ModelReplied:
			t.Log(e.Reply.Text())
		case pawl.ToolFinished:
			if e.Error != "" {
				t.Logf("%s: %s", e.Tool, e.Error)
			}
		case pawl.ToolRefused:
			t.Errorf("%s was refused: %s", e.Tool, e.Why)
		}
	}
	result, err := run.Wait(t.Context())
	must(t, err)
	t.Logf("%v after %d iterations, %v: %s", result.Status, result.Iterations,
		time.Since(began).Round(10*time.Millisecond), result.Verdict.Detail)
	return result
}

// retest runs the tests of a directory.
func retest(t *testing.T, dir string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-timeout=10s", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s", out)
	}
	return err
}

// TestRepair fixes modules with faults that a small edit repairs, one after the other.
func TestRepair(t *testing.T) { // Promises: T18.
	for _, c := range []struct{ name, diff string }{
		{"interval", "+\tfor i := 1; i <= len(sorted)-1; i++ {\n"},
		{"shop", "+\treturn cents - cents*percent/100\n+\tif have := s[name]; have < n {\n"},
		{"build", "+func Twice(n int) int { return n + n }\n"},
		{"digits", "+\tfor n > 0 {\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "interval" {
				t.Skip("every repair runs go test dozens of times")
			}
			t.Parallel()
			dir := project(t, c.name)
			before := snapshot(t, dir)
			o := &testfix.Options{}
			if c.name == "digits" {
				o.Timeout = 2 * time.Second // what is broken does not end
			}
			f := open(t, dir, mechanic.New(), o)
			if result := drive(t, f); result.Status != pawl.StatusSuccess {
				t.Fatalf("status %v, want success", result.Status)
			}
			out, err := f.Finish(t.Context(), pawl.StatusSuccess)
			diff := out.Diff
			must(t, err)
			if d := cmp.Diff(c.diff, strings.Join(added.FindAllString(diff.String(), -1), "")); d != "" {
				t.Errorf("lines added (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
				t.Fatalf("the project was touched before Apply:\n%s", d)
			}
			must(t, f.Apply(diff))
			if err := retest(t, dir); err != nil {
				t.Errorf("go test after Apply: %v", err)
			}
		})
	}
}

// added matches the lines that a diff adds.
var added = regexp.MustCompile(`(?m)^\+[^+\n].*\n`)

// The mechanic claims nothing that it did not do, and leaves the code as it was.
func TestBeyondRepair(t *testing.T) {
	for name, want := range map[string]string{
		"roman":  "None of the 0 small edits tried makes a failing test pass and breaks no other. Still failing: example.com/roman.TestParse.",
		"absent": "small edits tried makes a failing test pass and breaks no other. Still failing: example.com/absent [build].",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t, name)
			f := open(t, dir, mechanic.New(), nil)
			result := drive(t, f)
			if result.Status != pawl.StatusNoProgress {
				t.Errorf("status %v, want no_progress", result.Status)
			}
			if detail := result.Verdict.Detail; !strings.Contains(detail, "a rule-based program and no language model") || !strings.Contains(detail, want) {
				t.Errorf("detail %q, want it to say what it is, and %q", detail, want)
			}
			if now, err := f.Diff(); err != nil || !now.Empty() {
				t.Errorf("the copy was left with %q, %v, want it as it was", now, err)
			}
		})
	}
}
