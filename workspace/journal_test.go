package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// flushed are the files that were flushed to disk, which tests do not wait for.
var flushed struct {
	sync.Mutex
	names []string
}

func TestMain(m *testing.M) {
	fsync = func(f *os.File) error {
		flushed.Lock()
		defer flushed.Unlock()
		flushed.names = append(flushed.names, f.Name())
		return nil
	}
	os.Exit(m.Run())
}

// Contents must be on disk before the journal says that they are, and the renames before it goes.
func TestApplyFlushesInOrder(t *testing.T) {
	tree := project(t, files{"a": "1\n", "d/b": "1\n"})
	put(t, tree.Dir(), "a", "2\n")
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "d")))
	d := difference(t, tree)
	flushed.names = nil
	must(t, tree.Apply(d))
	var got []string
	for _, name := range flushed.names {
		name = filepath.ToSlash(name)
		name = strings.ReplaceAll(name, filepath.ToSlash(tree.StateDir()), "STATE")
		name = strings.ReplaceAll(name, filepath.ToSlash(tree.Source()), "SOURCE")
		name = strings.ReplaceAll(name, filepath.Base(tree.StateDir()), "ID")
		got = append(got, strings.ReplaceAll(name, d.Changes[0].New.Digest, "DIGEST"))
	}
	equal(t, []string{
		"STATE/apply.json.new", "STATE",
		"STATE/blobs/originals", "STATE/blobs/DIGEST", "STATE/stage-0",
		"STATE/apply.json.new", "STATE",
		"SOURCE/.", // d is gone
		"STATE/record.json.new", "STATE",
	}, got)
}

type crash struct{}

// crashAt makes the tree die at the n-th point and reports whether it got there.
func crashAt(tree *Tree, n int, f func() error) (died bool, err error) {
	seen := 0
	tree.hook = func() {
		if seen++; seen == n {
			panic(crash{})
		}
	}
	defer func() {
		tree.hook = nil
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
	tree = project(t, files{
		"a": "1\n", "b": "+x 1\n", "gone/x": "1\n", "dir/y": "1\n", "file": "1\n", "link": "-> a",
		"large": strings.Repeat("x", textLimit+1),
	})
	dir := tree.Dir()
	before = read(t, tree.Source())
	put(t, dir, "a", "2\n")
	put(t, dir, "b", "1\n")
	must(t, os.RemoveAll(filepath.Join(dir, "gone")))
	must(t, os.RemoveAll(filepath.Join(dir, "dir")))
	must(t, os.RemoveAll(filepath.Join(dir, "file")))
	put(t, dir, "dir", "a file\n")
	put(t, dir, "file/in/a/dir", "1\n")
	put(t, dir, "link", "-> b")
	put(t, dir, "new/z", "1\n")
	put(t, dir, "large", "small\n")
	return tree, difference(t, tree), before, read(t, dir)
}

// dirs lists the directories of a project.
func dirs(t *testing.T, root string) (list []string) {
	must(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			rel, _ := filepath.Rel(root, name)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	}))
	return list
}

// At every point where an apply can die, the next call makes the project all old or all new.
func TestCrash(t *testing.T) {
	t.Parallel()
	t.Run("near", func(t *testing.T) { testCrash(t, 0) })
	t.Run("far", func(t *testing.T) { testCrash(t, looksFar) })
}

