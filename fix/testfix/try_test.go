package testfix_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

// tried is what try_edits tells.
type tried struct {
	Summary string
	Fixes   []struct {
		Edit          int
		All           bool
		Fixed, Broken []string
		Open          int
	}
	Fails   []int `json:"still_fail"`
	Endless []int `json:"do_not_end"`
	Unbuilt []struct {
		Edit int
		Why  string
	} `json:"do_not_compile"`
	Refused []struct {
		Edit int
		Why  string
	}
	NotTried []int `json:"not_tried"`
	Runs     int
}

// try calls try_edits and checks that it leaves the working copy alone.
func try(t *testing.T, f *testfix.Fix, a args) (tried, error) {
	t.Helper()
	before := snapshot(t, f.Dir())
	text, err := use(t, f, "try_edits", a)
	if d := cmp.Diff(before, snapshot(t, f.Dir())); d != "" {
		t.Errorf("try_edits changed the working copy:\n%s", d)
	}
	if left, _ := filepath.Glob(filepath.Join(f.Source().State, "try-*")); len(left) > 0 {
		t.Errorf("try_edits left %v behind", left)
	}
	if err != nil {
		return tried{}, err
	}
	var r tried
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return r, nil
}

func edit(path, from, to string) args { return args{"path": path, "old": from, "new": to} }

// module is a project of Go files.
func module(t *testing.T, files map[string]string) *testfix.Fix {
	t.Helper()
	return impatient(t, files, 0)
}

// impatient is a project of Go files whose tests are given so much time.
func impatient(t *testing.T, files map[string]string, most time.Duration) *testfix.Fix {
	t.Helper()
	needsGo(t)
	dir := filepath.Join(t.TempDir(), "m")
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	write(t, dir, files)
	return open(t, dir, mechanic.New(), &testfix.Options{Timeout: most})
}

const (
	sizes = `package m

import "example.com/m/low"

func Small(n int) bool { return n <= low.Ten() }

func Large(n int) bool { return n >= 90 }

func Odd(n int) bool { return n%2 == 1 }
`
	sizesTest = `package m

import "testing"

func TestSmall(t *testing.T) {
	if Small(10) {
		t.Error("Small(10)")
	}
}

func TestLarge(t *testing.T) {
	if Large(90) {
		t.Error("Large(90)")
	}
}

func TestOdd(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, 10: false} {
		if got := Odd(n); got != want {
			t.Errorf("Odd(%d) = %v, want %v", n, got, want)
		}
	}
}
`
	low = "package low\n\nfunc Ten() int { return 10 }\n"
)

