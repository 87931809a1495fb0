package sqlite

import "time"

// A snapshot is the writer's view of the database after its last transaction. SQLite takes
// a snapshot when a transaction begins and releases it at the end. That is four of the six
// lock operations of a commit, and costs more than the write. So the snapshot is kept from
// one transaction to the next, as long as they follow each other closely and no other
// process writes. If another process has written since, SQLite refuses to begin a
// transaction on the snapshot (https://sqlite.org/rescode.html#busy_snapshot), and the
// transaction begins without it.
//
// Data that a snapshot can read cannot be overwritten. So the snapshot is released before
// the write-ahead log is emptied, and when the writer is idle: other processes that empty
// the log meanwhile cannot go past the snapshot.
type snapshot struct {
	held  bool        // a statement holds the snapshot
	due   bool        // the log must be emptied
	timer *time.Timer // fires when the writer may be idle
	armed bool        // the timer is set
	seen  uint64      // the writer's transactions when the timer was set
}

// idleAfter is the time without writes after which the writer counts as idle, or up to twice that.
const idleAfter = 5 * time.Millisecond

// hold keeps the snapshot of the current transaction.
func (w *writer) hold() error {
	w.held = w.stmts.read.Step()
	return w.stmts.read.Err()
}

// releaseSnapshot releases the snapshot.
func (w *writer) releaseSnapshot() {
	w.held = false
	_ = w.stmts.read.Reset() // which repeats the error of Step
}

// empty moves the log into the file, as far as no reader needs it; the rest is moved after the next
// commit.
func (w *writer) empty() {
	w.due = false
	w.releaseSnapshot()
	_ = w.c.Exec(`PRAGMA wal_checkpoint(PASSIVE)`)
}

// armTimer sets the timer. It is not stopped between transactions: setting it each time
// costs more than an occasional needless firing.
func (w *writer) armTimer() {
	if w.held && !w.armed {
		w.armed, w.seen = true, w.own.Load()
		w.timer.Reset(idleAfter)
	}
}

// releaseIfIdle releases the snapshot unless this process wrote since the timer was set.
func (w *writer) releaseIfIdle() {
	w.mu.Lock()
	if w.busy {
		w.timer.Reset(idleAfter)
		w.mu.Unlock()
		return
	}
	w.busy = true
	w.mu.Unlock()
	w.armed = false
	if w.held && !w.closed {
		if w.seen == w.own.Load() {
			w.releaseSnapshot()
		}
		w.armTimer()
	}
	w.pass()
}