func testCrash(t *testing.T, away far) {
	t.Parallel()
	outcomes := map[Recovery]int{}
	for n := 1; ; n++ {
		tree, d, before, after := changed(t)
		tree.far = away
		oldDirs, newDirs := dirs(t, tree.Source()), dirs(t, tree.Dir())
		died, err := crashAt(tree, n, func() error { return tree.Apply(d) })
		if err != nil {
			t.Fatal(err)
		}
		if !died {
			equal(t, after, read(t, tree.Source()))
			if n < 15 || outcomes[Undone] < 5 || outcomes[Completed] < 8 {
				t.Errorf("only %d points, %v", n, outcomes)
			}
			break
		}
		if err := tree.Close(); err == nil || !strings.Contains(err.Error(), "unfinished") {
			t.Fatalf("point %d: close in the middle: %v", n, err)
		}
		// The recovery dies too, everywhere.
		for m := 1; ; m++ {
			again, err := Open(tree.StateDir())
			must(t, err)
			died, err := crashAt(again, m, func() error { _, err := again.recover(); return err })
			must(t, err)
			if !died {
				break
			}
		}
		got := read(t, tree.Source())
		tree, err = Open(tree.StateDir())
		must(t, err)
		if len(got) == len(before) && got["a"] == before["a"] {
			outcomes[Undone]++
			equal(t, before, got)
			equal(t, oldDirs, dirs(t, tree.Source()))
			must(t, tree.Apply(d))
		} else {
			outcomes[Completed]++
		}
		equal(t, after, read(t, tree.Source()))
		equal(t, newDirs, dirs(t, tree.Source()))
		if d := difference(t, tree); !d.Empty() {
			t.Errorf("the record was not brought up to date:\n%s", d)
		}
		if r, err := Recover(tree.StateDir()); r != Nothing || err != nil {
			t.Errorf("recovering again: %v, %v", r, err)
		}
		if t.Failed() {
			t.Fatalf("at point %d", n)
		}
		must(t, tree.Close())
	}
	t.Log(outcomes)
}

// If somebody changes a file in the middle, everything else is taken back and theirs stays.
func TestUndo(t *testing.T) {
	t.Parallel()
	undone := 0
	for n := 1; ; n++ {
		tree, d, before, after := changed(t)
		oldDirs := dirs(t, tree.Source())
		seen := 0
		tree.hook = func() {
			if seen++; seen == n {
				put(t, tree.Source(), "new/z", "theirs\n")
			}
		}
		err := tree.Apply(d)
		if seen < n {
			break
		}
		tree.hook = nil
		got := read(t, tree.Source())
		var conflict *ConflictError
		switch {
		case errors.As(err, &conflict):
			undone++
			before["new/z"] = "theirs\n"
			equal(t, before, got)
			equal(t, append(oldDirs, "new"), dirs(t, tree.Source()))
			if _, err := os.Lstat(tree.journalPath()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the journal is there still: %v", err)
			}
		case err == nil: // they came too late, or between the look and the rename
			if got["new/z"] == "theirs\n" {
				after["new/z"] = "theirs\n"
			}
			equal(t, after, got)
		default:
			t.Errorf("point %d: %v", n, err)
		}
		if t.Failed() {
			t.Fatalf("at point %d", n)
		}
	}
	if undone < 10 {
		t.Errorf("only %d applies were taken back", undone)
	}
}

func TestRecoverConflict(t *testing.T) {
	tree, d, before, _ := changed(t)
	died, err := crashAt(tree, 12, func() error { return tree.Apply(d) })
	if !died {
		t.Fatal(err)
	}
	put(t, tree.Source(), "link", "theirs\n")
	r, err := Recover(tree.StateDir())
	var conflict *ConflictError
	if r != Undone || !errors.As(err, &conflict) {
		t.Fatalf("%v, %v, want it taken back over a conflict", r, err)
	}
	before["link"] = "theirs\n"
	equal(t, before, read(t, tree.Source()))
	must(t, tree.Close())
}

// Temporary files may be lost or torn when the system itself goes down.
func TestTornTemporaryFiles(t *testing.T) {
	t.Parallel()
	for away := range turnsOutFar + 1 {
		t.Run(fmt.Sprint("far ", int(away)), func(t *testing.T) { testTorn(t, away) })
	}
}

