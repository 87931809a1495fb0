package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// A frame is one event of a stream ("Server-sent events", HTML standard, section 9.2). One
// without data is a comment, which servers send as heartbeat.
type frame struct {
	event string
	data  []byte
	retry time.Duration // the server's reconnection time
}

// frames reads the events of a stream.
type frames struct {
	in    *bufio.Reader
	most  int64 // bytes of a frame
	begun bool  // a line was read; a byte order mark is allowed only before the first
	cr    bool  // the last line ended with a CR, to which an LF may belong
}

var errFrameTooLarge = errors.New("an event of the stream is too large")

// next returns the next frame; io.EOF if the stream ends between frames, and
// io.ErrUnexpectedEOF if it ends within one.
func (f *frames) next() (frame, error) {
	var out frame
	size, begun, hasData := int64(0), false, false
	for {
		line, err := f.line(f.most - size)
		if err != nil {
			if errors.Is(err, io.EOF) && (begun || len(line) > 0) {
				err = io.ErrUnexpectedEOF
			}
			return frame{}, err
		}
		size += int64(len(line))
		if len(line) == 0 {
			if hasData {
				out.data = out.data[:len(out.data)-1]
			}
			return out, nil
		}
		begun = true
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			out.event = string(value)
		case "data":
			out.data = append(append(out.data, value...), '\n')
			hasData = true
		case "retry":
			if ms, ok := digits(value); ok {
				out.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// line returns the next line without its end: LF, CR LF or CR.
func (f *frames) line(most int64) ([]byte, error) {
	var line []byte
	for {
		b, err := f.in.ReadByte()
		if err != nil {
			return line, err
		}
		if f.cr && b == '\n' {
			f.cr = false
			continue
		}
		f.cr = b == '\r'
		if b == '\r' || b == '\n' {
			if !f.begun {
				f.begun = true
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			return line, nil
		}
		if line = append(line, b); int64(len(line)) > most {
			return nil, errFrameTooLarge
		}
	}
}

// digits parses a number of milliseconds; it fails above eleven days.
func digits(b []byte) (n int64, ok bool) {
	for _, d := range b {
		if d < '0' || d > '9' || n >= 1e8 {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, len(b) > 0
}
