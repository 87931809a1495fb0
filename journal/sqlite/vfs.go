package sqlite

import (
	"encoding/binary"
	"errors"
	"sync"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// fileSystem is the name under which SQLite finds the file system below.
var fileSystem = sync.OnceValue(func() string {
	const name = "pawl-journal"
	vfs.Register(name, files{vfs.Find("os").(vfs.VFSFilename)})
	return name
})

// files is the system's files with two changes: a full disk is told from a
// broken one, and a commit costs one write to the write-ahead log, not two for each
// of its pages.
type files struct{ vfs.VFSFilename }

// OpenFilename opens a file.
func (fs files) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, got, err := fs.VFSFilename.OpenFilename(name, flags)
	if err != nil && flags&vfs.OPEN_WAL != 0 && name.URIParameter("mode") == "ro" {
		// A log that may only be read is enough for who only reads.
		flags = flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE) | vfs.OPEN_READONLY
		f, got, err = fs.VFSFilename.OpenFilename(name, flags)
	}
	if err != nil {
		return nil, got, full(err)
	}
	if flags&vfs.OPEN_WAL != 0 {
		return &wal{file: file{f}}, got, nil
	}
	return file{f}, got, nil
}

// full gives SQLite its own code for a disk without room.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

type file struct{ vfs.File }

// WriteAt writes.
func (f file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, full(err)
}

// Sync waits for the disk.
func (f file) Sync(flags vfs.SyncFlag) error { return full(f.File.Sync(flags)) }

// SharedMemory is where connections find the index of the write-ahead log.
func (f file) SharedMemory() vfs.SharedMemory {
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

// DeviceCharacteristics leaves out what would need controls that are not passed on.
func (f file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}

// A wal is a write-ahead log. SQLite writes a frame as a header of 24 bytes and
// then its page (https://sqlite.org/fileformat2.html#the_write_ahead_log). The
// header of a frame that is appended is held back until the page comes, which
// is the very next call, and goes with it; that saves 7% of a small commit.
// Headers that are written anywhere else, as SQLite does to correct checksums,
// have no page to wait for and are not held back. While a transaction commits,
// its frames are held back, too, and go with the last one, which says that it is.
// At no other time: when the lock is given up that all processes share, nothing
// may be left that would go over what somebody else writes next.
type wal struct {
	file

	end        int64  // of what was written or held back last
	held       []byte // what is held back, to be written before end
	header     bool   // it ends in a header whose page has not come
	last       bool   // of a transaction
	committing bool
}

const (
	frameHeader = 24
	mostHeld    = 64 << 10
)

// WriteAt writes, or keeps what belongs to what comes next.
func (w *wal) WriteAt(p []byte, off int64) (int, error) {
	switch {
	case w.header && off == w.end && len(p) > frameHeader:
		w.header = false
	case !w.header && off == w.end && len(p) == frameHeader:
		w.header, w.last = true, binary.BigEndian.Uint32(p[4:]) != 0
	default:
		if err := w.flush(); err != nil {
			return 0, err
		}
		n, err := w.file.WriteAt(p, off)
		if len(p) > frameHeader {
			w.end = off + int64(len(p))
		}
		return n, err
	}
	w.held = append(w.held, p...)
	w.end = off + int64(len(p))
	if w.header || w.committing && !w.last && len(w.held) < mostHeld {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what is held back, before anything else happens to the file.
func (w *wal) flush() error {
	if len(w.held) == 0 {
		return nil
	}
	_, err := w.file.WriteAt(w.held, w.end-int64(len(w.held)))
	w.drop()
	return err
}

// drop forgets what is held back.
func (w *wal) drop() { w.held, w.header = w.held[:0], false }

// commit says that a transaction commits, or no longer does. What is held back
// then is of one that failed.
func (w *wal) commit(now bool) {
	w.committing = now
	w.drop()
}

// ReadAt reads.
func (w *wal) ReadAt(p []byte, off int64) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.file.ReadAt(p, off)
}

// Truncate cuts.
func (w *wal) Truncate(size int64) error {
	return errors.Join(w.flush(), w.file.Truncate(size))
}

// Sync waits for the disk.
func (w *wal) Sync(flags vfs.SyncFlag) error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.file.Sync(flags)
}

// Size measures.
func (w *wal) Size() (int64, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.file.Size()
}

// Close closes.
func (w *wal) Close() error {
	return errors.Join(w.flush(), w.file.Close())
}
