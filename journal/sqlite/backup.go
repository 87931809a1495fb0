package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a copy of the database as of one moment to a new file, readable by its owner
// only, and returns when the copy is durable. Appends go on meanwhile. The copy is a database
// of its own, without the space of removed runs.
func (j *Journal) Backup(ctx context.Context, to string) error {
	if err := j.backup(ctx, to); err != nil {
		return fmt.Errorf("back up %s: %w", j.path, explain(err))
	}
	return nil
}

func (j *Journal) backup(ctx context.Context, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, error(&fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}))
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".pawl-backup-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	defer f.Close()
	c, err := connect(ctx, j.path, j.pool.o, view{})
	if err != nil {
		return err
	}
	err = c.exec(`VACUUM INTO ?`, f.Name())
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), to)); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// syncDir makes the names of new files durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = dir.Sync() // some systems cannot
	return dir.Close()
}
