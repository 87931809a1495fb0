package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// A conn is a connection to the server. It prepares a statement when it sees it first.
type conn struct {
	*pgconn.PgConn

	known    map[string]*pgconn.StatementDescription // by their text
	prepared int
}

func connect(ctx context.Context, config *pgconn.Config) (*conn, error) {
	c, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &conn{PgConn: c, known: map[string]*pgconn.StatementDescription{}}, nil
}

// script executes statements without arguments.
func (c *conn) script(ctx context.Context, sql string) error {
	_, err := c.PgConn.Exec(ctx, sql).ReadAll()
	return err
}

// inTx calls do in a transaction.
func (c *conn) inTx(ctx context.Context, do func() error) error {
	if err := c.script(ctx, `BEGIN`); err != nil {
		return err
	}
	err := do()
	if err != nil {
		_ = c.script(ctx, `ROLLBACK`) // else the connection is dropped
		return err
	}
	return c.script(ctx, `COMMIT`)
}

// Exec executes a statement and returns how many rows it changed.
func (c *conn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	r, err := c.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	r.Close()
	return r.changed, r.err
}

// QueryRow executes a statement for its first row.
func (c *conn) QueryRow(ctx context.Context, sql string, args ...any) *row {
	r, err := c.Query(ctx, sql, args...)
	return &row{r, err}
}

// statement prepares a statement, once.
func (c *conn) statement(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if s := c.known[sql]; s != nil {
		return s, nil
	}
	c.prepared++
	s, err := c.Prepare(ctx, fmt.Sprintf("pawl_%d", c.prepared), sql, nil)
	if err == nil {
		c.known[sql] = s
	}
	return s, err
}

// A command is a statement with its arguments.
type command struct {
	sql  string
	args []any
}

// together executes commands in one transaction and one round trip, and returns how many
// rows the first has changed. A batch of the library would do, but says of an answer that
// was lost that nothing was sent.
func (c *conn) together(ctx context.Context, all ...command) (int64, error) {
	statements, values, formats := make([]*pgconn.StatementDescription, len(all)), make([][][]byte, len(all)), make([][]int16, len(all))
	for i, one := range all {
		var err error
		if statements[i], err = c.statement(ctx, one.sql); err == nil {
			values[i], formats[i], err = encoded(one.args)
		}
		if err != nil {
			return 0, err
		}
	}
	p := c.StartPipeline(ctx)
	for i := range all {
		p.SendQueryStatement(statements[i], values[i], formats[i], nil)
	}
	err := p.Sync()
	var changed int64
	if err == nil {
		var first any
		if first, err = p.GetResults(); err == nil {
			tag, failed := first.(*pgconn.ResultReader).Close()
			changed, err = tag.RowsAffected(), failed
		}
	}
	if closing := p.Close(); err == nil { // later errors are consequences, and may say that nothing was sent
		err = closing
	}
	return changed, err
}

// Query executes a statement. Its rows must be closed before the connection is used again.
func (c *conn) Query(ctx context.Context, sql string, args ...any) (*rows, error) {
	s, err := c.statement(ctx, sql)
	if err != nil {
		return nil, err
	}
	values, formats, err := encoded(args)
	if err != nil {
		return nil, err
	}
	shown := make([]int16, len(s.Fields))
	for i, f := range s.Fields {
		if _, ok := binaries[f.DataTypeOID]; ok {
			shown[i] = 1
		}
	}
	return &rows{c: c, sql: sql, fields: s.Fields, in: c.ExecStatement(ctx, s, values, formats, shown)}, nil
}

// rows are what a statement returns.
type rows struct {
	c       *conn
	sql     string
	fields  []pgconn.FieldDescription
	in      *pgconn.ResultReader
	closed  bool
	changed int64
	err     error
}

// Next moves on to the next row; false: there is none, or Err is not nil.
func (r *rows) Next() bool {
	if !r.closed && r.in.NextRow() {
		return true
	}
	r.Close()
	return false
}

// Scan copies the row into what dest points to.
func (r *rows) Scan(dest ...any) error {
	values := r.in.Values()
	if len(values) != len(dest) || len(values) != len(r.fields) {
		return fmt.Errorf("a row has %d values, not %d", len(values), len(dest))
	}
	for i, f := range r.fields {
		if err := decode(f.DataTypeOID, values[i], dest[i]); err != nil { //nolint:gosec // the lengths are equal
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	return nil
}

// Close skips the rest of the rows.
func (r *rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	tag, err := r.in.Close()
	r.changed, r.err = tag.RowsAffected(), err
	if s := state(err); s == "0A000" || s == "26000" { // the tables have changed, or the server has forgotten the statement
		delete(r.c.known, r.sql)
	}
}

// Err is the error of a statement whose rows are closed.
func (r *rows) Err() error { return r.err }

// errNoRows says that a statement returned no row.
var errNoRows = errors.New("the statement returned no row")

// A row is the first row of a statement.
type row struct {
	all *rows
	err error
}

// Scan copies the row, and closes the statement.
func (r *row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.all.Close()
	if !r.all.Next() {
		if err := r.all.Err(); err != nil {
			return err
		}
		return errNoRows
	}
	err := r.all.Scan(dest...)
	r.all.Close()
	if failed := r.all.Err(); failed != nil {
		return failed
	}
	return err
}
