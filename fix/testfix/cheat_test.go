package testfix_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// scripted makes edits, one a turn, and then claims to be done.
func scripted(edits ...args) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if turn >= len(edits) {
			return pawl.Say("All tests pass now."), nil
		}
		raw, err := json.Marshal(edits[turn])
		return pawl.Do(pawl.Call{Tool: "edit_file", Args: raw}), err
	})
}

// A program that leaves before its tests run has not passed them, whatever the
// exit code says, and a model's word counts for nothing.
func TestCheating(t *testing.T) {
	dir := project(t, "interval")
	f := open(t, dir, scripted(
		args{"path": "interval.go", "old": "import \"slices\"\n", "new": "import (\n\t\"os\"\n\t\"slices\"\n)\n\nfunc init() { os.Exit(0) }\n"},
	), nil)
	result := drive(t, f)
	if result.Status != pawl.StatusNoProgress {
		t.Errorf("status %v, want no_progress", result.Status)
	}
	if out, err := f.Finish(t.Context(), result.Status); err != nil || !out.Diff.Empty() {
		t.Errorf("outcome %q, %v, want nothing", out.Diff, err)
	}
}

// What is kept of a failure is what was asked for.
func TestKeep(t *testing.T) {
	check.SkipShort(t, "it runs go test a dozen times")
	better := args{"path": "large.go", "old": "n >= 90", "new": "n > 90"}
	worse := args{"path": "small.go", "old": "n <= 10", "new": "n >= 10"}
	for keep, want := range map[testfix.Keep][]string{
		testfix.Nothing: nil,
		testfix.Last:    {"large.go", "small.go"},
		testfix.Best:    {"large.go"},
	} {
		f := choose(t, pair(t), scripted(better, worse), testfix.Choices{Keep: keep}, nil)
		result := drive(t, f)
		out, err := f.Finish(t.Context(), result.Status)
		d := out.Diff
		if err != nil || result.Status == pawl.StatusSuccess {
			t.Fatalf("%v: %v, %v", keep, result.Status, err)
		}
		if diff := cmp.Diff(want, d.Files()); diff != "" {
			t.Errorf("%v: files (-want +got):\n%s", keep, diff)
		}
	}
}

// Tests that write files do not get them into the project, and a project that
// has changed meanwhile is not written over.
func TestOnlyEdits(t *testing.T) {
	dir := project(t, "interval")
	path := filepath.Join(dir, "interval_test.go")
	text, err := os.ReadFile(path)
	must(t, err)
	littering := strings.Replace(string(text), `"slices"`, "\"os\"\n\t\"slices\"", 1) +
		"\nfunc TestLitter(t *testing.T) {\n\tif err := os.WriteFile(\"litter.go\", []byte(\"package interval\\n\"), 0o644); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n"
	write(t, dir, map[string]string{"interval_test.go": littering})
	f := open(t, dir, scripted(args{"path": "interval.go", "old": "len(sorted)-1", "new": "len(sorted)"}), nil)
	result := drive(t, f)
	if result.Status != pawl.StatusSuccess {
		t.Fatalf("%v: %s", result.Status, result.Verdict.Detail)
	}
	out, err := f.Finish(t.Context(), result.Status)
	d := out.Diff
	if diff := cmp.Diff([]string{"interval.go"}, d.Files()); diff != "" || err != nil {
		t.Errorf("files changed: %v (-want +got):\n%s", err, diff)
	}
	write(t, dir, map[string]string{"interval.go": "package interval\n"})
	if err := f.Apply(d); err == nil || !strings.Contains(err.Error(), "interval.go") {
		t.Errorf("Apply over a change = %v, want a refusal that names the file", err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := testfix.New(t.Context(), t.TempDir(), mechanic.New(), testfix.Choices{Keep: "some"}, nil); err == nil || !strings.Contains(err.Error(), "keep") {
		t.Errorf("keep some: %v", err)
	}
	empty, plain := t.TempDir(), t.TempDir()
	write(t, plain, map[string]string{"plain.sh": "exit 0\n"})
	for name, c := range map[string]struct {
		dir  string
		o    *testfix.Options
		want string
	}{
		"no go.mod":  {empty, nil, "no go.mod"},
		"no such":    {filepath.Join(empty, "none"), nil, "go.mod"},
		"no command": {empty, &testfix.Options{Test: []string{"no-such-program-here"}}, "not found"},
		"no script":  {empty, &testfix.Options{Test: []string{"./nosuch.sh"}}, "test command ./nosuch.sh"},
		"no program": {plain, &testfix.Options{Test: []string{"./plain.sh"}}, "permission denied"},
		"empty word": {empty, &testfix.Options{Test: []string{""}}, "empty"},
	} {
		states := t.TempDir()
		if c.o != nil {
			c.o.StateDir = states
		}
		_, err := testfix.New(t.Context(), c.dir, mechanic.New(), testfix.Choices{}, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
		if left, err := os.ReadDir(states); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
}
