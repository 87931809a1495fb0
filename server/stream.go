package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// The times of a stream: when to send a heartbeat, when to drop a client that reads
// nothing, and when a client should reconnect.
const (
	heartbeat = 15 * time.Second
	stuckFor  = 30 * time.Second
	comeBack  = "retry: 1000\n\n"
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
	answer, err := s.growing(ctx, x.Request, run, after)
	if err != nil {
		return err
	}
	children, err := truth(x.Request, "children")
	if err != nil {
		return err
	}
	r, head, err := s.broadcasters.enter(ctx, run, after)
	switch {
	case errors.Is(err, errClosed):
		return refusal(http.StatusServiceUnavailable, err.Error())
	case err != nil:
		return err
	}
	defer r.leave()
	r.children = children
	if after > 0 && after >= head.Seq && head.Status.Ended() {
		x.WriteHeader(http.StatusNoContent)
		return nil
	}
	out := newStream(x.ResponseWriter)
	defer out.close()
	// From here on the status is sent: an error only ends the stream, and the client
	// reconnects.
	_ = r.pass(ctx, out, func(out *stream, frames []frame) error {
		for _, f := range frames {
			if err := out.add(f.text); err != nil {
				return err
			}
			if part, ok := answer.add(f); ok {
				if err := out.add(part.text); err != nil {
					return err
				}
			}
		}
		return nil
	}, func(ended bool) (bool, error) { return ended, nil })
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

// pass sends what write makes of frames, each time of all available ones, until the
// client disconnects, an error occurs, or enough returns true. enough is called whenever
// there is nothing to send, with whether the run has ended.
func (r *reader) pass(ctx context.Context, out *stream, write func(out *stream, frames []frame) error, enough func(ended bool) (bool, error)) error {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	if err := out.add([]byte(comeBack)); err != nil {
		return err
	}
	for {
		frames, wait, ended, err := r.take(ctx)
		if err == nil {
			err = write(out, frames)
		}
		if err != nil {
			return err
		}
		if wait == nil { // there may be more
			continue
		}
		over, err := enough(ended)
		if err != nil {
			return err
		}
		if err := out.flush(); err != nil || over {
			return err
		}
		beat.Reset(heartbeat)
		select {
		case <-wait:
			if !r.pause(ctx) {
				return ctx.Err()
			}
		case <-beat.C:
			if err := out.add([]byte(":\n\n")); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause waits for more frames to send together: with many readers, separate writes are
// expensive.
func (r *reader) pause(ctx context.Context) bool {
	readers := r.broadcaster.count.Load()
	if readers < 10 {
		return true
	}
	return sleep(ctx, min(time.Duration(readers)*50*time.Microsecond, 50*time.Millisecond))
}
