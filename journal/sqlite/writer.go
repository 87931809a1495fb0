package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl/internal/bell"
)

// A writer is the one connection of this process that writes. A caller that finds no leader
// becomes the leader: it begins a transaction, includes the requests that arrived
// meanwhile, commits, answers them, and appoints the next leader. So a lone caller commits
// by itself, without waking a goroutine, and many callers share commits, which determines
// the throughput of a slow disk.
type writer struct {
	mu    sync.Mutex
	busy  bool // there is a leader
	queue []*request

	// The following fields belong to the leader.
	c      *conn
	log    *wal
	closed bool
	stmts  statements
	known  map[string]*known
	data   any    // SQLite's count of changes to the file, as of our last commit
	view   uint64 // increases when another process has changed it
	alone  bool   // no other process had when the transaction began
	joined []byte // memory for the records of a batch
	sizes  []byte // memory for their sizes

	snapshot

	logs *bell.Bell
	own  atomic.Uint64 // transactions begun and ended here: odd while there is one
}

// A request is one call's part of a transaction. It checks before it writes: a refusal
// leaves nothing behind, so that the other requests of the transaction can continue.
type request struct {
	ctx  context.Context
	do   func(w *writer) (refusal, broken error)
	err  error
	turn chan bool // true: lead, false: done; nil for the first leader
}

// most bounds the requests of a transaction, so that the first one does not wait for too
// many others.
const most = 256

func prepare(ctx context.Context, c *conn, o *Options) (*writer, error) {
	sync := "FULL"
	if o.Normal {
		sync = "NORMAL"
	}
	// Before the first commit: if creating the tables did not wait for the disk, a later
	// failed sync could lose them, and with them everything written after them.
	if err := c.Exec(`PRAGMA synchronous = ` + sync); err != nil {
		return nil, err
	}
	if err := create(ctx, c); err != nil {
		return nil, err
	}
	if err := c.Exec(`PRAGMA foreign_keys = ON`); err != nil {
		return nil, err
	}
	// A backup has no log yet: the first read opens it.
	if _, err := c.number(`SELECT count(*) FROM sqlite_schema`); err != nil {
		return nil, err
	}
	file, err := c.FileControl("main", sqlite3.FCNTL_JOURNAL_POINTER)
	if err != nil {
		return nil, err
	}
	w := &writer{c: c, log: file.(*wal), known: make(map[string]*known)}
	w.timer = time.AfterFunc(math.MaxInt64, w.releaseIfIdle)
	// The log is emptied every 4 MB, as it is with SQLite's own page size.
	most := cmp.Or(o.pages, 2000)
	c.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		w.due = pages >= most
		return nil
	})
	return w, w.stmts.prepare(c)
}

// write runs do in a transaction and returns when the transaction is durable, or do's
// refusal. Once the transaction has begun, the context no longer counts; the rest takes as
// long as the disk does.
func (w *writer) write(ctx context.Context, do func(w *writer) (refusal, broken error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, do: do}
	w.mu.Lock()
	if w.busy {
		r.turn = make(chan bool, 1)
		w.queue = append(w.queue, r)
		w.mu.Unlock()
		if done, err := w.wait(r); done {
			return err
		}
	} else {
		w.busy = true
		w.mu.Unlock()
	}
	w.lead(r)
	return r.err
}

// wait waits for an answer to r. It reports done when r was answered or its context ended
// in the queue, and not done when r must lead.
func (w *writer) wait(r *request) (done bool, err error) {
	select {
	case lead := <-r.turn:
		return !lead, r.err
	case <-r.ctx.Done():
	}
	w.mu.Lock()
	i := slices.Index(w.queue, r)
	if i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
	w.mu.Unlock()
	if i >= 0 {
		return true, r.ctx.Err()
	}
	// r is being written or was just appointed, so the answer comes soon.
	lead := <-r.turn
	return !lead, r.err
}

func (w *writer) lead(r *request) {
	group := []*request{r}
	if r.err = w.begin(r.ctx); r.err == nil {
		w.mu.Lock()
		n := min(len(w.queue), most-1)
		group = append(group, w.queue[:n]...)
		w.queue = slices.Delete(w.queue, 0, n)
		w.mu.Unlock()
		w.transact(group)
	}
	w.pass()
	for _, other := range group[1:] {
		other.turn <- false
	}
}

// pass appoints the next leader.
func (w *writer) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.busy = false
		return
	}
	next := w.queue[0]
	w.queue = slices.Delete(w.queue, 0, 1)
	next.turn <- true
}

