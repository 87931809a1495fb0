package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// pollEvery is how often the log of a run that is not driven here is looked at, in addition to when
// the journal notifies.
const pollEvery = time.Second

// mostAhead is how many frames are read ahead of what a client takes.
const mostAhead = 16

var errClosed = errors.New("the server is closed")

// watchable returns the head of a run that a client wants to follow.
func (s *Server) watchable(ctx context.Context, run string) (pawl.Head, error) {
	if s.isClosing() {
		return pawl.Head{}, refusal(http.StatusServiceUnavailable, errClosed.Error())
	}
	return runs.Head(ctx, s.journal, run)
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// follow sends the frames of a run: its log after an entry, new entries until the run has ended,
// and pieces of replies while the run is driven here. A frame without text follows the last entry
// that there is for now.
func (s *Server) follow(ctx context.Context, run string, after uint64, to chan<- frame) error {
	var changed <-chan struct{} // of a run that is not driven here
	told := false               // the client knows that there is no more for now
	stopped := false
	send := func(f frame) error {
		if f.seq > 0 {
			after, stopped = f.seq, f.kind == kindStopped
		}
		told = f.text == nil
		select {
		case to <- f:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for {
		last := s.isClosing() // what was recorded until then is still sent
		if err := s.followLive(ctx, run, &after, send); err != nil {
			return err
		}
		for row, err := range s.journal.Read(ctx, run, after+1) {
			if err == nil {
				err = send(s.frame(ctx, run, row))
			}
			if err != nil {
				return err
			}
		}
		ended := false
		if stopped {
			head, err := runs.Head(ctx, s.journal, run) // it may have been resumed at once
			if err != nil {
				return err
			}
			if head.Seq > after {
				continue
			}
			ended = head.Status.Ended()
		}
		if !told || ended {
			if err := send(frame{ended: ended}); err != nil || ended {
				return err
			}
		}
		if last {
			return errClosed
		}
		if changed == nil {
			changed = client.Changes(ctx, s.journal, run)
		}
		select {
		case <-changed:
		case <-time.After(pollEvery):
		case <-s.closing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// followLive sends the frames of a run while it is driven here. after is the last entry that was sent.
func (s *Server) followLive(ctx context.Context, run string, after *uint64, send func(frame) error) error {
	live := s.live(run)
	if live == nil {
		return nil
	}
	redactors := map[string]*redactor{} // by run
	for e, err := range live.Follow(ctx, *after+1) {
		if err != nil {
			return err
		}
		f, ok := frame{}, true
		if e.Seq == 0 {
			if redactors[e.Run] == nil {
				redactors[e.Run] = new(redactor)
			}
			if e, ok = redactors[e.Run].piece(e); ok {
				f, ok = pieceFrame(run, e, *after+1)
			}
		} else {
			line, err := e.AppendJSON(nil)
			if err != nil {
				return err
			}
			f = s.frame(ctx, run, pawl.Row{Seq: e.Seq, Data: line})
		}
		if ok {
			if err := send(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass gives write the frames of a run after an entry, until write returns true, the run has ended, the
// client has disconnected, or an error occurs. Meanwhile it keeps the stream of the client alive.
func (s *Server) pass(ctx context.Context, run string, after uint64, out *stream, write func(f frame) (over bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	frames, ended := make(chan frame, mostAhead), make(chan error, 1)
	go func() {
		defer close(frames)
		ended <- s.follow(ctx, run, after, frames)
	}()
	defer func() {
		cancel()
		for range frames { // until nothing reads the journal
		}
	}()
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	if err := out.greet(); err != nil {
		return err
	}
	for {
		if len(frames) == 0 {
			if err := out.flush(); err != nil {
				return err
			}
		}
		beat.Reset(heartbeat)
		select {
		case f, more := <-frames:
			if !more {
				return <-ended
			}
			if over, err := write(f); err != nil || over {
				return errors.Join(err, out.flush())
			}
		case <-beat.C:
			if err := out.beat(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
