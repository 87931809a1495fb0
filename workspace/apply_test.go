package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// flushing is called with each file that is flushed to disk, which tests do not wait for.
var flushing func(name string) error

func TestMain(m *testing.M) {
	fsync = func(f *os.File) error {
		if flushing != nil {
			return flushing(f.Name())
		}
		return nil
	}
	os.Exit(m.Run())
}

type crash struct{}

// crashAt makes f die when it flushes for the n-th time and reports whether it got there.
func crashAt(n int, f func() error) (died bool, err error) {
	flushing = func(string) error {
		if n--; n == 0 {
			panic(crash{})
		}
		return nil
	}
	defer func() {
		flushing = nil
		if r := recover(); r == (crash{}) {
			died = true
		} else if r != nil {
			panic(r)
		}
	}()
	return false, f()
}

// changed is a tree with changes of every sort, and what the original is before and after.
func changed(t *testing.T) (tree *Tree, d Diff, before, after files) {
	tree = project(t, files{"a": "1\n", "b": "+x 1\n", "gone/x": "1\n", "other": "1\n"})
	before = read(t, tree.Source())
	edit(t, tree, "a", "2\n")
	edit(t, tree, "b", "1\n")
	edit(t, tree, "gone/x")
	edit(t, tree, "new/y/z", "1\n")
	edit(t, tree, "zero", "")
	return tree, difference(t, tree), before, read(t, tree.Dir())
}

// At every point where an apply can die, the next call makes the project all old or all new.
func TestCrash(t *testing.T) {
	for name, next := range map[string]func(state string) error{
		"open":  func(state string) error { _, err := Open(state); return err },
		"prune": func(state string) error { return Prune(filepath.Dir(state), time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			undone, completed := 0, 0
			for n := 1; ; n++ {
				tree, d, before, after := changed(t)
				died, err := crashAt(n, func() error { return tree.Apply(d) })
				must(t, err)
				if !died {
					equal(t, after, read(t, tree.Source()))
					break
				}
				for m := 1; ; m++ { // the recovery dies too, everywhere
					died, err := crashAt(m, func() error { return next(tree.StateDir()) })
					must(t, err)
					if !died {
						break
					}
				}
				if got := read(t, tree.Source()); cmp.Equal(before, got) {
					undone++
				} else {
					completed++
					equal(t, after, got)
				}
				must(t, tree.Apply(d))
				equal(t, after, read(t, tree.Source()))
				must(t, tree.Close())
				if t.Failed() {
					t.Fatalf("at point %d", n)
				}
			}
			if undone < 1 || completed < 10 {
				t.Errorf("%d undone and %d completed", undone, completed)
			}
		})
	}
}

// While an apply is unfinished, its state is kept.
func TestCloseUnfinished(t *testing.T) {
	tree, d, _, after := changed(t)
	if died, err := crashAt(3, func() error { return tree.Apply(d) }); !died {
		t.Fatal(err)
	}
	if err := tree.Close(); err == nil || !strings.Contains(err.Error(), "half applied") {
		t.Errorf("close in the middle: %v", err)
	}
	must(t, tree.Apply(Diff{})) // whatever is to be applied next
	equal(t, after, read(t, tree.Source()))
	must(t, tree.Close())
}

// If somebody changes a file in the middle, everything else is taken back and theirs stays.
func TestUndo(t *testing.T) {
	undone := 0
	for n := 1; ; n++ {
		tree, d, before, after := changed(t)
		left := n
		flushing = func(string) error {
			if left--; left == 0 {
				put(t, tree.Source(), "zero", "theirs\n")
			}
			return nil
		}
		err := tree.Apply(d)
		flushing = nil
		if left > 0 {
			break
		}
		got := read(t, tree.Source())
		var conflict *ConflictError
		switch {
		case errors.As(err, &conflict):
			undone++
			before["zero"] = "theirs\n"
			equal(t, before, got)
			if _, err := os.Lstat(filepath.Join(tree.Source(), "new")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a directory is left: %v", err)
			}
			must(t, tree.Close())
		case err == nil: // they came too late, or between the look and the rename
			if got["zero"] == "theirs\n" {
				after["zero"] = "theirs\n"
			}
			equal(t, after, got)
		default:
			t.Errorf("point %d: %v", n, err)
		}
	}
	if undone < 10 {
		t.Errorf("only %d applies were taken back", undone)
	}
}

// A disk that fails leaves the project as it was.
func TestFailure(t *testing.T) {
	broken := errors.New("the disk is full")
	for n := 1; ; n++ {
		tree, d, before, after := changed(t)
		left := n
		flushing = func(string) error {
			if left--; left == 0 {
				return broken
			}
			return nil
		}
		err := tree.Apply(d)
		flushing = nil
		if left > 0 {
			must(t, err)
			equal(t, after, read(t, tree.Source()))
			break
		}
		if !errors.Is(err, broken) {
			t.Errorf("point %d: %v", n, err)
		}
		equal(t, before, read(t, tree.Source()))
		must(t, tree.Close())
	}
}

// Of two that apply from one state directory the second waits for the first.
func TestApplyWaits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such lock")
	}
	tree, d, _, after := changed(t)
	done := make(chan error, 1)
	flushes := 0
	flushing = func(string) error {
		if flushes++; flushes == 3 { // the difference is stored
			go func() { _, err := Open(tree.StateDir()); done <- err }()
			select {
			case err := <-done:
				t.Errorf("it did not wait: %v", err)
				done <- err
			case <-time.After(50 * time.Millisecond):
			}
		}
		return nil
	}
	must(t, tree.Apply(d))
	must(t, <-done)
	flushing = nil
	equal(t, after, read(t, tree.Source()))
}

// State directories are kept for a week after they were last used, and the latest ten for longer. A copy
// that was never completed is removed, unless it may still be.
func TestPrune(t *testing.T) {
	dir, now, source := t.TempDir(), time.Now(), t.TempDir()
	const day = 24 * time.Hour
	var want []string
	add := func(ago time.Duration, complete, kept bool) {
		c := copied(t, source, &Options{Dir: dir})
		if !complete {
			must(t, os.Remove(c.path(recordFile)))
		}
		must(t, os.Chtimes(c.StateDir(), now, now.Add(-ago)))
		if kept {
			want = append(want, filepath.Base(c.StateDir()))
		}
	}
	add(time.Hour, false, true)
	add(day, false, false)
	for n := range 12 {
		add(time.Duration(n+6)*day-time.Hour, true, n < 8)
	}
	put(t, dir, "of-another", "1\n")
	want = append(want, "of-another")
	must(t, Prune(dir, now))
	all, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range all {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	equal(t, want, got)
	must(t, Prune(filepath.Join(dir, "missing"), now))
}
