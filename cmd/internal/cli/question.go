package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// typedLines are the lines that a person types.
type typedLines interface {
	// next returns the next line; io.EOF: there is none. It fails when ctx ends.
	next(ctx context.Context) (string, error)
	// drain drops what was typed and not read.
	drain(in io.Reader)
}

// lineReader reads what is typed. All questions share one, which may hold a line that
// was begun for the previous question.
func (a *app) lineReader() typedLines {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lines == nil {
		var mark *lockedWriter
		if a.attended() {
			mark = a.err
		}
		a.lines = newLineReader(a.in, mark)
	}
	return a.lines
}

// answerHere has the person at the terminal, or --approvals, decide what a run waits for. It returns
// the last entry that was shown. Not answered: the run still waits.
func (a *app) answerHere(ctx context.Context, mode approvalsMode, r pawl.Result) (after uint64, answered bool, err error) {
	j := a.current()
	if j == nil || !r.Status.Waiting() { // a second signal has closed it
		return 0, false, nil
	}
	s, err := engine.Load(ctx, j, r.Run)
	if err != nil {
		return 0, false, err
	}
	to, err := a.deskOf(ctx, j, r.Run)
	if err != nil {
		return 0, false, err
	}
	asker, approver := a.asker(s.Declaration().Tools), a.approver(mode, s.Declaration().Tools)
	for _, p := range r.Pending {
		var send func() error
		switch {
		case p.AnsweredAt != nil:
			continue
		case p.Kind == "input" && a.asks(mode):
			var text string
			text, err = asker.answer(ctx, p)
			send = func() error { return to.Answer(ctx, p.Run, p.Call, asker.by, text) }
		case p.Kind == "approval" && a.far != nil && approver != nil: // an engine here has asked already
			send, err = approve(ctx, j, approver, to, r, p)
		default:
			continue
		}
		if errors.Is(err, engine.ErrLater) {
			continue
		}
		if err != nil {
			return 0, false, err
		}
		if err := send(); err != nil && a.far != nil {
			return 0, false, err
		} else if err != nil {
			a.sayf("  %v", err) // another process answered first, or the time is over; resuming shows which
		}
		answered = true
	}
	return s.Seq(), answered, nil
}

// approve asks about a call that waits for approval at a server, and returns how to send the decision.
func approve(ctx context.Context, j pawl.Journal, approver engine.Approver, to runs.Sender, r pawl.Result, p pawl.Pending) (send func() error, err error) {
	s, err := engine.Load(ctx, j, p.Run)
	if err != nil {
		return nil, err
	}
	c, _ := s.Call(p.Call)
	request := engine.Request{Run: p.Run, Agent: r.Agent, Call: p.Call, Tool: p.Tool, Args: p.Args, Reason: p.Reason, Iteration: r.Iterations, Witnesses: c.Preconditions}
	if n := len(r.Steps); n > 0 {
		request.Thought = r.Steps[n-1].Thought
	}
	if p.ExpiresAt != nil {
		request.Expires = *p.ExpiresAt
	}
	d, err := approver.Approve(ctx, request)
	return func() error {
		if d.Approve {
			return to.Approve(ctx, p.Run, p.Call, d.By, &engine.ApproveOptions{ForRun: d.ForRun, Free: d.Free, Times: d.Times, Args: d.Args})
		}
		return to.Deny(ctx, p.Run, p.Call, d.By, d.Reason, &engine.DenyOptions{})
	}, err
}

// answer asks one question. Without an answer it is left for later.
func (s *asker) answer(ctx context.Context, p pawl.Pending) (string, error) {
	var args struct {
		Question string `json:"question"`
	}
	_ = json.Unmarshal(p.Args, &args) // without a question in its arguments, the reason is shown
	release := s.a.err.hold()
	defer release()
	s.drain()
	s.sayf("question %s: %s", oneLine(p.Call), oneLine(cmp.Or(args.Question, p.Reason)))
	s.sayf("  type the answer; an empty line leaves it for later")
	line, err := s.next(ctx)
	if err == nil && strings.TrimSpace(line) == "" {
		err = engine.ErrLater
	}
	return line, err
}
