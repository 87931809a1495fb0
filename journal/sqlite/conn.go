package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/pawl-run/pawl/internal/retry"
)

// A conn is one connection with its compiled statements; only one goroutine uses it at a time.
type conn struct {
	*sqlite3.Conn

	ctx   context.Context // bounds how long the current user waits for locks
	stmts map[string]*sqlite3.Stmt
}

// connect opens a connection with the settings that every connection needs. The context of
// the current user bounds how long it waits for another process; no fixed time would suit
// all users.
func connect(ctx context.Context, path string, o *Options, v view) (*conn, error) {
	params := v.params()
	if params == "" { // the log beside the database gets the mode of the database
		params = "modeof=" + url.PathEscape(path)
	}
	if o.vfs != "" {
		params += "&vfs=" + o.vfs
	}
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // a drive letter
	}
	db, err := sqlite3.OpenContext(ctx, "file://"+(&url.URL{Path: name}).EscapedPath()+"?"+params)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: db, ctx: ctx, stmts: make(map[string]*sqlite3.Stmt)}
	err = c.BusyHandler(func(_ context.Context, n int) bool { return pause(c.ctx, n) })
	if err := errors.Join(err, fts5.Register(db)); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// pause sleeps a little, longer each time, and reports whether to try again. Commits take
// 20 µs to a few ms, so the first pause is short.
func pause(ctx context.Context, n int) bool {
	return retry.Wait(ctx, min(time.Duration(n+1)*100*time.Microsecond, 5*time.Millisecond))
}

// close finalizes all statements first; otherwise SQLite refuses to close.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Close())...)
}

// rollback ends a failed transaction, unless SQLite has done so already.
func (c *conn) rollback() error {
	if c.GetAutocommit() {
		return nil
	}
	return c.Exec(`ROLLBACK`)
}

// query runs a statement and calls row for each row until row returns false. The texts come
// from a small fixed set, so the statements are kept compiled.
func (c *conn) query(sql string, row func(s *sqlite3.Stmt) (more bool, err error), args ...any) (err error) {
	s := c.stmts[sql]
	if s == nil {
		if s, _, err = c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT); err != nil {
			return fmt.Errorf("%w in %s", err, sql)
		}
		c.stmts[sql] = s
	}
	if err := bind(s, args); err != nil {
		return err
	}
	for more := true; more && err == nil && s.Step(); {
		more, err = row(s)
	}
	if err == nil {
		err = s.Err()
	}
	if reset := s.Reset(); err == nil { // which repeats the error of Step
		err = reset
	}
	return errors.Join(err, s.ClearBindings())
}

// first runs a statement and calls row for its first row, if there is one.
func (c *conn) first(sql string, row func(s *sqlite3.Stmt), args ...any) (found bool, err error) {
	err = c.query(sql, func(s *sqlite3.Stmt) (bool, error) {
		found = true
		row(s)
		return false, nil
	}, args...)
	return found, err
}

// exec runs a statement without a result.
func (c *conn) exec(sql string, args ...any) error {
	return c.query(sql, func(*sqlite3.Stmt) (bool, error) { return true, nil }, args...)
}

// number runs a query whose result is one number.
func (c *conn) number(sql string) (n int, err error) {
	_, err = c.first(sql, func(s *sqlite3.Stmt) { n = s.ColumnInt(0) })
	return n, err
}

// bind sets the parameters of s from the first on.
func bind(s *sqlite3.Stmt, args []any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case int:
			err = s.BindInt(i+1, a)
		case int32:
			err = s.BindInt64(i+1, int64(a))
		case int64:
			err = s.BindInt64(i+1, a)
		case uint64:
			err = s.BindInt64(i+1, int64(a))
		case bool:
			err = s.BindBool(i+1, a)
		case float64:
			err = s.BindFloat(i+1, a)
		case string:
			err = s.BindText(i+1, a)
		case []byte:
			err = s.BindBlob(i+1, a)
		case time.Time:
			if a.IsZero() {
				err = s.BindNull(i + 1)
			} else {
				err = s.BindInt64(i+1, nanos(a))
			}
		default:
			err = fmt.Errorf("parameter %d is a %T", i+1, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nanos returns t in nanoseconds since 1970. Times outside the years 1678 to 2262 become
// the nearest end.
func nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// instant reads a time that bind wrote.
func instant(s *sqlite3.Stmt, col int) time.Time {
	if s.ColumnType(col) == sqlite3.NULL {
		return time.Time{}
	}
	return time.Unix(0, s.ColumnInt64(col)).UTC()
}
