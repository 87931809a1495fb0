package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// touches puts a token into touched when the log next to the database is written, until ctx
// ends, and returns how often to look besides. It watches the directory, since the log
// comes and goes.
func (o *outside) touches(ctx context.Context, touched chan<- struct{}) time.Duration {
	const blind = 100 * time.Millisecond
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil { // the number per user is limited
		return blind
	}
	f := os.NewFile(uintptr(fd), "inotify")
	_, err = unix.InotifyAddWatch(fd, filepath.Dir(o.path), unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO)
	if err != nil {
		_ = f.Close()
		return blind
	}
	unhook := context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		defer unhook()
		name := []byte(filepath.Base(o.path) + "-wal")
		buf := make([]byte, 16<<10)
		for {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			if about(buf[:n], name) {
				select {
				case touched <- struct{}{}:
				default:
				}
			}
		}
	}()
	return pollEvery
}

// about reports whether one of the events is about a name, or says that events were lost.
func about(events, name []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		if mask&unix.IN_Q_OVERFLOW != 0 || bytes.Equal(bytes.TrimRight(events[unix.SizeofInotifyEvent:end], "\x00"), name) {
			return true
		}
		events = events[end:]
	}
	return false
}

// index reads the header. Its locks belong to the open file and not to the process, so
// opening and closing the file releases none.
func (o *outside) index() (index, bool) { return headerOf(o.path) }
