// Package sqlite is a [Journal] in one SQLite file, shared by any number of processes on
// one machine. It needs no C compiler.
//
// A loop waits for commits, so they are kept small: a batch is one row at the end of one
// table, together with the running figures of the head. The row of the run changes only
// with its status, labels, wake-up time or lease. Appends that arrive during a commit share
// the next commit.
package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/internal/shared"
	"github.com/pawl-run/pawl/journal/seal"
)

// A Journal is an open database. It implements [pawl.Journal],
// [pawl.Inbox], [pawl.Blobs] and [pawl.Remover]. Its errors name the file.
type Journal struct {
	path   string
	writer *writer
	pool   *pool
	logs   *journals.Bell // notified of runs that have new entries
	box    shared.Box
}

var (
	_ pawl.Journal = (*Journal)(nil)
	_ pawl.Inbox   = (*Journal)(nil)
	_ pawl.Blobs   = (*Journal)(nil)
	_ pawl.Remover = (*Journal)(nil)
)

// Options are the options of a database; nil is the zero value.
type Options struct {
	// Normal leaves the newest appends to the operating system instead of waiting for
	// the disk (synchronous=NORMAL instead of FULL). A killed process still loses
	// nothing. A power failure can lose the appends of the last moments, but never
	// leaves a gap or half a batch.
	Normal bool
	// ReadOnly opens an existing database for reading and changes no file, so that a
	// database without write permission can be read. Every write fails with
	// [ErrReadOnly]. While another process writes, the newest entries are in the log next
	// to the file, FILE-wal, which SQLite reads only with permission to write to it.
	ReadOnly bool

	// Codec seals entries, signals and blobs; see package seal. Nil: they are stored as they are.
	// Sealed ones are read with the Codec only.
	Codec seal.Codec

	vfs string // the file system of the database; tests break it
}

// Open opens the database at path. It creates the database, and the directories above it,
// if necessary, readable by their owner only. A database of another version, or of another
// program, is refused and left unchanged. The context bounds only the opening.
func Open(ctx context.Context, path string, o *Options) (*Journal, error) {
	o = cmp.Or(o, &Options{})
	j, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, markOutage(err))
	}
	return j, nil
}

func open(ctx context.Context, path string, o *Options) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		j := &Journal{path: path, pool: newPool(path, o), logs: newNotifier(path, nil), box: shared.Box{Codec: o.Codec}}
		err := j.pool.read(ctx, func(r *reader) error {
			made, err := r.ours()
			if err == nil && !made {
				err = errors.New("the database has no tables yet; open it for writing first")
			}
			return err
		})
		if err != nil {
			return nil, errors.Join(explain(err), j.pool.close())
		}
		return j, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	c, err := connect(ctx, path, o, view{})
	if err != nil {
		return nil, explain(err)
	}
	err = c.prepare(ctx, o)
	if err == nil {
		err = errors.Join(alike(path+"-shm", path), syncDir(filepath.Dir(path)))
	}
	if err != nil {
		return nil, errors.Join(explain(err), c.close())
	}
	w := &writer{conn: c, box: shared.Box{Codec: o.Codec}}
	w.logs = newNotifier(path, w)
	return &Journal{path: path, writer: w, pool: newPool(path, o), logs: w.logs, box: w.box}, nil
}

// alike gives the index of the write-ahead log the mode of the database: it holds no data, but
// readers of the database must be able to read it, and no others need to.
func alike(index, database string) error {
	want, err := os.Stat(database)
	if err != nil {
		return err
	}
	have, err := os.Stat(index)
	if errors.Is(err, fs.ErrNotExist) || err == nil && have.Mode().Perm() == want.Mode().Perm() {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(index, want.Mode().Perm())
}

// Close waits for pending writes, moves them into the main file unless another process has
// it open, and closes the database. Every later call fails.
func (j *Journal) Close() error {
	j.logs.Close()
	if j.writer == nil {
		return j.err(j.pool.close())
	}
	return j.err(errors.Join(j.pool.close(), j.writer.close()))
}

// errClosed is the error of a closed journal. It is an outage, since a server that a second signal
// stops closes its journal while it still answers requests: clients may repeat them.
var errClosed error = &retry.Error{Err: errors.New("the journal is closed")}

// ErrReadOnly is the error of every write to a journal that was opened for reading.
var ErrReadOnly = errors.New("it is open for reading only")

// err adds the file's name to an error of the database.
func (j *Journal) err(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal %s: %w", j.path, markOutage(explain(err)))
}

// markOutage marks errors of reaching the file: it cannot be opened, another process has
// locked it, or the disk cannot be read or written. The same call may succeed later.
func markOutage(err error) error {
	for _, code := range []sqlite3.ErrorCode{sqlite3.CANTOPEN, sqlite3.PERM, sqlite3.BUSY, sqlite3.LOCKED, sqlite3.IOERR, sqlite3.FULL, sqlite3.READONLY} {
		if errors.Is(err, code) {
			return &retry.Error{Err: err}
		}
	}
	if errors.As(err, new(*fs.PathError)) {
		return &retry.Error{Err: err}
	}
	return err
}

// restore is what to do about a damaged database.
const restore = "restore the database from a copy, or save the rest with sqlite3 FILE .recover | sqlite3 NEW"

// explain adds the meaning of SQLite's short error codes.
func explain(err error) error {
	switch {
	case errors.Is(err, sqlite3.CORRUPT):
		return fmt.Errorf("the database is damaged; %s: %w", restore, err)
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("the file is damaged or is not an SQLite database; restore a copy: %w", err)
	case errors.Is(err, sqlite3.FULL):
		return fmt.Errorf("the disk is full: %w", err)
	case errors.Is(err, sqlite3.IOERR): // the driver does not tell a full disk from a broken one
		return fmt.Errorf("the disk is full or fails: %w", err)
	}
	return err
}
