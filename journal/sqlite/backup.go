package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// Backup writes a copy of the database as of one moment to a new file, readable by its owner
// only, and returns when the copy is durable. Appends go on meanwhile. The copy is a database
// of its own, without the space of removed runs. Tools that do not know the checksums of the
// pages, such as the .backup of SQLite's shell, leave a copy that is taken for damaged.
func (j *Journal) Backup(ctx context.Context, to string) error {
	if err := j.backup(ctx, to); err != nil {
		return fmt.Errorf("back up %s: %w", j.path, err)
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
	name := "file://" + (&url.URL{Path: filepath.ToSlash(f.Name())}).EscapedPath() + "?vfs=" + cmp.Or(j.pool.o.vfs, fileSystem())
	s, _, err := c.Prepare(`VACUUM INTO ?`)
	if err == nil {
		if err = s.BindText(1, name); err == nil {
			err = s.Exec()
		}
	}
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), to)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	_ = dir.Sync() // some systems cannot
	return dir.Close()
}
