package testfix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/process"
)

// events makes a run of one package from words such as "pass A" and "fail B";
// "died" leaves the package without an end.
func events(t *testing.T, code int, words ...string) testrun.Result {
	t.Helper()
	var b strings.Builder
	end := "pass"
	for _, w := range words {
		action, test, _ := strings.Cut(w, " ")
		if action == "fail" {
			end = "fail"
		}
		fmt.Fprintf(&b, `{"Action":"run","Package":"m","Test":"Test%s"}`+"\n", test)
		fmt.Fprintf(&b, `{"Action":"%s","Package":"m","Test":"Test%s"}`+"\n", action, test)
	}
	fmt.Fprintf(&b, `{"Action":"%s","Package":"m"}`+"\n", end)
	r, err := gotest.Parse(strings.NewReader(b.String()), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return testrun.Result{Report: r, Exit: process.Exit{Code: code}, Golang: true}
}

func TestJudge(t *testing.T) { // Promises: T7.
	first := events(t, 1, "fail A", "pass B")
	for _, c := range []struct {
		name  string
		now   testrun.Result
		edits bool
		open  []string
	}{
		{"as before", first, false, []string{"m.TestA"}},
		{"fixed", events(t, 0, "pass A", "pass B"), false, nil},
		{"one for the other", events(t, 1, "pass A", "fail B"), false, []string{"m.TestB"}},
		{"the failing one is gone", events(t, 0, "pass B"), false, []string{"m.TestA"}},
		{"the failing one is skipped", events(t, 0, "skip A", "pass B"), false, []string{"m.TestA"}},
		{"a passing one is gone", events(t, 0, "pass A"), false, []string{"m.TestB"}},
		{"all are gone", events(t, 0), false, []string{"m.TestA", "m.TestB"}},
		{"all are gone, with leave to edit tests", events(t, 0), true, []string{testrun.NoTests}},
		{"one is gone, with leave to edit tests", events(t, 0, "pass B"), true, nil},
		{"an exit code without a reason", events(t, 2, "pass A", "pass B"), false, []string{testrun.NoReason}},
		{"a command", testrun.Result{}, false, nil},
		{"a command that failed", testrun.Result{Exit: process.Exit{Code: 1}}, false, []string{testrun.NoSuccess}},
		{"a command that was killed", testrun.Result{Exit: process.Exit{Killed: true}}, false, []string{testrun.NoSuccess}},
	} {
		v := judge(first.Report, c.now, c.edits)
		if d := cmp.Diff(c.open, v.Open); d != "" {
			t.Errorf("%s: open (-want +got):\n%s", c.name, d)
		}
		text := v.text(c.now)
		for _, id := range c.open {
			if !strings.HasPrefix(id, "[") && !strings.Contains(text, id) {
				t.Errorf("%s: the text does not name %s:\n%s", c.name, id, text)
			}
		}
	}
}

// A test that a panic kept from running is not broken when it runs and fails: what hid it was
// open, and the state without the panic is the better one, though more is open.
func TestCut(t *testing.T) {
	died := events(t, 1, "fail A")
	died.Report.Failures[0].Kind = gotest.KindPanic
	shown := events(t, 1, "pass A", "fail B", "fail C")
	first, then := judge(died.Report, died, false), judge(died.Report, shown, false)
	if d := cmp.Diff([]string{"m [panic in TestA]"}, first.Cut); d != "" || len(then.Cut) > 0 {
		t.Errorf("cut short, then %v (-want +got):\n%s", then.Cut, d)
	}
	if _, broke, _ := meter.Moved(slices.Concat(first.Open, first.Cut), then.Open); len(broke) > 0 {
		t.Errorf("broke %v", broke)
	}
	if v := judge(shown.Report, died, false); len(v.Cut) > 0 || len(v.Open) != 3 {
		t.Errorf("once all ran, %v is cut short, and %v open", v.Cut, v.Open)
	}
	was, now := best{Open: 1}, best{Open: 2, Passed: 1}
	if !was.below(then) || now.below(first) {
		t.Error("the state with the panic is the better one")
	}
}

// A run that was stopped for filling the memory says so.
func TestFilled(t *testing.T) {
	now := events(t, 1, "fail A")
	now.Filled = true
	v := judge(now.Report, now, false)
	if text := v.text(now); len(v.Open) != 1 || !strings.Contains(text, "filling the memory") {
		t.Errorf("open: %v; the text does not say why: %s", v.Open, text)
	}
}
