package sqlite

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

const (
	application = 0x5041574c // marks the file as ours ("PAWL"); see the application_id pragma
	version     = 1          // of schema.sql; see the user_version pragma
)

//go:embed schema.sql
var schema string

// errEarly is the error of a connection that was opened while the file was empty, if
// another process has created the database since. The connection does not know the size of
// the pages and that they have checksums: it would take what it reads for damaged, and
// would write pages without checksums.
var errEarly = errors.New("the database was made while it was opened")

// create makes the tables in an empty file, in one transaction. Several processes may try at
// once: the first does it, the others find it done.
func create(ctx context.Context, c *conn) error {
	// In one transaction, so that another process cannot change the answer in between.
	if err := c.Exec(`BEGIN`); err != nil {
		return err
	}
	made, err := ours(c)
	if err := errors.Join(err, c.rollback()); err != nil {
		return err
	}
	if c.early && made {
		return errEarly
	}
	// Both pragmas write to the file, so the check that it is ours comes first.
	if !made {
		// A commit writes whole pages, and the rows of a usual loop have about
		// 500 bytes: 2,048 writes 4.2 kB a commit against 5.9 kB with the
		// default of 4,096, and 4.4 kB with 1,024, where few rows share a page.
		if err := c.Exec(`PRAGMA page_size = 2048`); err != nil {
			return err
		}
		// Each page keeps a checksum in its last eight bytes, which is checked whenever the
		// page is read (https://sqlite.org/cksumvfs.html).
		if _, err := c.FileControl("", sqlite3.FCNTL_RESERVE_BYTES, 8); err != nil {
			return err
		}
	}
	if err := c.wal(ctx); err != nil || made {
		return err
	}
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err = func() error {
		made, err := ours(c)
		switch {
		case err != nil:
			return err
		case c.early && made:
			return errEarly
		case made:
			return c.rollback()
		}
		return c.Exec(schema + fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT`, application, version))
	}()
	if err != nil {
		return errors.Join(err, c.rollback())
	}
	return nil
}

// ours reports whether the file has our tables. It has none yet if it is empty; any other
// file is an error.
func ours(c *conn) (made bool, err error) {
	was, err := c.number(`PRAGMA user_version`)
	if err != nil {
		return false, err
	}
	app, err := c.number(`PRAGMA application_id`)
	if err != nil {
		return false, err
	}
	tables, err := c.number(`SELECT count(*) FROM sqlite_schema`)
	switch {
	case err != nil:
		return false, err
	case app == 0 && was == 0 && tables == 0:
		return false, nil
	case app != application:
		return false, errors.New("the file is the database of another program; choose another path")
	case was != version:
		return false, fmt.Errorf("the database has the schema %d, and this pawl reads only %d; use the pawl that wrote it, or choose another path", was, version)
	}
	return true, nil
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
