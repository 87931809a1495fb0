package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// version is the version of schema.sql, which the table version holds.
const version = 2

//go:embed schema.sql
var tables string

// create makes the tables, if there are none, in one transaction. Several processes may try at
// once: the first does it, the others wait and find it done. If there are tables it writes
// nothing, so that a role that may not create tables, or a standby, is enough to read.
func (j *Journal) create(ctx context.Context, c *pgx.Conn) error {
	if made, err := j.made(ctx, c); err != nil || made {
		return err
	}
	return pgx.BeginFunc(ctx, c, func(pgx.Tx) error {
		if _, err := c.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "pawl "+j.schema); err != nil {
			return err
		}
		if made, err := j.made(ctx, c); err != nil || made {
			return err
		}
		// The schema may exist, created by a user with the right to do so.
		_, err := c.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+j.schema+`; `+tables+fmt.Sprintf(`INSERT INTO version VALUES (%d)`, version))
		return err
	})
}

// made reports whether there are our tables. A schema with other tables, or with ours in
// another version, is an error.
func (j *Journal) made(ctx context.Context, c *pgx.Conn) (bool, error) {
	var ours bool
	var others int
	if err := c.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, count(*) FROM pg_class WHERE relnamespace = to_regnamespace($2) AND relkind IN ('r', 'v', 'm', 'p')`,
		j.schema+".version", j.schema).Scan(&ours, &others); err != nil {
		return false, err
	}
	switch {
	case !ours && others > 0:
		return false, fmt.Errorf("the schema %s holds the tables of another program; choose another", j.schema)
	case !ours:
		return false, nil
	}
	var was int
	err := c.QueryRow(ctx, `SELECT version FROM version`).Scan(&was)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && was < 1:
		return false, fmt.Errorf("the table %s.version says nothing that pawl wrote", j.schema)
	case err != nil:
		return false, err
	case was != version:
		return false, fmt.Errorf("the database has the schema %d, and this pawl reads only %d; use the pawl that wrote it, or choose another database", was, version)
	}
	return true, nil
}
