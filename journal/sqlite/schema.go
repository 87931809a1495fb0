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
	version     = 2          // of schema.sql; see the user_version pragma
)

//go:embed schema.sql
var schema string

// prepare makes a connection one that writes, and makes the tables in an empty file. Several
// processes may try at once: the first one makes the tables, the others find them.
func (c *conn) prepare(ctx context.Context, o *Options) error {
	sync := "FULL"
	if o.Normal {
		sync = "NORMAL"
	}
	if err := c.Exec(`PRAGMA synchronous = ` + sync + `; PRAGMA foreign_keys = ON`); err != nil {
		return err
	}
	// The next pragma writes to the file, so the check that it is ours comes first.
	made, err := c.ours()
	if err != nil {
		return err
	}
	if err := c.wal(ctx); err != nil || made {
		return err
	}
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if made, err = c.ours(); err == nil && !made {
		err = c.Exec(schema + fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT`, application, version))
	}
	return errors.Join(err, c.rollback())
}

// ours reports whether the file has our tables. It has none yet if it is empty; any other
// file is an error.
func (c *conn) ours() (made bool, err error) {
	var app, was, tables int
	// One statement, so that another process cannot change the answer in between.
	_, err = c.first(`SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version`,
		func(s *sqlite3.Stmt) { app, was, tables = s.ColumnInt(0), s.ColumnInt(1), s.ColumnInt(2) })
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

// Check reads the whole file and returns an error that says where its structure is damaged.
// It does not compare the digests of records, which is done whenever they are read.
func (j *Journal) Check(ctx context.Context) error {
	var found []error
	err := j.pool.read(ctx, func(r *reader) error {
		return r.query(`PRAGMA quick_check(10)`, func(s *sqlite3.Stmt) (bool, error) {
			if text := s.ColumnText(0); text != "ok" {
				found = append(found, errors.New(text))
			}
			return true, nil
		})
	})
	if len(found) > 0 {
		err = fmt.Errorf("the database is damaged; %s: %w", restore, errors.Join(found...))
	}
	return j.err(err)
}
