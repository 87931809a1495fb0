package memory

import (
	"bytes"
	"time"

	"github.com/pawl-run/pawl"
)

// A record is an entry of a log, without the run and the seq, which are the log's.
type record struct {
	what     any   // a pawl.Event, encoded when it is read; or the bytes of the entry
	time     int64 // nanoseconds since 1970
	at, turn uint32
}

func recordOf(e *pawl.Entry) record {
	return record{e.Event, e.Time.UnixNano(), uint32(e.At), uint32(e.Iteration)}
}

// encoded returns the bytes of the record. They belong to the caller.
func (r *record) encoded(run string, seq uint64) ([]byte, error) {
	if data, ok := r.what.([]byte); ok {
		return bytes.Clone(data), nil
	}
	e := pawl.Entry{Run: run, Seq: seq, At: uint64(r.at), Time: time.Unix(0, r.time), Iteration: int(r.turn), Event: r.what.(pawl.Event)}
	return e.AppendJSON(nil)
}