// begin acquires the lock that all processes share.
func (w *writer) begin(ctx context.Context) (began error) {
	if w.closed {
		return errClosed
	}
	w.c.ctx = ctx
	w.own.Add(1)
	defer func() {
		if began != nil {
			w.own.Add(1)
		}
	}()
	err := w.stmts.begin.Exec()
	if w.held && errors.Is(err, sqlite3.BUSY) {
		w.releaseSnapshot()
		err = w.stmts.begin.Exec()
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("another process is writing to the database: %w", ctx.Err())
	}
	if err != nil {
		return err
	}
	data, err := w.c.FileControl("", sqlite3.FCNTL_DATA_VERSION)
	if err != nil {
		return errors.Join(err, w.c.rollback())
	}
	if w.alone = data == w.data; !w.alone {
		w.view++
		w.logs.Ring("")
	}
	return nil
}

// transact runs a group in the current transaction. If the database fails, each request
// gets its own transaction, so that an error caused by one of them (a batch too large for
// the disk) is only its own.
func (w *writer) transact(group []*request) {
	err := w.try(group)
	if err == nil {
		return
	}
	if len(group) == 1 {
		group[0].err = err
		return
	}
	for _, r := range group {
		if r.err = w.begin(r.ctx); r.err == nil {
			if err := w.try([]*request{r}); err != nil {
				r.err = err
			}
		}
	}
}

func (w *writer) try(group []*request) (err error) {
	defer w.own.Add(1)
	for _, r := range group {
		if r.err, err = r.do(w); err != nil {
			break
		}
	}
	if err == nil && !w.held && w.alone {
		err = w.hold()
	}
	if err == nil {
		w.log.commit(true)
		err = w.stmts.commit.Exec()
		w.log.commit(false)
	}
	if err == nil && w.due {
		w.empty()
	}
	if err == nil {
		w.data, err = w.c.FileControl("", sqlite3.FCNTL_DATA_VERSION)
	}
	if err != nil {
		clear(w.known) // it may describe what was not written
		w.releaseSnapshot()
		return errors.Join(err, w.c.rollback())
	}
	w.armTimer()
	return nil
}

// close waits for its turn and then closes the connection. Later requests fail.
func (w *writer) close() error {
	err := w.write(context.Background(), func(w *writer) (error, error) {
		w.closed = true
		return nil, nil
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	// No transaction begins once closed is set, so the connection is not in use.
	return errors.Join(err, w.c.close())
}

// statements are the writer's statements, compiled once.
type statements struct {
	read, begin, commit, find, end, insert, head *sqlite3.Stmt
	lease, create, own, labels                   *sqlite3.Stmt
	signal, send, blob, stored                   *sqlite3.Stmt
}

func (s *statements) prepare(c *conn) error {
	for _, p := range []struct {
		into **sqlite3.Stmt
		sql  string
	}{
		{&s.read, `PRAGMA user_version`},
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		{&s.find, `SELECT ref FROM runs WHERE id = ?`},
		{&s.end, `SELECT epoch, (SELECT max(id) FROM batches WHERE id > ref << 32 AND id <= (ref << 32) + 4294967295) FROM runs WHERE ref = ?`},
		{&s.insert, `INSERT INTO batches (id, iterations, cost, priced, updated, sizes, crc, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.head, `UPDATE runs SET status = ?2, agent = ?3, loop = ?4, labels = ?5, thread = ?6, parent = ?7, origin = ?8, created = ?9, wake_at = ?10 WHERE ref = ?1`},
		{&s.labels, `SELECT labels FROM runs WHERE ref = ?`},
		{&s.lease, `SELECT ref, owner, epoch, until FROM runs WHERE id = ?`},
		{&s.create, `INSERT INTO runs (ref, id, owner, epoch, until) VALUES
			((SELECT max(run, coalesce((SELECT max(ref) FROM runs), 0)) + 1 FROM removed), ?, ?, ?, ?)`},
		{&s.own, `UPDATE runs SET owner = ?2, epoch = ?3, until = ?4 WHERE ref = ?1`},
		{&s.signal, `SELECT id, sender, body, time FROM signals WHERE run = ? AND kind = ? AND request = ?`},
		{&s.send, `INSERT INTO signals (id, run, kind, request, sender, body, time) VALUES
			((SELECT max(signal, coalesce((SELECT max(id) FROM signals), 0)) + 1 FROM removed), ?, ?, ?, ?, ?, ?)`},
		{&s.blob, `INSERT INTO blobs (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING`},
		{&s.stored, `INSERT INTO stored (blob, time) SELECT ref, ? FROM blobs WHERE digest = ? ON CONFLICT DO UPDATE SET time = excluded.time`},
	} {
		var err error
		if *p.into, err = c.statement(p.sql); err != nil {
			return err
		}
	}
	return nil
}
