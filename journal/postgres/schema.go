package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

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

// migrate brings the tables up to date in one transaction. Several processes may try at once: the
// first does it, the others wait and find it done. If nothing is to be done it writes nothing, so
// that a role that may not create tables, or a standby, is enough to read.
func (j *Journal) migrate(ctx context.Context, c *conn) error {
	list, err := steps()
	if err != nil {
		return err
	}
	if version, err := j.version(ctx, c, len(list)); err != nil || version == len(list) {
		return err
	}
	return c.inTx(ctx, func() error {
		if _, err := c.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "pawl "+j.schema); err != nil {
			return err
		}
		version, err := j.version(ctx, c, len(list))
		if err != nil {
			return err
		}
		if version == 0 {
			// The schema may exist, created by a user with the right to do so.
			if err := c.script(ctx, `CREATE SCHEMA IF NOT EXISTS `+j.schema); err != nil {
				return err
			}
			if err := c.script(ctx, `CREATE TABLE version (version integer NOT NULL); INSERT INTO version VALUES (0)`); err != nil {
				return err
			}
		}
		for i, text := range list[version:] {
			if err := c.script(ctx, text); err != nil {
				return fmt.Errorf("migration %d: %w", version+i+1, err)
			}
		}
		_, err = c.Exec(ctx, `UPDATE version SET version = $1`, len(list))
		return err
	})
}

// version returns the version of the tables, zero if there are none, or an error if they
// must not be changed.
func (j *Journal) version(ctx context.Context, c *conn, newest int) (int, error) {
	var ours bool
	var tables int
	if err := c.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, count(*) FROM pg_class WHERE relnamespace = to_regnamespace($2) AND relkind IN ('r', 'v', 'm', 'p')`,
		j.schema+".version", j.schema).Scan(&ours, &tables); err != nil {
		return 0, err
	}
	switch {
	case !ours && tables > 0:
		return 0, fmt.Errorf("the schema %s holds the tables of another program; choose another", j.schema)
	case !ours:
		return 0, nil
	}
	var version int
	err := c.QueryRow(ctx, `SELECT version FROM version`).Scan(&version)
	switch {
	case errors.Is(err, errNoRows) || err == nil && version < 1:
		return 0, fmt.Errorf("the table %s.version says nothing that pawl wrote", j.schema)
	case err != nil:
		return 0, err
	case version > newest:
		return 0, fmt.Errorf("the database was written by a newer version of pawl (schema %d, this one knows %d): upgrade pawl", version, newest)
	}
	return version, nil
}
