package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"
)

// holds reports whether a writer that is not at work keeps a snapshot.
func (w *writer) holds() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.busy && w.held
}

func opened(t *testing.T, path string, o *Options) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path, o)
	must(t, err)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// TestSnapshotIsNobodysHindrance has two writers take turns, as two processes
// do: whatever the one keeps, the other writes at once, and both see it.
func TestSnapshotIsNobodysHindrance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	one, two := opened(t, path, nil), opened(t, path, nil)
	a, b := claimed(t, one, "a"), claimed(t, two, "b")
	kept := 0
	for i := range 60 {
		for range 1 + i%3 {
			must(t, one.Append(t.Context(), a))
			a.After++
		}
		if one.writer.holds() {
			kept++
		}
		if i%4 > 0 {
			continue
		}
		must(t, two.Append(t.Context(), b))
		b.After++
		if n := count(t, one, "b"); n != int(b.After) {
			t.Fatalf("%d records of the other are there, not %d", n, b.After)
		}
	}
	if kept == 0 {
		t.Error("no snapshot was kept")
	}
	for i := 0; one.writer.holds() || two.writer.holds(); i++ {
		if i > 1000 {
			t.Fatal("a writer that rests keeps its snapshot")
		}
		time.Sleep(idleAfter)
	}
}

// TestSnapshotLetsTheLogBeEmptied appends without rest: the log beside the file
// does not grow beyond where it is emptied, for all that the snapshot reads it.
func TestSnapshotLetsTheLogBeEmptied(t *testing.T) {
	const pages = 50
	path := filepath.Join(t.TempDir(), "j.db")
	j := opened(t, path, (&Options{Normal: true}).Emptied(pages))
	b := claimed(t, j, "r")
	for range 2000 {
		must(t, j.Append(t.Context(), b))
		b.After++
	}
	log, err := os.Stat(path + "-wal")
	must(t, err)
	if most := int64(2 * pages * (frameHeader + 2048)); log.Size() > most {
		t.Errorf("the log has %d bytes, more than %d", log.Size(), most)
	}
}

// counted counts the writes to write-ahead logs.
type counted struct {
	vfs.VFSFilename

	writes atomic.Int64
}

func (c *counted) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, got, err := c.VFSFilename.OpenFilename(name, flags)
	if err != nil || flags&vfs.OPEN_WAL == 0 {
		return file, got, err
	}
	return &countedFile{file, c}, got, nil
}

type countedFile struct {
	vfs.File

	fs *counted
}

func (f *countedFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.writes.Add(1)
	return f.File.WriteAt(p, off)
}

// TestOneWrite counts the writes of commits, of one page and of many.
func TestOneWrite(t *testing.T) {
	fs := &counted{VFSFilename: vfs.Find("os").(vfs.VFSFilename)}
	vfs.Register("counted", files{fs})
	t.Cleanup(func() { vfs.Unregister("counted") })
	j := opened(t, filepath.Join(t.TempDir(), "j.db"), &Options{vfs: "counted"})
	b := claimed(t, j, "r")
	for _, size := range []int{1, 1000, 5000, 20_000} {
		b.Records = [][]byte{make([]byte, size)}
		was := fs.writes.Load()
		must(t, j.Append(t.Context(), b))
		b.After++
		if n := fs.writes.Load() - was; n != 1 {
			t.Errorf("a batch of %d bytes took %d writes", size, n)
		}
	}
}

// TestNothingIsHeldBackOfWhatIsUndone has a transaction fail that is too large
// for memory, so that much of it stands in the log already: what another process
// writes in its place stays.
func TestNothingIsHeldBackOfWhatIsUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	one, two := opened(t, path, nil), opened(t, path, nil)
	a, b := claimed(t, one, "a"), claimed(t, two, "b")
	undone := errors.New("it is undone")
	for range 5 {
		huge := a
		huge.Records = [][]byte{bytes.Repeat([]byte("h"), 6<<20)}
		err := one.write(t.Context(), func(w *writer) (refusal, broken error) {
			_, err := w.append(huge, huge.After+1, len(huge.Records[0]))
			if log, failed := os.Stat(path + "-wal"); failed != nil || log.Size() < 4<<20 {
				t.Errorf("the log has %v, %v: the transaction fits into memory", log, failed)
			}
			if n := len(w.log.held); n > 0 {
				t.Errorf("%d bytes are held back", n)
			}
			return nil, errors.Join(err, undone)
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		for range 3 {
			must(t, two.Append(t.Context(), b))
			b.After++
		}
		must(t, one.Append(t.Context(), a))
		a.After++
		if n := count(t, opened(t, path, nil), "b"); n != int(b.After) {
			t.Fatalf("%d records are there, not %d", n, b.After)
		}
	}
}
