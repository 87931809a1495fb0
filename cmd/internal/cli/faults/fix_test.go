package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the corpus is to show.
const (
	enough   = 30  // modules of 40
	mostRuns = 100 // of the tests, for each
)

// sample is what the tests of every day take.
var sample = []string{"deque", "lexer"}

// beside is what else a project holds: files that git does not know, and files
// that it ignores.
var beside = map[string]string{
	".gitignore":       "*.log\n/cache/\n",
	"notes.txt":        "not tracked\n",
	"debug.log":        "ignored\n",
	"cache/big/blob.x": strings.Repeat("ignored\n", 100),
}

// repository makes a project one of git's, if git is there.
func repository(t testing.TB, u *user, m module) {
	t.Helper()
	write(t, u.project, beside)
	if _, err := exec.LookPath("git"); err != nil {
		return // the files beside must survive all the same
	}
	names := []string{".gitignore"}
	for name := range m.files {
		names = append(names, name)
	}
	for _, args := range [][]string{
		{"init", "-q"}, append([]string{"add", "--"}, names...),
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = u.project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// pawl fix fixes most of the modules with few runs of their tests, by changing
// what the difference says and nothing else. What it cannot fix it does not
// touch.
func TestFix(t *testing.T) {
	all := corpus(t)
	var table []string
	fixed, tried := 0, 0
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			if !proof() && !slices.Contains(sample, m.name) {
				t.Skip("set PAWL_PROOF to take every module")
			}
			u := newUser(t, m.name, m.files)
			repository(t, u, m)
			before := print(t, u.project)
			f := u.fix()
			after := print(t, u.project)

			tried++
			verdict := "fixed"
			switch changed := differing(before, after); {
			case f.Status != "success":
				verdict = f.Status
				if len(changed) > 0 || f.Applied || f.Diff != "" {
					t.Errorf("%s, but %v are touched", f.Status, changed)
				}
				u.explains(f.Reason.Detail)
			default:
				if !slices.Equal(changed, files(f.Diff)) {
					t.Errorf("%v are changed; the difference is\n%s", changed, f.Diff)
				}
				for _, name := range changed {
					if _, given := m.files[name]; !given || strings.HasSuffix(name, "_test.go") {
						t.Errorf("%s is changed", name)
					}
				}
				if out, err := tests(t, u.project); err != nil {
					t.Errorf("it is no success: %v\n%s", err, out)
				}
				if !m.isRight(t, u.project) {
					verdict = "fixed otherwise" // its tests pass, and it is another program than was meant
				}
				if f.runs > mostRuns {
					verdict = "too many runs"
				} else if !t.Failed() {
					fixed++
				}
			}
			if f.Plausible {
				verdict += ", plausible"
			}
			row := fmt.Sprintf("%-11s %-26s %6.1f s %4d runs %4d edits  %s", m.name, verdict, f.took.Seconds(), f.runs, f.edits, change(f.Diff))
			t.Log(row)
			if f.Status != "success" {
				t.Log(f.Reason.Detail)
			}
			table = append(table, row)
			if !proof() && !strings.HasPrefix(verdict, "fixed") {
				t.Errorf("a module of the sample is not fixed: %s", f.stderr)
			}
		})
	}
	t.Logf("fixed %d of %d:\n%s", fixed, tried, strings.Join(table, "\n"))
	if tried == len(all) && fixed*40 < enough*len(all) {
		t.Errorf("fixed %d of %d, want %d of 40", fixed, tried, enough)
	}
}

// isRight reports whether a project is the module as it was meant to be.
func (m module) isRight(t testing.TB, dir string) bool {
	t.Helper()
	for name, want := range m.right {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			return false
		}
	}
	return true
}

// files are the paths of a difference, sorted.
func files(diff string) []string {
	var names []string
	for line := range strings.Lines(diff) {
		if rest, ok := strings.CutPrefix(line, "diff --git a/"); ok {
			name, _, _ := strings.Cut(rest, " b/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A repair that ends at a ceiling leaves every file as it is.
func TestFailsWithoutATrace(t *testing.T) {
	m := corpus(t)[0]
	u := newUser(t, m.name, m.files)
	repository(t, u, m)
	before := print(t, u.project)
	f := u.fix("--limit", "iterations=2")
	if f.Status == "success" {
		t.Fatalf("it was fixed in two iterations: %s", f.Diff)
	}
	if changed := differing(before, print(t, u.project)); len(changed) > 0 {
		t.Errorf("%v are touched", changed)
	}
}

var stillFailing = regexp.MustCompile(`Still failing: (.+?)[.]?$`)

// explains checks that the tests that an explanation names as failing do fail.
func (u *user) explains(why string) {
	u.t.Helper()
	if why == "" {
		u.t.Error("it does not say why it failed")
		return
	}
	named := stillFailing.FindStringSubmatch(strings.TrimSpace(why))
	if named == nil {
		return // it is about something else: a ceiling, or time
	}
	out, err := tests(u.t, u.project)
	if err == nil {
		u.t.Errorf("it says %q, but all tests pass", why)
	}
	for id := range strings.SplitSeq(named[1], ", ") {
		_, name, ok := strings.Cut(filepath.Base(id), ".")
		if ok && !strings.Contains(out, name) && !strings.Contains(out, "panic:") { // after a panic the rest is not run
			u.t.Errorf("it says that %s fails, which nothing shows", id)
		}
	}
}
