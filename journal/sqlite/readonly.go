package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A view is the state of the file when a read-only connection was opened. SQLite cannot
// read a write-ahead log without an index that it shares with the writers. So as long as
// there is a log, such a connection takes part in that index. If there is no log, no
// process has the database open, and it is read as a file that does not change; otherwise
// SQLite would try to make a log. The zero view is that of a connection that may write.
type view struct {
	live bool      // a process writes, or was killed
	at   time.Time // of the last change, if no process writes
	size int64
}

// look returns how a database can be read now.
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
	// Without these SQLite would try to make them, which could disturb other processes.
	for name, flag := range map[string]int{path + "-wal": os.O_RDWR, path + "-shm": os.O_RDONLY} {
		f, err := os.OpenFile(name, flag, 0)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return view{}, fmt.Errorf("the newest entries are in %s-wal, which SQLite reads only with write permission and with its index: %w; open the database as a user with write permission, or copy the files to a directory of your own", path, err)
		}
	}
	return view{live: true}, nil
}

// params returns the parameters of the connection.
func (v view) params() string {
	switch {
	case v.live:
		return "mode=ro"
	case !v.at.IsZero():
		return "mode=ro&immutable=1"
	}
	return ""
}
