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

// answerHere asks the person at the terminal the questions of a run. It returns how to
// resume the run, and the last entry that was shown; nil: nothing was answered, and
// the run still waits.
func answerHere(ctx context.Context, a *app, d *driving, agent pawl.Agent, r pawl.Result) (goOn begin, after uint64, err error) {
	j := a.current()
	if j == nil || !r.Status.Waiting() { // a second signal has closed it
		return nil, 0, nil
	}
	e, s := a.engine(j, d, agent), a.asker(agent)
	answered := false
	for _, p := range r.Pending {
		if p.Kind != "input" || p.AnsweredAt != nil {
			continue
		}
		text, err := s.answer(ctx, p)
		if errors.Is(err, engine.ErrLater) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		if err := e.Answer(ctx, p.Run, p.Call, s.by, text); err != nil {
			a.sayf("  %v", err) // another process answered first, or the time is over; resuming shows which
		}
		answered = true
	}
	if !answered {
		return nil, 0, nil
	}
	state, err := engine.Load(ctx, j, r.Run)
	if err != nil {
		return nil, 0, err
	}
	return func(ctx context.Context) (*engine.Handle, error) {
		h, err := e.Resume(ctx, agent, r.Run, nil)
		return h, lost(err)
	}, state.Seq(), nil
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
