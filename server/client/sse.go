package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
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
	lines *bufio.Scanner
	most  int // bytes of a frame
}

func framesOf(in io.Reader, most int) *frames {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, most+2) // the end of the line
	return &frames{lines, most}
}

var errFrameTooLarge = errors.New("an event of the stream is too large")

// next returns the next frame; io.EOF if the stream ends between frames, and
// io.ErrUnexpectedEOF if it ends within one.
func (f *frames) next() (out frame, err error) {
	size, begun := 0, false
	for f.lines.Scan() {
		line := f.lines.Bytes()
		if len(line) == 0 {
			out.data = bytes.TrimSuffix(out.data, []byte("\n"))
			return out, nil
		}
		if size += len(line); size > f.most {
			return frame{}, errFrameTooLarge
		}
		begun = true
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			out.event = string(value)
		case "data":
			out.data = append(append(out.data, value...), '\n')
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				out.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	switch err := f.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return frame{}, errFrameTooLarge
	case err != nil:
		return frame{}, err
	case begun:
		return frame{}, io.ErrUnexpectedEOF
	}
	return frame{}, io.EOF
}
