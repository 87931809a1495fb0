package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// application marks the file as ours ("PAWL"); see the application_id pragma.
const application = 0x5041574c

//go:embed migrations/*.sql
var migrations embed.FS

// steps returns the migrations in order; a database at version n has had the first n.
func steps() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for i, name := range names {
		if !strings.HasPrefix(name, fmt.Sprintf("migrations/%04d_", i+1)) {
			return nil, fmt.Errorf("%s is not number %d", name, i+1)
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// errEarly is the error of a connection that was opened while the file was empty, if
// another process has created the database since. The connection does not know the size of
// the pages and that they have checksums: it would take what it reads for damaged, and
// would write pages without checksums.
var errEarly = errors.New("the database was made while it was opened")

// migrate brings the schema up to date in one transaction. Several processes
// may try at once: the first does it, the others find it done.
func migrate(ctx context.Context, c *conn) error {
	list, err := steps()
	if err != nil {
		return err
	}
	// In one transaction, so that another process cannot change the answer in between.
	if err := c.Exec(`BEGIN`); err != nil {
		return err
	}
	version, err := ours(c, len(list))
	if err := errors.Join(err, c.rollback()); err != nil {
		return err
	}
	if c.early && version > 0 {
		return errEarly
	}
	// Both pragmas write to the file, so the check that it is ours comes first.
	if version == 0 {
		// A commit writes whole pages, and the rows of a usual loop have about
		// 500 bytes: 2,048 writes 4.2 kB a commit against 5.9 kB with the
		// default of 4,096, and 4.4 kB with 1,024, where few rows share a page.
		if err := c.Exec(`PRAGMA page_size = 2048`); err != nil {
			return err
		}
		// Each page keeps a checksum in its last eight bytes, which is checked whenever the
		// page is read (https://sqlite.org/cksumvfs.html). A database that was created without
		// them stays so: its logs have their own checksums.
		if _, err := c.FileControl("", sqlite3.FCNTL_RESERVE_BYTES, 8); err != nil {
			return err
		}
	}
	if err := c.wal(ctx); err != nil {
		return err
	}
	if version == len(list) {
		return nil
	}
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err = func() error {
		version, err := ours(c, len(list))
		if err != nil {
			return err
		}
		if c.early && version > 0 {
			return errEarly
		}
		for i, text := range list[version:] {
			if err := c.Exec(text); err != nil {
				return fmt.Errorf("migration %d: %w", version+i+1, err)
			}
		}
		return c.Exec(fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT`, application, len(list)))
	}()
	if err != nil {
		return errors.Join(err, c.rollback())
	}
	return nil
}

// current refuses a database whose schema is not the current one.
func current(c *conn) error {
	list, err := steps()
	if err != nil {
		return err
	}
	version, err := ours(c, len(list))
	if err == nil && version < len(list) {
		err = fmt.Errorf("the database is of an older version of pawl (schema %d, this one knows %d); open it for writing to upgrade it", version, len(list))
	}
	return err
}

// ours returns the version of the schema, zero for an empty file, or an error if the file
// is not ours.
func ours(c *conn, newest int) (int, error) {
	version, err := c.number(`PRAGMA user_version`)
	if err != nil {
		return 0, err
	}
	app, err := c.number(`PRAGMA application_id`)
	if err != nil {
		return 0, err
	}
	tables, err := c.number(`SELECT count(*) FROM sqlite_schema`)
	switch {
	case err != nil:
		return 0, err
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != application:
		return 0, errors.New("the file is the database of another program; choose another path")
	case version > newest:
		return 0, fmt.Errorf("the database was written by a newer version of pawl (schema %d, this one knows %d): upgrade pawl", version, newest)
	}
	return version, nil
}

// wal switches to write-ahead logging. While another process does the same, SQLite refuses
// without calling the busy handler, hence the loop.
func (c *conn) wal(ctx context.Context) error {
	for n := 0; ; n++ {
		err := c.Exec(`PRAGMA journal_mode = WAL`)
		if !errors.Is(err, sqlite3.BUSY) || !pause(ctx, n) {
			return err
		}
	}
}
