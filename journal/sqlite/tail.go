package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Dropped returns how much of the write-ahead log was ignored when the journal was opened,
// because it does not end in a commit: in bytes, and in commits. A process or a computer
// that dies during a write leaves some bytes and at most one commit, which was not yet
// reported as durable. If there are more commits, they were durable once, unless a process
// wrote with [Options.Normal]: the log was damaged, and their content is lost.
func (j *Journal) Dropped() (bytes int64, commits int) { return j.tail.bytes, j.tail.commits }

// A tail is the part of a write-ahead log after its last whole commit.
type tail struct {
	bytes   int64
	commits int
}

// The parts of a write-ahead log; see https://sqlite.org/fileformat2.html#walformat
const (
	walHeader = 32
	walMagic  = 0x377f0682 // plus one if checksums use big-endian words
	walOldest = 512        // the smallest page
	walNewest = 65536      // the largest page
)

// tailOf finds the tail of the log of the database at path. SQLite finds the same last
// commit but does not report what it ignores. Frames of an earlier round, which have other
// salts than the header, do not count.
func tailOf(path string) (t tail, err error) {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	log, err := io.ReadAll(f)
	if err != nil || len(log) == 0 {
		return t, err
	}
	sum, size, sound := opening(log)
	if size == 0 {
		return tail{bytes: int64(len(log))}, nil
	}
	salts := log[16:24]
	if first := walHeader + 8; !sound && len(log) >= first+8 { // the header is damaged
		salts = log[first : first+8]
	}
	end := walHeader
	for at := walHeader; at < len(log); at += frameHeader + size {
		frame := log[at:min(at+frameHeader+size, len(log))]
		if len(frame) >= 16 && string(frame[8:16]) != string(salts) {
			sound = false
			// Both salts differ in an earlier round; if only one does, it was damaged.
			if string(frame[8:12]) != string(salts[:4]) && string(frame[12:16]) != string(salts[4:]) {
				continue
			}
		}
		if whole := len(frame) == frameHeader+size; sound && whole {
			sum.add(frame[:8])
			sum.add(frame[frameHeader:])
			sound = sum.is(frame[16:frameHeader])
		} else {
			sound = false
		}
		commits := len(frame) >= 8 && binary.BigEndian.Uint32(frame[4:]) != 0
		if commits && sound {
			end = at + len(frame)
			t = tail{}
			continue
		}
		if commits {
			t.commits++
		}
		t.bytes = int64(at + len(frame) - end)
	}
	return t, nil
}

// tail looks again while no process writes, since a write in progress is not a tail. It
// runs before the first write of this process, which may overwrite the tail.
func (c *conn) tail(path string) (t tail, err error) {
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return t, err
	}
	t, err = tailOf(path)
	return t, errors.Join(err, c.rollback())
}

// opening reads the header of a log: the page size, zero if unknown, and whether its
// checksum is right.
func opening(log []byte) (sum walSum, size int, sound bool) {
	if len(log) < walHeader {
		return sum, 0, false
	}
	size = int(binary.BigEndian.Uint32(log[8:]))
	if size < walOldest || size > walNewest || size&(size-1) != 0 {
		return sum, 0, false
	}
	sum.big = binary.BigEndian.Uint32(log) == walMagic+1
	sum.add(log[:24])
	return sum, size, sum.is(log[24:walHeader]) && binary.BigEndian.Uint32(log)|1 == walMagic|1
}

// walSum is the running checksum of a log.
type walSum struct {
	big  bool
	a, b uint32
}

func (s *walSum) add(data []byte) {
	word := binary.LittleEndian.Uint32
	if s.big {
		word = binary.BigEndian.Uint32
	}
	for ; len(data) >= 8; data = data[8:] {
		s.a += word(data) + s.b
		s.b += word(data[4:]) + s.a
	}
}

func (s *walSum) is(sum []byte) bool {
	return binary.BigEndian.Uint32(sum) == s.a && binary.BigEndian.Uint32(sum[4:]) == s.b
}