func TestTryEdits(t *testing.T) {
	t.Parallel()
	f := module(t, map[string]string{
		"m.go": sizes, "m_test.go": sizesTest, "low/low.go": low, "other/other.go": "package other\n\nconst N = 1\n",
	})
	got, err := try(t, f, args{"edits": []args{
		edit("m.go", "n >= 90", "n >= 89"),
		edit("m.go", "n >= 90", "n > 90"),
		edit("m.go", "n >= 90", "m > 90"),
		edit("m.go", "n >= 90", "n > 90)"),
		edit("other/other.go", "N = 1", "N = 2"),
		edit("low/low.go", "10", "9"),
		edit("low/low.go", "return 10", "for { println() }"),
		edit("m.go", "n >= 90", "n > 90"),
		{"path": "m.go", "old": "n%2 == 1", "new": "n%2 == 0", "also": []args{edit("m.go", "n >= 90", "n > 90")}},
		{"path": "m.go", "old": "n <= low", "new": "n < low", "also": []args{edit("m.go", "n >= 90", "n > 90")}},
		edit("m.go", "n >= 90", "n > 91"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(got.Summary)
	why := func(list []struct {
		Edit int
		Why  string
	},
	) map[int]string {
		m := map[int]string{}
		for _, r := range list {
			m[r.Edit] = r.Why
		}
		return m
	}
	if d := cmp.Diff([]int{1, 5}, got.Fails); d != "" {
		t.Errorf("those that still fail (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int{7}, got.Endless); d != "" {
		t.Errorf("those that do not end (-want +got):\n%s", d)
	}
	if w := why(got.Unbuilt); len(w) != 2 || w[3] != "m.go:7:33: undefined: m" || !strings.Contains(w[4], "expected") {
		t.Errorf("those that do not compile: %v, want 3 and 4", w)
	}
	if len(got.NotTried) > 1 || len(got.NotTried) == 1 && got.NotTried[0] != 11 {
		t.Errorf("not tried: %v, want at most the last", got.NotTried)
	}
	if len(got.Fixes) < 5 || got.Fixes[0].Edit != 10 || !got.Fixes[0].All || got.Fixes[0].Open != 0 || !strings.Contains(got.Summary, "with edit 10 every test passes") {
		t.Fatalf("fixes %+v (%s), want the tenth first, with every test", got.Fixes, got.Summary)
	}
	if len(got.Fixes[0].Fixed) != 2 {
		t.Errorf("the tenth fixes %v, want two", got.Fixes[0].Fixed)
	}
	for _, m := range got.Fixes[1:] {
		switch m.Edit {
		case 2, 8, 11:
			if d := cmp.Diff([]string{"example.com/m.TestLarge"}, m.Fixed); d != "" || len(m.Broken) > 0 || m.Open != 1 || m.All {
				t.Errorf("fixes %+v, want one test and nothing broken", m)
			}
		case 6:
			if d := cmp.Diff([]string{"example.com/m.TestSmall"}, m.Fixed); d != "" || len(m.Broken) > 0 {
				t.Errorf("fixes %+v, want the test of another package", m)
			}
		case 9:
			if d := cmp.Diff([]string{"example.com/m.TestOdd"}, m.Broken); d != "" || m.Open != 2 {
				t.Errorf("fixes %+v, want a test broken", m)
			}
		default:
			t.Errorf("fixes %+v, want it not there", m)
		}
	}
	if got.Runs < 10 || got.Runs > 12 {
		t.Errorf("%d runs of tests, want one for each of six or seven edits, and of all tests for four or five", got.Runs)
	}
}

// What an edit can affect is found out again when an edit was made: here the code
// has come to be made of another package.
func TestTryAfterAnEdit(t *testing.T) {
	t.Parallel()
	f := module(t, map[string]string{
		"m.go":       "package m\n\nfunc Ten() int { return 9 }\n",
		"m_test.go":  "package m\n\nimport \"testing\"\n\nfunc TestTen(t *testing.T) {\n\tif Ten() != 10 {\n\t\tt.Error(Ten())\n\t}\n}\n",
		"low/low.go": "package low\n\nfunc Ten() int { return 9 }\n",
	})
	got, err := try(t, f, args{"edits": []args{edit("low/low.go", "9", "10")}})
	if err != nil || len(got.Fails) != 1 || got.Runs != 0 {
		t.Errorf("%+v, %v, want no run for what no test is made of", got, err)
	}
	if _, err := use(t, f, "edit_file", edit("m.go", "func Ten() int { return 9 }", "import \"example.com/m/low\"\n\nfunc Ten() int { return low.Ten() }")); err != nil {
		t.Fatal(err)
	}
	got, err = try(t, f, args{"edits": []args{edit("low/low.go", "9", "10")}})
	if err != nil || len(got.Fixes) != 1 || !got.Fixes[0].All {
		t.Errorf("%+v, %v, want the edit to fix all", got, err)
	}
}

// All tests are run as the command says: what go vet finds in code that it was told to leave
// alone is not the fault of an edit.
func TestTryEditsWithoutVet(t *testing.T) {
	t.Parallel()
	needsGo(t)
	dir := filepath.Join(t.TempDir(), "m")
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": "package m\n\nfunc Small(n int) bool { return n <= 10 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestSmall(t *testing.T) {\n\tif Small(10) {\n\t\tt.Errorf(\"%d\", \"ten\")\n\t}\n}\n",
	})
	f := open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"go", "test", "-vet=off", "./..."}})
	got, err := try(t, f, args{"edits": []args{edit("m.go", "n <= 10", "n < 10")}})
	if err != nil || len(got.Fixes) != 1 || !got.Fixes[0].All {
		t.Errorf("%+v, %v, want a fix", got, err)
	}
}
