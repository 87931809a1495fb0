package server

import (
	"net/http"
	"sync"
	"time"
)

// stream writes an event stream. It flushes many events at once, and gives up on clients
// that do not read. A nil stream has no client.
type stream struct {
	w    http.ResponseWriter
	to   *http.ResponseController
	buf  *[outBytes]byte // nil while empty: idle streams need no buffer
	n    int
	sent bool // something was written but not flushed
}

const outBytes = 16 << 10

var outs = sync.Pool{New: func() any { return new([outBytes]byte) }}

func newStream(w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not buffer the stream
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, to: http.NewResponseController(w)}
}

// add sends a text now or with what follows.
func (s *stream) add(text []byte) error {
	if s == nil {
		return nil
	}
	for len(text) > 0 {
		if s.buf == nil {
			s.buf = outs.Get().(*[outBytes]byte)
		}
		n := copy(s.buf[s.n:], text)
		s.n += n
		if text = text[n:]; s.n == outBytes {
			if err := s.empty(); err != nil {
				return err
			}
		}
	}
	return nil
}

// empty writes the buffer, with a new deadline.
func (s *stream) empty() error {
	if s.n == 0 {
		return nil
	}
	_ = s.to.SetWriteDeadline(time.Now().Add(stuckFor)) // an error means there is no connection
	_, err := s.w.Write(s.buf[:s.n])
	s.n, s.sent = 0, true
	return err
}

// flush sends everything.
func (s *stream) flush() error {
	if s == nil {
		return nil
	}
	if err := s.empty(); err != nil || !s.sent {
		return err
	}
	s.back()
	s.sent = false
	return s.to.Flush()
}

func (s *stream) back() {
	if s.buf != nil {
		outs.Put(s.buf)
		s.buf = nil
	}
}

// close makes the connection usable for another request.
func (s *stream) close() {
	_ = s.to.SetWriteDeadline(time.Time{})
	s.back()
}
