package server

import (
	"net/http"
	"strconv"
	"time"
)

// The times of a stream: when to send a heartbeat, and when to drop a client that reads
// nothing.
const (
	heartbeat = 15 * time.Second
	stuckFor  = 30 * time.Second
)

// stream sends a run's entries as Server-Sent Events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html) until the run ends. A
// client that reconnects after the end gets an answer without a body, which tells it not
// to reconnect.
func (s *Server) stream(x *exchange, run string) error {
	after, err := position(x.Request)
	if err != nil {
		return err
	}
	ctx := x.Request.Context()
	children, err := truth(x.Request, "children")
	if err != nil {
		return err
	}
	head, err := s.watchable(ctx, run)
	if err != nil {
		return err
	}
	if after > 0 && after >= head.Seq && head.Status.Ended() {
		x.WriteHeader(http.StatusNoContent)
		return nil
	}
	out := newStream(x.ResponseWriter)
	defer out.close()
	// From here on the status is sent: an error only ends the stream, and the client
	// reconnects.
	_ = s.pass(ctx, run, min(after, head.Seq), out, func(f frame) (bool, error) {
		if f.child && !children {
			return false, nil
		}
		return f.ended, out.add(f.text)
	})
	return nil
}

// position is the entry after which a client wants to continue.
func position(r *http.Request) (uint64, error) {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		after, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return 0, invalid("Last-Event-ID " + strconv.Quote(last) + " is not the id of an entry")
		}
		return after, nil
	}
	next, err := firstOf(r)
	return next - 1, err
}

// firstOf is the entry with which a client wants to begin.
func firstOf(r *http.Request) (uint64, error) {
	text := r.URL.Query().Get("cursor")
	if text == "" {
		return 1, nil
	}
	next, err := strconv.ParseUint(text, 10, 63)
	if err != nil || next == 0 {
		return 1, invalid("invalid cursor; leave it out to start from the beginning")
	}
	return next, nil
}
