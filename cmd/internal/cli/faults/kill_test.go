package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// one has its fault in one file, two have theirs in two, which no rename can
// change at once.
var (
	one = map[string]string{
		"go.mod":      "module example.com/one\n\ngo 1.26\n",
		"sum.go":      "package one\n\n// Sum adds.\nfunc Sum(a, b int) int { return a - b }\n",
		"sum_test.go": "package one\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(2, 3); got != 5 {\n\t\tt.Errorf(\"Sum(2, 3) = %d, want 5\", got)\n\t}\n}\n",
		"run.sh":      "echo\n",
	}
	two = map[string]string{
		"go.mod":            "module example.com/two\n\ngo 1.26\n",
		"sum/sum.go":        strings.ReplaceAll(one["sum.go"], "package one", "package sum"),
		"sum/sum_test.go":   strings.ReplaceAll(one["sum_test.go"], "package one", "package sum"),
		"less/less.go":      "package less\n\n// Less compares.\nfunc Less(a, b int) bool { return a > b }\n",
		"less/less_test.go": "package less\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tif !Less(2, 3) || Less(3, 2) {\n\t\tt.Error(\"Less(2, 3) is false, want true\")\n\t}\n}\n",
		"less/testdata/x":   "x\n",
	}
)

// knowing is a model that knows what is wrong with one and two. Where the kills
// are few, it lets most of them fall where the project is at stake, and not into
// the search for the edit.
func knowing(t testing.TB, name string) []string {
	t.Helper()
	if proof() {
		return nil // the mechanic searches
	}
	edits := "{tool: edit_file, args: {path: sum.go, old: a - b, new: a + b}}"
	if name == "two" {
		edits = "{tool: edit_file, args: {path: sum/sum.go, old: a - b, new: a + b}}, {tool: edit_file, args: {path: less/less.go, old: a > b, new: a < b}}"
	}
	script := filepath.Join(t.TempDir(), "knowing.yaml")
	// It repeats its edit, of which a kill may leave open whether it took place.
	if err := os.WriteFile(script, []byte("repeat: last\nreplies:\n  - calls: ["+edits+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--model", "script:" + script}
}

// However pawl fix is killed, the project is as it was or as it should be, and
// pawl resume or another pawl fix brings it there. A project of two files may
// be in between until they do, and never longer.
func TestKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL")
	}
	kills := 3
	if proof() {
		kills = 30
	}
	// How long a whole run takes tells when a kill can fall into it.
	u := newUser(t, "one", one)
	whole := u.fix(knowing(t, "one")...)
	if whole.Status != "success" {
		t.Fatalf("the module is not fixed at all: %s", whole.stderr)
	}
	random := rand.New(rand.NewPCG(4, 1))
	seen := map[string]int{}
	for n := range kills {
		name, files := "one", one
		if n%3 == 2 {
			name, files = "two", two
		}
		k := kill{after: time.Duration(random.Int64N(int64(whole.took))), again: []string{"resume", "last"}}
		if n%2 == 1 { // where it matters most: renames come as soon as all is committed
			k.sign, k.after = `"committed":false`, time.Duration(random.Int64N(int64(10*time.Millisecond)))
			if random.IntN(2) == 0 {
				k.sign, k.after = `"committed":true`, time.Duration(random.Int64N(int64(8*time.Millisecond)))
			}
		}
		if n%4 >= 2 {
			k.again = []string{"fix"}
		}
		t.Run(fmt.Sprintf("%d_%s", n, name), func(t *testing.T) {
			seen[k.try(t, name, files)]++
		})
	}
	t.Log(seen)
}

// A kill comes some time after the start, or after a sign in the journal of
// what is being applied.
type kill struct {
	after time.Duration
	sign  string
	again []string
}

func (k kill) String() string {
	if k.sign != "" {
		return fmt.Sprintf("%v after %s", k.after, k.sign)
	}
	return fmt.Sprintf("%v after the start", k.after)
}

