package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrEventTooLong is the error for an event with more bytes than its reader takes.
var ErrEventTooLong = errors.New("an event of the stream is too large")

// ErrHalfEvent is the error for a stream that ended inside an event. It is an
// [io.ErrUnexpectedEOF], which also stands for a broken connection.
var ErrHalfEvent = fmt.Errorf("the stream ended inside an event: %w", io.ErrUnexpectedEOF)

// Events reads the data of server-sent events by the parsing rules of the HTML
// standard (9.2.6): lines end in LF, CRLF or CR, a byte order mark may come
// first, a line that begins with a colon is a comment, the data lines of an
// event are joined by LF, and an empty line ends an event. Names, ids and retry
// times are ignored.
//
// As an extension, lines that are not fields but together form a JSON object
// are an event: some servers send an error this way before they end the stream.
type Events struct {
	r     *bufio.Reader
	most  int // bytes of an event
	begun bool
	cr    bool // the last line ended in CR, so a following LF belongs to it
	data  bytes.Buffer
	some  bool // a data line was received
	stray bytes.Buffer
}

// NewEvents returns a reader of the events of a body, each of at most so many bytes.
func NewEvents(r io.Reader, most int) *Events { return &Events{r: bufio.NewReader(r), most: most} }

// Next returns the data of the next event, valid until the next call. The error
// is [io.EOF] after an orderly end, and [ErrHalfEvent] after an end inside an
// event.
func (e *Events) Next() ([]byte, error) {
	e.data.Reset()
	e.stray.Reset()
	e.some = false
	for {
		line, err := e.line()
		if !e.begun {
			e.begun = true
			line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
		}
		if len(line) > 0 {
			e.take(line)
		}
		switch {
		case e.data.Len()+e.stray.Len() > e.most:
			return nil, ErrEventTooLong
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case err == nil && len(line) > 0:
			continue
		case err == nil && e.some:
			return bytes.TrimSuffix(e.data.Bytes(), []byte("\n")), nil
		case e.stray.Len() > 0 && e.stray.Bytes()[0] == '{' && json.Valid(e.stray.Bytes()):
			return e.stray.Bytes(), nil
		case err == nil:
			e.stray.Reset()
		case e.some || len(line) > 0:
			return nil, ErrHalfEvent
		default:
			return nil, err
		}
	}
}

func (e *Events) take(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
		e.data.Write(bytes.TrimPrefix(value, []byte(" ")))
		e.data.WriteByte('\n')
		e.some = true
	case "", "event", "id", "retry":
	default:
		e.stray.Write(line)
		e.stray.WriteByte('\n')
	}
}

// line returns the next line; with an error, the partial line.
func (e *Events) line() ([]byte, error) {
	var line []byte
	for {
		c, err := e.r.ReadByte()
		switch {
		case err != nil:
			return line, err
		case c == '\n' && e.cr && len(line) == 0:
			e.cr = false
		case c == '\n', c == '\r':
			e.cr = c == '\r'
			return line, nil
		default:
			e.cr = false
			if line = append(line, c); len(line) > e.most {
				return nil, ErrEventTooLong
			}
		}
	}
}
