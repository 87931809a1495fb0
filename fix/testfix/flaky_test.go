package testfix_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

// observeOnce looks at the tests and returns what the model reads.
func observeOnce(t *testing.T, f *testfix.Fix) string {
	t.Helper()
	o, err := f.Agent().Observer(t.Context())
	must(t, err)
	return o.Text
}

// wavering is a module with a test that passes every other time it runs, and
// another that fails if broken.
func wavering(t *testing.T, broken bool) string {
	t.Helper()
	needsGo(t)
	dir := filepath.Join(t.TempDir(), "waver")
	body := "a + b"
	if broken {
		body = "a - b"
	}
	write(t, dir, map[string]string{
		"go.mod":    "module example.com/waver\n\ngo 1.26\n",
		"sum/of.go": "package sum\n\nfunc Of(a, b int) int { return " + body + " }\n",
		"sum/of_test.go": `package sum

import "testing"

func TestOf(t *testing.T) {
	if got := Of(2, 3); got != 5 {
		t.Errorf("Of(2, 3) = %d, want 5", got)
	}
}
`,
		"waver_test.go": fmt.Sprintf(`package waver

import (
	"os"
	"testing"
)

func TestFine(t *testing.T) {}

func TestWaver(t *testing.T) {
	const file = %q
	if os.Remove(file) != nil {
		_ = os.WriteFile(file, nil, 0o600)
		t.Error("not this time")
	}
}
`, filepath.Join(t.TempDir(), "seen")),
	})
	return dir
}

// A test that fails by chance is no part of the goal, and is named.
func TestFlaky(t *testing.T) {
	t.Parallel()
	f := open(t, wavering(t, true), mechanic.New(), nil)
	text := observeOnce(t, f)
	if want := "FAIL: 1 passed, 1 failed, 1 skipped in 2 packages\n- example.com/waver/sum.TestOf (test)\n"; !strings.HasPrefix(text, want) {
		t.Errorf("the observation begins %q, want %q", text, want)
	}
	if want := "fail only in this copy: example.com/waver.TestWaver\n"; !strings.Contains(text, want) {
		t.Errorf("the observation lacks %q:\n%s", want, text)
	}
	if d := cmp.Diff([]string{"example.com/waver.TestWaver"}, f.Flaky()); d != "" {
		t.Errorf("flaky (-want +got):\n%s", d)
	}
	_, err := use(t, f, "edit_file", args{"path": "sum/of.go", "old": "a - b", "new": "a + b"})
	must(t, err)
	for range 2 { // it fails once, and once it does not
		text = observeOnce(t, f)
		_, err = use(t, f, "edit_file", args{"path": "sum/of.go", "old": "package", "new": "// Package sum adds.\npackage"})
		must(t, err)
		if !strings.HasPrefix(text, "ok: ") {
			t.Errorf("the observation begins %q, want ok", text)
		}
	}
}

// So with a command of which only the exit code is known.
func TestFlakyCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	write(t, dir, map[string]string{"run.sh": "rm seen && exit 0\ntouch seen\necho main.c:3: no\nexit 1\n", "main.c": "\n"})
	f := open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"sh", "run.sh"}})
	if text := observeOnce(t, f); !strings.HasPrefix(text, "ok: the test command ended with exit 1.\nNo part of the goal") {
		t.Errorf("the observation is %q", text)
	}
}

// Another process knows what is flaky.
func TestFlakyGoesOn(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	f, err := testfix.New(t.Context(), wavering(t, true), mechanic.New(), testfix.Choices{}, &testfix.Options{StateDir: state})
	must(t, err)
	observeOnce(t, f)
	source := f.Source()
	must(t, f.Release())
	f, err = testfix.Open(source, mechanic.New(), pawl.Limits{})
	must(t, err)
	defer f.Close()
	if d := cmp.Diff([]string{"example.com/waver.TestWaver"}, f.Flaky()); d != "" {
		t.Errorf("flaky (-want +got):\n%s", d)
	}
	text := observeOnce(t, f)
	for _, want := range []string{"\n- example.com/waver/sum.TestOf (test)\n", "No part of the goal"} {
		if !strings.Contains(text, want) {
			t.Errorf("the observation lacks %q:\n%s", want, text)
		}
	}
}

// A test that fails right after an edit and passes when it runs again is not held against it.
func TestExcused(t *testing.T) {
	t.Parallel()
	dir := wavering(t, true)
	write(t, dir, map[string]string{"waver_test.go": fmt.Sprintf(`package waver

import (
	"os"
	"testing"
)

func TestSecondTime(t *testing.T) {
	file, err := os.OpenFile(%q, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, _ = file.WriteString("x")
	if info, err := file.Stat(); err == nil && info.Size() == 2 {
		t.Error("the second time it fails")
	}
}
`, filepath.Join(t.TempDir(), "times"))})
	f := open(t, dir, mechanic.New(), nil)
	observeOnce(t, f)
	_, err := use(t, f, "edit_file", args{"path": "sum/of.go", "old": "a - b", "new": "a + b"})
	must(t, err)
	if text := observeOnce(t, f); !strings.HasPrefix(text, "ok: ") {
		t.Errorf("the observation is %q, want ok", text)
	}
	if d := cmp.Diff([]string{"example.com/waver.TestSecondTime"}, f.Flaky()); d != "" {
		t.Errorf("flaky (-want +got):\n%s", d)
	}
}
