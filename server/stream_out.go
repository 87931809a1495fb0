package server

import (
	"net/http"
	"time"
)

// stream writes an event stream, and gives up on clients that do not read. A nil stream has no client.
type stream struct {
	w    http.ResponseWriter
	to   *http.ResponseController
	sent bool // something was written but not flushed
	// terse leaves out all but data: some clients of models take an empty event for data.
	terse bool
}

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
	if s == nil || len(text) == 0 {
		return nil
	}
	_ = s.to.SetWriteDeadline(time.Now().Add(stuckFor)) // an error means there is no connection
	s.sent = true
	_, err := s.w.Write(text)
	return err
}

// greet says when to reconnect.
func (s *stream) greet() error {
	if s == nil || s.terse {
		return nil
	}
	return s.add([]byte("retry: 1000\n\n"))
}

// beat sends a comment, so that the connection is not closed.
func (s *stream) beat() error {
	if s != nil && s.terse {
		return s.add([]byte(":\n"))
	}
	return s.add([]byte(":\n\n"))
}

// flush sends everything.
func (s *stream) flush() error {
	if s == nil || !s.sent {
		return nil
	}
	s.sent = false
	return s.to.Flush()
}

// close makes the connection usable for another request.
func (s *stream) close() { _ = s.to.SetWriteDeadline(time.Time{}) }