// try reports how the project was found.
func (k kill) try(t *testing.T, name string, given map[string]string) string {
	u := newUser(t, name, given)
	repository(t, u, module{files: given})
	before := print(t, u.project)
	flags := knowing(t, name)
	died, said := u.killed(k, flags)

	found := "as it was"
	switch changed := differing(before, print(t, u.project)); {
	case len(changed) == 0:
	case u.passes(): // and so nothing of it is missing
		found = "fixed"
		u.onlySources(changed)
	case name == "two":
		found = "between" // until the next command
		u.onlySources(changed)
	default:
		t.Errorf("%v: in between, %v are changed", k, changed)
	}
	if !died {
		found = "fixed before the kill"
	}
	again := k.again
	if died && again[0] == "resume" {
		again = u.resumable(again)
	}
	if again[0] == "fix" {
		again = append([]string{"fix"}, flags...)
	}
	if died {
		cmd := u.pawl(again...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v (%s), then %v: %v\n%s\nbefore it was killed it said\n%s", k, found, again, err, out, said)
		}
	}
	if !u.passes() {
		t.Errorf("%v (%s), then %v: the project is not fixed", k, found, again)
	}
	u.onlySources(differing(before, print(t, u.project)))
	for _, sign := range []string{"apply.json", "stage-*"} {
		if left, _ := filepath.Glob(filepath.Join(u.state, "pawl/fix/*", sign)); len(left) > 0 {
			t.Errorf("%v (%s), then %v: left behind are %v", k, found, again, left)
		}
	}
	t.Logf("%v: %s, then %s", k, found, again[0])
	return found
}

// killed runs pawl fix and kills it. The second result is what it said.
func (u *user) killed(k kill, flags []string) (died bool, said string) {
	u.t.Helper()
	cmd := u.pawl(append([]string{"fix"}, flags...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if k.sign != "" {
		u.waitFor(k.sign, ended)
	}
	select {
	case err := <-ended:
		if err != nil {
			u.t.Fatalf("pawl fix: %v\n%s", err, &out)
		}
		return false, ""
	case <-time.After(k.after):
	}
	if err := cmd.Process.Kill(); err != nil {
		u.t.Logf("it ended at the moment of the kill: %v", err)
	}
	err := <-ended
	return err != nil, out.String()
}

// waitFor returns when the journal of what is being applied has a sign in it, or
// all is over.
func (u *user) waitFor(sign string, ended chan error) {
	for {
		found, _ := filepath.Glob(filepath.Join(u.state, "pawl/fix/*/apply.json*"))
		for _, name := range found {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(sign)) {
				return
			}
		}
		select {
		case err := <-ended:
			ended <- err
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// resumable is how to go on: by resuming the run, if it had begun.
func (u *user) resumable(resume []string) []string {
	u.t.Helper()
	out, err := u.pawl("runs", "--json").Output()
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return []string{"fix"}
	}
	if !slices.ContainsFunc(u.copies(), func(dir string) bool {
		_, noRun := os.Stat(filepath.Join(dir, "run"))
		_, noCopy := os.Stat(filepath.Join(dir, "record.json"))
		return noRun == nil && noCopy == nil
	}) {
		return []string{"fix"} // it died after its copy was gone, or before it had one
	}
	return resume
}

func (u *user) copies() []string {
	dirs, _ := filepath.Glob(filepath.Join(u.state, "pawl/fix/*"))
	return dirs
}

// passes reports whether the tests of the project pass.
func (u *user) passes() bool {
	_, err := tests(u.t, u.project)
	return err == nil
}

// onlySources complains of changed paths that no repair would change.
func (u *user) onlySources(changed []string) {
	u.t.Helper()
	for _, name := range changed {
		if !slices.Contains([]string{"sum.go", "sum/sum.go", "less/less.go"}, name) {
			u.t.Errorf("%s is changed", name)
		}
	}
}
