package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A view is what a connection that may write nothing was opened on. SQLite
// cannot read a write-ahead log without an index it shares with the writers. So
// as long as there is a log, such a connection takes part in that index; when
// there is none, nobody has the database open, and it is read as a file that does
// not change, for otherwise SQLite would want to make a log. The zero view is
// that of a connection that may write.
type view struct {
	live bool      // somebody writes, or was killed
	at   time.Time // of the last change, when nobody does
	size int64
}

// look says how a database can be read now.
func look(path string) (view, error) {
	file, err := os.Stat(path)
	if err != nil {
		return view{}, err
	}
	log, err := os.Stat(path + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && log.Size() == 0:
		return view{at: file.ModTime(), size: file.Size()}, nil
	case err != nil:
		return view{}, err
	}
	index, err := os.Open(path + "-shm")
	if err != nil { // SQLite would try to make one, for somebody else to stumble over
		return view{}, fmt.Errorf("what is newest stands in %s-wal, which cannot be read without its index: %w; have somebody open it who may write there, or copy it with that file to a place of your own", path, err)
	}
	return view{live: true}, index.Close()
}

// params are the parameters of the connection.
func (v view) params() string {
	switch {
	case v.live:
		return "mode=ro"
	case !v.at.IsZero():
		return "mode=ro&immutable=1"
	}
	return ""
}
