package testfix_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

// one is a module with one failing test.
func one(t *testing.T, most time.Duration) *testfix.Fix {
	t.Helper()
	return impatient(t, map[string]string{
		"m.go":             "package m\n\nfunc One() int { return 2 }\n\nfunc Two() int { return 2 }\n",
		"m_test.go":        "package m\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Error(One())\n\t}\n}\n",
		"testdata/data.go": "package data\n",
		"notes.txt":        "notes\n",
	}, most)
}

func TestTryRefuses(t *testing.T) {
	t.Parallel()
	f := one(t, 0)
	outside := filepath.Join(filepath.Dir(f.Dir()), "outside.go")
	if err := os.WriteFile(outside, []byte("package m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(f.Dir(), "link.go")); err != nil {
		t.Fatal(err)
	}
	edits := []args{
		edit("../outside.go", "package", "x"),
		edit("/etc/passwd", "root", "x"),
		edit("m_test.go", "One() != 1", "false"),
		edit("testdata/data.go", "data", "date"),
		edit("notes.txt", "notes", "note"),
		edit("link.go", "package", "//"),
		edit("none.go", "a", "b"),
		edit("m.go", "return 2", "return 1"),
		edit("m.go", "return 3", "return 1"),
		edit("m.go", "", "x"),
		edit("m.go", "One", "One"),
		{"path": "m.go", "old": "One() int { return 2", "new": "One() int { return 1", "also": []args{edit("m.go", "return 2 }\n\nfunc", "return 1 }\n\nfunc")}},
		{"path": "m.go", "old": "One()", "new": "One()  ", "also": []args{edit("m_test.go", "One() != 1", "false")}},
		edit("m.go", "One() int { return 2", "One() int { return 1"),
	}
	want := []string{
		"leads outside", "leads outside", "read-only", "read-only", "not a Go file", "symbolic link", "there is no none.go",
		"more than once", "does not occur", "old is empty", "the same", "overlap", "read-only",
	}
	got, err := try(t, f, args{"edits": edits})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Refused) != len(want) {
		t.Fatalf("%d refused: %+v, want %d", len(got.Refused), got.Refused, len(want))
	}
	for i, r := range got.Refused {
		if r.Edit != i+1 || !strings.Contains(r.Why, want[i]) {
			t.Errorf("edit %d refused: %s, want %q of edit %d", r.Edit, r.Why, want[i], i+1)
		}
	}
	if len(got.Fixes) != 1 || got.Fixes[0].Edit != len(edits) || !got.Fixes[0].All || got.Runs != 2 {
		t.Errorf("fixes %+v in %d runs, want the last in two", got.Fixes, got.Runs)
	}
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"edits": []args{}}, "edits is empty"},
		{args{"edits": many(65)}, "too many"},
		{args{"edits": many(1), "runs": 201}, "runs is 201"},
		{args{"edits": many(1), "runs": -1}, "runs is -1"},
	} {
		if _, err := try(t, f, c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func many(n int) []args {
	var list []args
	for i := range n {
		list = append(list, edit("m.go", "One() int { return 2", fmt.Sprintf("One() int { return %d", i+3)))
	}
	return list
}

// The budget is kept, and what it was not enough for is named.
func TestTryBudget(t *testing.T) {
	t.Parallel()
	f := one(t, 0)
	got, err := try(t, f, args{"edits": many(20), "runs": 3})
	if err != nil {
		t.Fatal(err)
	}
	if tried := len(got.Fails); tried < 3 || got.Runs > 3+16 || tried+len(got.NotTried) != 20 || got.NotTried[0] != tried+1 {
		t.Errorf("%d tried and %v not, in %d runs, want about three and the rest", tried, got.NotTried, got.Runs)
	}
}

// What hangs or floods costs its time-out, and the others are none the worse.
func TestTryEndless(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for time-outs")
	}
	t.Parallel()
	f := one(t, 3*time.Second)
	began := time.Now()
	body := func(code string) args { return edit("m.go", "One() int { return 2", "One() int { "+code+"; return 2") }
	got, err := try(t, f, args{"edits": []args{
		body("for {}"),
		body("select {}"),
		body("for { print(\"0123456789abcdef0123456789abcdef\\n\") }"),
		edit("m.go", "func Two() int { return 2 }", "func Two() int { return 2 }\n\nvar _ = func() int { for {} }()"),
		body("var b [][]byte; for { b = append(b, make([]byte, 1<<10)); if len(b) > 1<<20 { b = nil } }"),
		edit("m.go", "One() int { return 2", "One() int { return 1"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{1, 2, 3, 4, 5}, got.Endless); d != "" {
		t.Errorf("those that do not end (-want +got):\n%s\n%+v", d, got)
	}
	if len(got.Fixes) != 1 || got.Fixes[0].Edit != 6 || !got.Fixes[0].All {
		t.Errorf("fixes %+v, want the last", got.Fixes)
	}
	if took := time.Since(began); took > 3*time.Minute { // far less than what waits for it without a time-out
		t.Errorf("it took %v", took)
	}
	childless(t, f.Dir())
}

// childless waits until no process works in a directory.
func childless(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cwd"); err != nil {
		t.Skip("where processes work is told by Linux only")
	}
	var left []string
	for range 100 {
		left = nil
		links, err := filepath.Glob("/proc/[0-9]*/cwd")
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			where, err2 := os.Readlink(link)
			if err == nil && err2 == nil && strings.HasPrefix(where, dir) && syscall.Kill(pid, 0) == nil {
				left = append(left, fmt.Sprint(pid))
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("processes %v are left", left)
}

// A cancelled batch leaves neither processes nor files.
func TestTryCancelled(t *testing.T) {
	t.Parallel()
	f := one(t, 0)
	if _, err := use(t, f, "run_tests", args{}); err != nil {
		t.Fatal(err)
	}
	var list []args
	for i := range 48 { // for two minutes, on two cores
		list = append(list, edit("m.go", "One() int { return 2", fmt.Sprintf("One() int { for { println(%d) }", i)))
	}
	raw, err := json.Marshal(args{"edits": list})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(1500*time.Millisecond, func() { stop(errors.New("somebody pressed Ctrl-C")) })
	for _, tool := range f.Agent().Tools {
		if tool.Info().Name == "try_edits" {
			began := time.Now()
			if _, err := tool.Run(ctx, pawl.Invocation{Tool: "try_edits", Args: raw}); err == nil || !strings.Contains(err.Error(), "Ctrl-C") {
				t.Errorf("a cancelled batch: %v", err)
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("it took %v to stop", took)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(f.Source().State, "try-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	childless(t, f.Dir())
}

// A command that is not go test has neither tool; one with flags keeps those
// that the build needs.
func TestTryOtherCommands(t *testing.T) {
	t.Parallel()
	f, _ := small(t, nil)
	for _, tool := range f.Agent().Tools {
		if name := tool.Info().Name; name == "try_edits" || name == "coverage" {
			t.Errorf("%s is offered for tests that have no names", name)
		}
	}

	dir := one(t, 0).Dir()
	write(t, dir, map[string]string{
		"tagged.go":      "//go:build special\n\npackage m\n\nfunc Four() int { return 5 }\n",
		"tagged_test.go": "//go:build special\n\npackage m\n\nimport (\n\t\"flag\"\n\t\"testing\"\n)\n\nvar four = flag.Int(\"four\", 0, \"\")\n\nfunc TestFour(t *testing.T) {\n\tif Four() != *four {\n\t\tt.Error(Four())\n\t}\n}\n",
	})
	f = open(t, dir, mechanic.New(), &testfix.Options{
		Test: []string{"go", "test", "-v", "-tags", "special", "-coverprofile=cover.out", "-run=Four", ".", "-args", "-four=4"},
	})
	if _, err := use(t, f, "run_tests", args{}); err != nil { // which writes cover.out, as told
		t.Fatal(err)
	}
	got, err := try(t, f, args{"edits": []args{edit("tagged.go", "5", "6"), edit("tagged.go", "5", "4")}})
	if err != nil || len(got.Fixes) != 1 || !got.Fixes[0].All || got.Fixes[0].Edit != 2 {
		t.Errorf("%+v, %v, want the second to fix all that is run", got, err)
	}
	lines, err := cover(t, f, args{})
	if err != nil || lines.Lines["tagged.go"] != "5:1/0" {
		t.Errorf("%+v, %v, want line 5 of tagged.go", lines, err)
	}
}
