package spool

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"time"
)

// Begin records that a command is about to be started, and by which process.
type Begin struct {
	Attempt
	Supervisor string        `json:"supervisor"` // the identity of the process that runs it
	Argv       string        `json:"argv"`       // digest
	At         time.Time     `json:"at"`
	Timeout    time.Duration `json:"timeout"`
}

// Exit records how a command ended and what it printed.
type Exit struct {
	Code    int           `json:"code"`
	Signal  string        `json:"signal,omitempty"`
	Refused *Refusal      `json:"refused,omitempty"` // why it could not be started
	Error   string        `json:"error,omitempty"`   // any other error
	Cut     Cut           `json:"cut,omitempty"`
	Out     Said          `json:"out"`
	Err     Said          `json:"err"`
	Took    time.Duration `json:"took"`
}

// Refusal is why a command could not be started.
type Refusal struct {
	Program string `json:"program"`
	Reason  string `json:"reason"`
}

// Cut is why a command was ended early.
type Cut int

// The reasons; zero: it was not ended early.
const (
	Late    Cut = 1 + iota // it timed out
	Stopped                // it was cancelled
)

// Said is what a command printed on one stream, as an excerpt.
type Said struct {
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
	Total     int64  `json:"total"`
	Digest    string `json:"digest"` // SHA-256 of all of it
}

// Fate is the content of an attempt's file.
type Fate struct {
	Begin   *Begin
	Process string // the command's identity; empty: unknown
	Exit    *Exit
	Never   *Attempt
	Stop    bool // somebody but its supervisor ends the command, see [Dir.Stop]
}

// attempt returns the attempt that the file is about.
func (f Fate) attempt() (Attempt, bool) {
	switch {
	case f.Begin != nil:
		return f.Begin.Attempt, true
	case f.Never != nil:
		return *f.Never, true
	}
	return Attempt{}, false
}

// About reports whether the file is about this attempt.
func (f Fate) About(a Attempt) bool {
	is, ok := f.attempt()
	return ok && is == a
}

// record is one record of a file.
type record struct {
	Begin   *Begin   `json:"begin,omitempty"`
	Process string   `json:"process,omitempty"`
	Exit    *Exit    `json:"exit,omitempty"`
	Never   *Attempt `json:"never,omitempty"`
	Stop    bool     `json:"stop,omitempty"`
}

// A File is the file of a running attempt.
type File struct{ f *os.File }

// Running records the command's process. It is not synced: no process outlives
// the loss of unsynced data.
func (f *File) Running(process string) error { return write(f.f, record{Process: process}) }

// Exited records how the command ended; from here on others can read it.
func (f *File) Exited(e *Exit) error { return write(f.f, record{Exit: e}) }

// Close syncs the file.
func (f *File) Close() error {
	err := f.f.Sync()
	if e := f.f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// Records are framed: the length of the content, and the CRC-32C (Castagnoli)
// of length and content, both as four bytes in little-endian order.
const frame = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write appends a record in one write.
func write(f *os.File, r record) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	data := binary.LittleEndian.AppendUint32(make([]byte, 0, frame+len(content)), uint32(len(content)))
	data = binary.LittleEndian.AppendUint32(data, checksum(data, content))
	_, err = f.Write(append(data, content...))
	return err
}

func checksum(length, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(length[:4], castagnoli), castagnoli, content)
}

// parse reads the longest valid prefix.
func parse(data []byte) (f Fate) {
	for len(data) >= frame {
		n := uint64(binary.LittleEndian.Uint32(data))
		if n > uint64(len(data)-frame) {
			break
		}
		content := data[frame : frame+int(n)]
		var r record
		if checksum(data, content) != binary.LittleEndian.Uint32(data[4:]) || json.Unmarshal(content, &r) != nil {
			break
		}
		f.add(r)
		data = data[frame+int(n):]
	}
	return f
}

// add adds the first record of each kind. Of the two records that decide the
// attempt, the earlier one counts.
func (f *Fate) add(r record) {
	if f.Never != nil {
		return
	}
	if f.Begin == nil {
		f.Begin, f.Never = r.Begin, r.Never
	}
	f.Process = cmp.Or(f.Process, r.Process)
	f.Stop = f.Stop || r.Stop && f.Exit == nil
	if f.Exit == nil {
		if f.Exit = r.Exit; f.Stop && f.Exit != nil && f.Exit.Cut == 0 { // its supervisor did not know
			f.Exit.Cut = Stopped
		}
	}
}
