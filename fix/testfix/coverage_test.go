package testfix_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/testfix"
)

// covered is what coverage tells.
type covered struct {
	Summary          string
	Failing, Passing int
	Lines            map[string]string
	Without          []string
	Runs             int
}

func cover(t *testing.T, f *testfix.Fix, a args) (covered, error) {
	t.Helper()
	before := snapshot(t, f.Dir())
	text, err := use(t, f, "coverage", a)
	if d := cmp.Diff(before, snapshot(t, f.Dir())); d != "" {
		t.Errorf("coverage changed the working copy:\n%s", d)
	}
	if left, _ := filepath.Glob(filepath.Join(f.Source().State, "cover-*")); len(left) > 0 {
		t.Errorf("coverage left %v behind", left)
	}
	if err != nil {
		return covered{}, err
	}
	var c covered
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return c, nil
}

const grades = `package m

import "example.com/m/low"

func Grade(n int) string {
	if n < 50 {
		return low.Fail()
	}
	if n < 80 {
		return "ok"
	}
	return "good"
}
`

const gradesTest = `package m_test

import (
	"testing"

	"example.com/m"
)

func TestGrade(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		want string
	}{"bad one": {10, "fail"}, "a/b": {60, "ok"}, "x+y?": {90, "good"}} {
		t.Run(name, func(t *testing.T) {
			if got := m.Grade(c.n); got != c.want {
				t.Errorf("Grade(%d) = %s, want %s", c.n, got, c.want)
			}
		})
	}
}

func TestGood(t *testing.T) {
	if m.Grade(80) != "good" {
		t.Error("not good")
	}
}

func TestPanics(t *testing.T) {
	t.Run("deep", func(t *testing.T) {
		if m.Grade(9) != "fail" {
			panic("no fail")
		}
	})
}
`

const exitsTest = `package exits

import (
	"os"
	"testing"
)

func TestLeaves(t *testing.T) {
	os.Exit(3)
}
`

func TestCoverage(t *testing.T) {
	t.Parallel()
	f := module(t, map[string]string{
		"m.go": grades, "m_test.go": gradesTest, "low/low.go": "package low\n\nfunc Fail() string { return \"failed\" }\n",
		"exits/exits_test.go": exitsTest,
	})
	got, err := cover(t, f, args{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(got)
	if got.Failing != 2 || got.Passing != 3 || got.Runs != 6 {
		t.Errorf("%d failing and %d passing tests in %d runs, want 2 and 3 in 6: the subtests count each, and a panic is no end", got.Failing, got.Passing, got.Runs)
	}
	want := map[string]string{"m.go": "5-6:2/3 7-8:2/0", "low/low.go": "3:2/0"}
	if d := cmp.Diff(want, got.Lines); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
	if len(got.Without) != 1 || got.Without[0] != "example.com/m/exits.TestLeaves" {
		t.Errorf("without a profile: %v, want the test that exits", got.Without)
	}
	if got, err := cover(t, f, args{"run": "Leaves"}); err != nil || got.Failing != 0 || len(got.Lines) != 0 || got.Runs > 1 {
		t.Errorf("coverage of Leaves = %+v, %v, want nothing to tell", got, err)
	}
	for run, want := range map[string]string{"(": "run: ", "Nothing": "no failing test"} {
		if _, err := cover(t, f, args{"run": run}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("coverage of %q: %v, want %q", run, err, want)
		}
	}
}
