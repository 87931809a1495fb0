package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// The most bytes one event may have. An event is a few words of a reply.
const maxEvent = 8 << 20

// events reads the data of server-sent events, by the parsing rules of the HTML
// standard (9.2.6): lines end in LF, CRLF or CR, a byte order mark may come
// first, a line that begins with a colon is a comment, the data lines of an
// event are joined by LF, and an event counts only once an empty line ends it.
// Names, ids and retry times are not used on this wire.
type events struct {
	r    *bufio.Reader
	data bytes.Buffer
	some bool // whether a data line has come
	cr   bool // whether the last line ended in CR, so that LF belongs to it
}

func newEvents(r io.Reader) *events {
	e := &events{r: bufio.NewReader(r)}
	if mark, err := e.r.Peek(3); err == nil && string(mark) == "\xEF\xBB\xBF" {
		_, _ = e.r.Discard(3)
	}
	return e
}

// next returns the data of the next event, valid until it is called again;
// io.EOF after the last whole one.
func (e *events) next() ([]byte, error) {
	e.data.Reset()
	e.some = false
	for {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if e.some {
				return bytes.TrimSuffix(e.data.Bytes(), []byte("\n")), nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		e.data.Write(bytes.TrimPrefix(value, []byte(" ")))
		e.data.WriteByte('\n')
		e.some = true
		if e.data.Len() > maxEvent {
			return nil, errTooLong
		}
	}
}

var errTooLong = errors.New("an event is longer than " + fmt.Sprint(maxEvent) + " bytes")

func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		c, err := e.r.ReadByte()
		switch {
		case err != nil:
			return nil, err // what has no end does not count
		case c == '\n' && e.cr && len(line) == 0:
			e.cr = false
		case c == '\n', c == '\r':
			e.cr = c == '\r'
			return line, nil
		default:
			e.cr = false
			if line = append(line, c); len(line) > maxEvent {
				return nil, errTooLong
			}
		}
	}
}