// Every point is torn with PAWL_PROOF, and else every third, others for each way of staging.
func testTorn(t *testing.T, away far) {
	torn, first, step := 0, 1+int(away), 3
	if os.Getenv("PAWL_PROOF") != "" {
		first, step = 1, 1
	}
	for n := first; ; n += step {
		tree, d, _, after := changed(t)
		tree.far = away
		died, err := crashAt(tree, n, func() error { return tree.Apply(d) })
		must(t, err)
		if !died {
			break
		}
		temps, err := filepath.Glob(filepath.Join(tree.Source(), ".pawl-*"))
		must(t, err)
		staged, err := filepath.Glob(filepath.Join(tree.StateDir(), "stage-*"))
		must(t, err)
		if away == looksFar && len(staged) > 0 || away == 0 && len(temps) > 0 {
			t.Errorf("temporary files are %v and %v", temps, staged)
		}
		temps = append(temps, staged...)
		torn += len(temps)
		for i, name := range temps {
			if i%2 == 0 {
				must(t, os.Remove(name))
			} else {
				must(t, os.RemoveAll(name))
				must(t, os.WriteFile(name, nil, 0o600))
			}
		}
		must(t, tree.Apply(d))
		equal(t, after, read(t, tree.Source()))
	}
	if torn*step < 20 {
		t.Errorf("only %d temporary files were torn", torn)
	}
}

// While one file is changed the project is old or new at any moment, and nothing else is in it.
func TestOneFileLeavesNoTrace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing can be renamed from one root into another")
	}
	now := map[bool]int{}
	for n := 1; ; n++ {
		tree := project(t, files{"a": "+x 1\n", "b": "1\n"})
		before := read(t, tree.Source())
		put(t, tree.Dir(), "a", "+x 2\n")
		after := read(t, tree.Dir())
		d := difference(t, tree)
		died, err := crashAt(tree, n, func() error { return tree.Apply(d) })
		must(t, err)
		if !died {
			break
		}
		got := read(t, tree.Source())
		if isNew := cmp.Equal(got, after); isNew || cmp.Equal(got, before) {
			now[isNew]++
		} else {
			t.Errorf("at point %d it holds %v", n, got)
		}
	}
	if now[false] == 0 || now[true] == 0 {
		t.Errorf("seen: %v", now)
	}
}

// A copy of a project in which an apply has died has all old or all new contents, wherever the
// apply died and whatever else was written.
func TestCopySettles(t *testing.T) {
	t.Parallel()
	undone, completed := 0, 0
	for n := 1; ; n++ {
		tree, d, before, after := changed(t)
		died, err := crashAt(tree, n, func() error { return tree.Apply(d) })
		must(t, err)
		if !died {
			break
		}
		_ = copied(t, t.TempDir(), &Options{Dir: filepath.Dir(tree.StateDir())}) // of another project, which settles nothing
		again := copied(t, tree.Source(), &Options{Dir: filepath.Dir(tree.StateDir())})
		now := read(t, again.Source())
		switch {
		case cmp.Equal(now, before):
			undone++
		case cmp.Equal(now, after):
			completed++
		default:
			t.Errorf("at point %d it holds %v", n, now)
		}
		equal(t, now, read(t, again.Dir()))
		must(t, tree.Close()) // for nothing is unfinished
	}
	if undone < 5 || completed < 5 {
		t.Errorf("%d undone and %d completed", undone, completed)
	}
}

// Of two that apply from one state directory the second waits for the first.
func TestApplyWaits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such lock")
	}
	tree := project(t, files{"a": "1\n"})
	put(t, tree.Dir(), "a", "2\n")
	d := difference(t, tree)
	done := make(chan error)
	seen := false
	tree.hook = func() {
		if seen {
			return
		}
		seen = true
		go func() { _, err := Recover(tree.StateDir()); done <- err }()
		select {
		case err := <-done:
			t.Errorf("it did not wait: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	must(t, tree.Apply(d))
	must(t, <-done)
	equal(t, files{"a": "2\n"}, read(t, tree.Source()))
}
