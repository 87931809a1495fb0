package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/workspace"
)

// yard is where copies are kept, with two journals that know of runs.
type yard struct {
	t        *testing.T
	app      *app
	dir      string
	now      time.Time
	journals map[string]*sqlite.Journal
	copies   map[string]string // by state directory
}

func newYard(t *testing.T) *yard {
	t.Helper()
	root := t.TempDir()
	y := &yard{t: t, dir: filepath.Join(root, "fix"), now: time.Now(), journals: map[string]*sqlite.Journal{}, copies: map[string]string{}}
	for _, name := range []string{"own", "other"} {
		path := filepath.Join(root, name+".db")
		j, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		y.journals[path] = j
	}
	y.app = &app{console: console{err: &lockedWriter{w: io.Discard}}, environment: environment{database: "sqlite:" + filepath.Join(root, "own.db")}}
	return y
}

// run puts a run into a journal, that was last heard of so long ago.
func (y *yard) run(db, run string, ago time.Duration, status pawl.Status) copyOwner {
	y.t.Helper()
	path := filepath.Join(filepath.Dir(y.dir), db+".db")
	ttl := time.Hour
	lease, err := y.journals[path].Claim(y.t.Context(), pawl.Claim{Run: run, Owner: "somebody", TTL: ttl, New: true})
	if err == nil {
		err = y.journals[path].Append(y.t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, Records: [][]byte{[]byte("{}")},
			Head: pawl.Head{Run: run, Status: status, Created: y.now.Add(-ago), Updated: y.now.Add(-ago)}})
	}
	if err != nil {
		y.t.Fatal(err)
	}
	return copyOwner{run, path}
}

// copy makes a working copy that is so old and belongs to runs.
func (y *yard) copy(name string, ago time.Duration, owners ...copyOwner) string {
	y.t.Helper()
	project := y.t.TempDir()
	c, err := workspace.Copy(y.t.Context(), project, &workspace.Options{Dir: y.dir})
	if err != nil {
		y.t.Fatal(err)
	}
	for _, o := range owners {
		(&environment{database: "sqlite:" + o.Database}).claimCopy(c.StateDir(), o.Run)
	}
	if err := os.Chtimes(c.StateDir(), time.Time{}, y.now.Add(-ago)); err != nil {
		y.t.Fatal(err)
	}
	y.copies[c.StateDir()] = name
	return c.StateDir()
}

// left clears up and names what is left, sorted.
func (y *yard) left() []string {
	y.t.Helper()
	prune(y.t.Context(), y.app, y.journals[filepath.Join(filepath.Dir(y.dir), "own.db")], y.dir, y.now)
	states, err := workspace.States(y.dir)
	if err != nil {
		y.t.Fatal(err)
	}
	var names []string
	for _, s := range states {
		names = append(names, y.copies[s.Dir])
	}
	slices.Sort(names)
	return names
}

const day = 24 * time.Hour

// A copy that was never finished goes, unless it may still be.
func TestPruneUnfinished(t *testing.T) {
	y := newYard(t)
	for name, ago := range map[string]time.Duration{"young": time.Hour, "old": day} {
		dir := y.copy(name, 0)
		if err := errors.Join(os.Remove(filepath.Join(dir, "record.json")), os.Chtimes(dir, time.Time{}, y.now.Add(-ago))); err != nil {
			t.Fatal(err)
		}
	}
	y.copy("whole", day)
	if got := y.left(); !slices.Equal(got, []string{"whole", "young"}) {
		t.Errorf("left are %v", got)
	}
}

// A copy goes when all its runs are gone from their journals, however young; one
// of which that cannot be known stays.
func TestPruneGone(t *testing.T) {
	y := newYard(t)
	if got := y.left(); got != nil {
		t.Errorf("there is %q where nothing was", got)
	}
	gone := copyOwner{"gone", filepath.Join(filepath.Dir(y.dir), "own.db")}
	missing := copyOwner{"r", filepath.Join(t.TempDir(), "no.db")}
	broken := copyOwner{"r", filepath.Join(t.TempDir(), "broken.db")}
	if err := os.WriteFile(broken.Database, []byte("no database, however one looks at it"), 0o600); err != nil {
		t.Fatal(err)
	}
	y.copy("gone", day, gone)
	y.copy("journal gone", day, missing)
	y.copy("both gone", day, gone, missing)
	y.copy("there", day, y.run("own", "a", day, pawl.StatusFailed))
	y.copy("elsewhere", day, y.run("other", "b", day, pawl.StatusExhausted))
	y.copy("fork there", day, gone, y.run("other", "c", day, pawl.StatusFailed))
	y.copy("broken", day, broken)
	y.copy("nobody's", day)
	torn := y.copy("torn", day)
	if err := os.WriteFile(ownersFile(torn), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"broken", "elsewhere", "fork there", "nobody's", "there", "torn"}
	for range 2 {
		if d := cmp.Diff(want, y.left()); d != "" {
			t.Error(d)
		}
	}
}

// A week is granted to all; beyond it the latest few are kept.
func TestPruneOld(t *testing.T) {
	y := newYard(t)
	var want []string
	for n := range mostCopies + 4 { // two of them within the week
		name := fmt.Sprintf("%02d", n)
		ago := time.Duration(n+6)*day - time.Hour
		y.copy(name, 100*day, y.run("own", name, ago, pawl.StatusFailed))
		if n < mostCopies {
			want = append(want, name)
		}
	}
	y.copy("unfinished", 30*day)
	if d := cmp.Diff(want, y.left()); d != "" {
		t.Error(d)
	}
	for n := range mostCopies + 2 { // too many, but none is a week old
		name := fmt.Sprintf("young %02d", n)
		y.copy(name, 0, y.run("other", name, 6*day, pawl.StatusWaitingApproval))
		want = append(want, name)
	}
	driven := "driven"
	y.copy(driven, 50*day, y.run("own", driven, 50*day, pawl.StatusRunning))
	want = append([]string{"00", "01", driven}, want[mostCopies:]...)
	if d := cmp.Diff(want, y.left()); d != "" {
		t.Error(d)
	}
}
