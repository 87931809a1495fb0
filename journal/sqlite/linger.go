package sqlite

import "time"

// A snapshot is the writer's right to read what it wrote last. SQLite takes one
// when a transaction begins and gives it up at its end, which are four of the six
// locks that a commit sets and lifts, and dearer than its write. So it is kept from
// one transaction to the next as long as they follow each other closely and nobody
// else writes. On a snapshot a transaction is refused to begin if somebody else
// writes or has written since (https://sqlite.org/rescode.html#busy_snapshot), and
// then it begins without.
//
// What somebody may read cannot be overwritten, so the snapshot is let go of before
// the write-ahead log is emptied, and when the writer rests: others who empty the
// log meanwhile get no further than the snapshot.
type snapshot struct {
	held  bool        // by a statement that has begun
	due   bool        // the log is to be emptied
	clock *time.Timer // rings when the writer rests
	rings bool        // it is set
	seen  uint64      // the writer's transactions when it was set
}

// rests is how long nobody wrote when the writer is said to rest, or twice that.
const rests = 5 * time.Millisecond

// hold keeps what the transaction that has begun reads.
func (w *writer) hold() error {
	w.held = w.stmts.read.Step()
	return w.stmts.read.Err()
}

// letGo gives the snapshot up.
func (w *writer) letGo() {
	w.held = false
	_ = w.stmts.read.Reset() // which says what came of its step, once more
}

// empty moves the log into the file, as far as nobody reads it; what cannot be
// moved now is moved after the next commit.
func (w *writer) empty() {
	w.due = false
	w.letGo()
	_ = w.c.Exec(`PRAGMA wal_checkpoint(PASSIVE)`)
}

// mind sets the clock that rings when the writer rests. It is not stopped between
// transactions: setting it each time costs more than having it ring in vain.
func (w *writer) mind() {
	if w.held && !w.rings {
		w.rings, w.seen = true, w.own.Load()
		w.clock.Reset(rests)
	}
}

// rest lets go of the snapshot unless somebody wrote since the clock was set.
func (w *writer) rest() {
	w.mu.Lock()
	if w.busy {
		w.clock.Reset(rests)
		w.mu.Unlock()
		return
	}
	w.busy = true
	w.mu.Unlock()
	w.rings = false
	if w.held && !w.closed {
		if w.seen == w.own.Load() {
			w.letGo()
		}
		w.mind()
	}
	w.pass()
}
