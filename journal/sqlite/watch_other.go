//go:build !linux

package sqlite

import (
	"encoding/binary"
	"os"
	"time"
)

// pollEvery is how often the log is looked at while somebody listens.
const pollEvery = 100 * time.Millisecond

// index is the size and time of the log. The index file is not opened: where locks belong
// to the process, closing it would release them.
func (o *outside) index() (now index, ok bool) {
	info, err := os.Stat(o.path + "-wal")
	if err != nil {
		return now, os.IsNotExist(err)
	}
	binary.BigEndian.PutUint64(now[:], uint64(info.Size()))
	binary.BigEndian.PutUint64(now[8:], uint64(info.ModTime().UnixNano()))
	return now, time.Since(info.ModTime()) > 2*time.Second // two writes may have the same time
}
