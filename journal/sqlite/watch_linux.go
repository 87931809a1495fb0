package sqlite

import (
	"os"
	"time"
)

// pollEvery is how often the log is looked at while somebody listens.
const pollEvery = 25 * time.Millisecond

// index reads the header from the file, which all processes map. Its locks belong to the open
// file and not to the process, so opening and closing the file releases none.
func (o *outside) index() (now index, ok bool) {
	f, err := os.Open(o.path + "-shm")
	if err != nil {
		return now, os.IsNotExist(err) // no process has written since the log was emptied
	}
	n, err := f.ReadAt(now[:], 0)
	return now, f.Close() == nil && (err == nil || n == 0)
}
