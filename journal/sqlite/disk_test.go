package sqlite

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
)

// A disk remembers what was written to its files and not yet synced, which is
// what a power cut takes, and it can break.
type disk struct {
	vfs.VFSFilename

	mu    sync.Mutex
	files map[string]*image
	fault error // what the operations named fail with, once left is used up
	op    string
	left  int
	fails int // how many did

	loses  bool   // a sync that fails loses what was to be synced, as it does under Linux
	once   bool   // only one operation fails
	synced func() // told before and after each sync
}

// image is what is certain to be in a file, and what is on its way there.
type image struct {
	durable []byte
	pending []change
}

// change is a write, or with nil data a change of size.
type change struct {
	at   int64
	data []byte
}

func (c change) to(b []byte) []byte {
	end := c.at + int64(len(c.data))
	if c.data == nil && int64(len(b)) > c.at {
		return b[:c.at]
	}
	if grow := end - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	copy(b[c.at:], c.data)
	return b
}

// newDisk gives a disk and the name by which a journal is opened on it.
func newDisk(t *testing.T) (*disk, string) {
	t.Helper()
	d := &disk{VFSFilename: vfs.Find("os").(vfs.VFSFilename), files: map[string]*image{}, left: -1}
	name := "disk-" + filepath.Base(t.TempDir()) + t.Name()
	vfs.Register(name, d)
	t.Cleanup(func() { vfs.Unregister(name) })
	return d, name
}

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	path := filepath.Base(name.String())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[path] == nil {
		d.files[path] = &image{}
	}
	return &diskFile{f, d, path}, flags, nil
}

func (d *disk) Delete(path string, sync bool) error {
	d.mu.Lock()
	delete(d.files, filepath.Base(path))
	d.mu.Unlock()
	return d.VFSFilename.Delete(path, sync)
}

// Breaks makes the operations of a kind fail, or all that change the disk if op is
// empty, from the nth on, until Repair is called.
func (d *disk) Breaks(op string, n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.op, d.left, d.fault, d.fails = op, n, err, 0
}

// BreaksOnce has the disk fail one sync, and lose what was to be synced: from then
// on the files look as if it had been written.
func (d *disk) BreaksOnce(n int, err error) {
	d.Breaks("sync", n, err)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loses, d.once = true, true
}

// OnSync has f told before and after each sync of a file.
func (d *disk) OnSync(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced = f
}

// Repair ends the failures and returns how many operations failed.
func (d *disk) Repair() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = nil
	return d.fails
}

// does does an operation on a file, or fails it.
func (d *disk) does(op, path string, do func() error, note func(*image)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault != nil && (d.op == op || d.op == "") {
		if d.left == 0 {
			d.fails++
			fault := d.fault
			if d.once {
				d.fault = nil
			}
			if f := d.files[path]; d.loses && f != nil {
				f.pending = nil
			}
			return fault
		}
		d.left--
	}
	if err := do(); err != nil {
		return err
	}
	f := d.files[path]
	if f == nil {
		f = &image{}
		d.files[path] = f
	}
	note(f)
	return nil
}

// Cut writes the files as they are after a power cut: what was not synced is
// lost or, with a source of chance, some of it, and some of that in part.
func (d *disk) Cut(t *testing.T, rnd *rand.Rand) (path string) {
	t.Helper()
	dir := t.TempDir()
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, f := range maps.All(d.files) {
		b := append([]byte(nil), f.durable...)
		for _, c := range f.pending {
			if rnd == nil || rnd.IntN(2) == 0 {
				continue
			}
			if n := len(c.data); n > 1 && rnd.IntN(3) == 0 {
				c.data = c.data[:1+rnd.IntN(n-1)]
			}
			b = c.to(b)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	return filepath.Join(dir, "j.db")
}

type diskFile struct {
	vfs.File

	disk *disk
	path string
}

func (f *diskFile) SharedMemory() vfs.SharedMemory {
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

func (f *diskFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.disk.does("write", f.path, func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	}, func(i *image) { i.pending = append(i.pending, change{off, append([]byte{}, p...)}) })
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	return f.disk.does("write", f.path, func() error { return f.File.Truncate(size) },
		func(i *image) { i.pending = append(i.pending, change{at: size}) })
}

func (f *diskFile) Sync(flags vfs.SyncFlag) error {
	f.disk.mu.Lock()
	tell := f.disk.synced
	f.disk.mu.Unlock()
	if tell != nil {
		tell()
		defer tell()
	}
	return f.disk.does("sync", f.path, func() error { return f.File.Sync(flags) }, func(i *image) {
		for _, c := range i.pending {
			i.durable = c.to(i.durable)
		}
		i.pending = nil
	})
}
