package memory

import (
	"bytes"
	"time"

	"github.com/pawl-run/pawl"
)

// A record is an entry of a log, without the run and the seq, which are the log's.
type record struct {
	what any // a pawl.Event, encoded when it is read; or the bytes of the entry
	at   uint64
	time int64 // nanoseconds since 1970
	turn int
}

// records is a log. It grows by chunks, so that no record moves: a slice that doubles
// allocates more than twice what it holds.
type records struct {
	chunks []*[chunk]record
	n      uint64
}

const chunk = 16

func (l *records) add(r record) {
	if l.n%chunk == 0 {
		l.chunks = append(l.chunks, new([chunk]record))
	}
	*l.at(l.n) = r
	l.n++
}

func (l *records) at(i uint64) *record { return &l.chunks[i/chunk][i%chunk] }

func recordOf(e *pawl.Entry) record { return record{e.Event, e.At, e.Time.UnixNano(), e.Iteration} }

// encoded returns the bytes of the record. They belong to the caller.
func (r *record) encoded(run string, seq uint64) ([]byte, error) {
	if data, ok := r.what.([]byte); ok {
		return bytes.Clone(data), nil
	}
	e := pawl.Entry{Run: run, Seq: seq, At: r.at, Time: time.Unix(0, r.time), Iteration: r.turn, Event: r.what.(pawl.Event)}
	return e.AppendJSON(nil)
}
