package server

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
)

// An a2aWatch says what a client wants to hear of a task.
type a2aWatch struct {
	run      string // the leg that the snapshot is of; empty: the first
	snapshot uint64 // the first event is the task as of this entry
	until    func(s *pawl.State, seq uint64) bool
}

// a2aStream is SendStreamingMessage. The stream ends when the task has ended or asks the
// client for something that the client can say; it stays open while a person decides.
func (s *Server) a2aStream(x *exchange, agent string, in *a2a.Send) (any, error) {
	run, after, err := s.a2aTake(x, agent, in)
	if err != nil {
		return nil, err
	}
	w := a2aWatch{snapshot: max(after, 1), until: func(s *pawl.State, seq uint64) bool {
		state := stateOf(s.Status())
		return state.Terminal() || state == a2a.InputRequired && seq > after
	}}
	if after > 0 {
		t, err := s.a2aRead(x.Context(), x.key, run)
		if err != nil {
			return nil, err
		}
		w.run = t.state.Run()
	}
	return nil, s.a2aTell(x, run, w, in.Configuration.HistoryLength)
}

// a2aSubscribe is SubscribeToTask.
func (s *Server) a2aSubscribe(x *exchange, agent string, in *a2a.ID) (any, error) {
	t, err := s.a2aOpen(x, agent, in.ID)
	if err != nil {
		return nil, err
	}
	if stateOf(t.state.Status()).Terminal() {
		return nil, &a2a.Error{Kind: a2a.UnsupportedOperation, Message: "the task has ended; get it instead", Facts: map[string]string{"taskId": in.ID}}
	}
	return nil, s.a2aTell(x, t.id, a2aWatch{run: t.state.Run(), snapshot: t.state.Seq(), until: func(s *pawl.State, _ uint64) bool { return stateOf(s.Status()).Terminal() }}, nil)
}

// a2aTell streams a task to a client.
func (s *Server) a2aTell(x *exchange, run string, w a2aWatch, history *int) error {
	out := newStream(x.ResponseWriter)
	defer out.close()
	// From here on the status is sent: an error only ends the stream.
	_ = s.a2aFollow(x, run, &a2aOut{out, x.frame, history}, w)
	return nil
}

// An a2aOut is a stream of updates.
type a2aOut struct {
	*stream
	frame   func(any) any
	history *int
}

func (o *a2aOut) say(u a2a.Update) error {
	line, err := json.Marshal(o.frame(u))
	if err != nil {
		return err
	}
	return o.add(append(append([]byte("data: "), line...), "\n\n"...))
}

// a2aFollow follows a task through its legs until a state that the watch waits for, and tells
// a client of it; a nil one is told nothing.
func (s *Server) a2aFollow(x *exchange, run string, out *a2aOut, w a2aWatch) error {
	ctx := x.Request.Context()
	t := &a2aTask{}
	told := out == nil
	w.run = cmp.Or(w.run, run)
	for {
		if _, err := s.watchable(ctx, run); err != nil {
			return err
		}
		t.state = new(pawl.State)
		over := false
		sink := (*stream)(nil)
		if out != nil {
			sink = out.stream
		}
		err := s.pass(ctx, run, 0, sink, func(f frame) (bool, error) {
			if f.seq == 0 {
				return f.ended, nil
			}
			e, err := pawl.DecodeEntry(f.line)
			if err != nil { // the log of another build
				return false, err
			}
			news := t.add(e, x.key)
			if _, handed := t.next(); !handed {
				over = w.until(t.state, f.seq) && (run != w.run || f.seq >= w.snapshot)
			}
			switch {
			case out == nil:
			case !told && run == w.run && f.seq >= w.snapshot:
				told = true
				task, err := t.task(ctx, s, out.history)
				if err != nil {
					return false, err
				}
				return over, out.say(a2a.Update{Task: &task})
			case told && news:
				return over, s.a2aNews(ctx, t, out)
			}
			return over, nil
		})
		next, handed := t.next()
		if err != nil || over || !handed {
			return err
		}
		run = next
	}
}

// a2aNews tells of a change of a task.
func (s *Server) a2aNews(ctx context.Context, t *a2aTask, out *a2aOut) error {
	for _, artifact := range t.artifacts() {
		if err := out.say(a2a.Update{ArtifactUpdate: &a2a.ArtifactUpdate{TaskID: t.id, ContextID: t.context, Artifact: artifact, LastChunk: true}}); err != nil {
			return err
		}
	}
	status, facts, err := t.status(ctx, s)
	if err != nil {
		return err
	}
	return out.say(a2a.Update{StatusUpdate: &a2a.StatusUpdate{TaskID: t.id, ContextID: t.context, Status: status, Metadata: facts}})
}
