//go:build !linux

package sqlite

import (
	"context"
	"encoding/binary"
	"os"
	"time"
)

// touches does nothing: on these systems the log is polled.
func (o *outside) touches(context.Context, chan<- struct{}) time.Duration {
	return 100 * time.Millisecond
}

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
