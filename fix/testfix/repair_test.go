package testfix_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	if err != nil {
		t.Fatal(err)
	}
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

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func open(t *testing.T, dir string, model pawl.Model, o *testfix.Options) *testfix.Fix {
	t.Helper()
	if o == nil {
		o = &testfix.Options{}
	}
	if o.StateDir == "" {
		o.StateDir = t.TempDir()
	}
	f, err := testfix.New(t.Context(), dir, model, o)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	edits := 0
	for e, err := range run.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.Event.(type) {
		case pawl.ModelReplied:
			if text := e.Reply.Text(); strings.HasPrefix(text, "Edit ") {
				edits++
			} else {
				t.Log(text)
			}
		case pawl.ToolFinished:
			if e.Error != "" {
				t.Logf("%s: %s", e.Tool, e.Error)
			}
		case pawl.ToolRefused:
			t.Errorf("%s was refused: %s", e.Tool, e.Why)
		}
	}
	result, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v after %d edits, %d iterations, %v: %s", result.Status, edits, result.Iterations,
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

// TestRepair fixes whole projects. Those that are long because many edits are
// tried are taken with PAWL_PROOF; what they show besides is tested by itself.
func TestRepair(t *testing.T) {
	long := []string{"example", "ring", "pager", "shop", "config", "digits"}
	for _, c := range []struct {
		name  string
		files []string // changed
		diff  []string // lines of it
	}{
		{"example", []string{"ledger.go", "split.go", "statement.go"}, nil},
		{"interval", []string{"interval.go"}, nil},
		{"shop", []string{"price/price.go", "stock/stock.go"}, []string{"+\treturn cents - cents*percent/100", "+\tif have := s[name]; have < n {"}},
		{"ring", []string{"ring.go"}, []string{"+\tif r.next >= len(r.values) {", "+\treturn v[n:]"}},
		{"config", []string{"internal/text/text.go"}, nil},
		{"pager", []string{"pager.go"}, nil},
		{"build", []string{"build.go"}, []string{"+func Twice(n int) int { return n + n }"}},
		{"digits", []string{"digits.go"}, []string{"+\tfor n > 0 {"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "interval" {
				t.Skip("every repair runs go test dozens of times")
			}
			if slices.Contains(long, c.name) && os.Getenv("PAWL_PROOF") == "" {
				t.Skip("set PAWL_PROOF to fix what takes hundreds of edits")
			}
			t.Parallel()
			dir := project(t, c.name)
			before := snapshot(t, dir)
			o := &testfix.Options{}
			if c.name == "digits" {
				o.Timeout = 2 * time.Second // what is broken does not end
			}
			f := open(t, dir, mechanic.New(), o)
			result := drive(t, f)
			if result.Status != pawl.StatusSuccess {
				t.Fatalf("status %v, want success", result.Status)
			}
			diff, err := f.Outcome(t.Context(), result.Status)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", diff)
			if d := cmp.Diff(c.files, diff.Files()); d != "" {
				t.Errorf("files changed (-want +got):\n%s", d)
			}
			for _, line := range c.diff {
				if !strings.Contains(diff.String(), line+"\n") {
					t.Errorf("the diff lacks %q", line)
				}
			}
			if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
				t.Fatalf("the project was touched before Apply:\n%s", d)
			}
			if err := f.Apply(diff); err != nil {
				t.Fatal(err)
			}
			if err := retest(t, dir); err != nil {
				t.Errorf("go test after Apply: %v", err)
			}
		})
	}
}

func TestBeyondRepair(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test dozens of times")
	}
	for name, want := range map[string]string{
		"roman":  "None was kept.",
		"absent": "does not build",
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t, name)
			before := snapshot(t, dir)
			f := open(t, dir, mechanic.New(), nil)
			result := drive(t, f)
			if result.Status != pawl.StatusNoProgress {
				t.Errorf("status %v, want no_progress", result.Status)
			}
			if detail := result.Verdict.Detail; !strings.Contains(detail, "rule-based program") || !strings.Contains(detail, want) {
				t.Errorf("detail %q, want it to say what it is, and %q", detail, want)
			}
			diff, err := f.Outcome(t.Context(), result.Status)
			if err != nil || !diff.Empty() {
				t.Errorf("outcome %q, %v, want nothing", diff, err)
			}
			if now, err := f.Diff(t.Context()); err != nil || !now.Empty() {
				t.Errorf("the copy was left with %q, %v, want it as it was", now, err)
			}
			if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
				t.Errorf("the project was touched:\n%s", d)
			}
		})
	}
}
