package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
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
		var mark *screen.Writer
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
	request := engine.Request{Run: p.Run, Agent: r.Agent, Call: p.Call, Tool: p.Tool, Args: p.Args, Reason: p.Reason, Iteration: r.Iterations, Witnesses: c.Preconditions, Thread: s.Head().Thread, Labels: r.Labels}
	if n := len(r.Steps); n > 0 {
		request.Thought = r.Steps[n-1].Thought
	}
	if p.ExpiresAt != nil {
		request.Expires = *p.ExpiresAt
	}
	d, err := approver.Approve(ctx, request)
	return func() error {
		if d.Approve {
			return to.Approve(ctx, p.Run, p.Call, d.By, &engine.ApproveOptions{Reach: d.Reach, Args: d.Args})
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
	release := s.a.err.Hold()
	defer release()
	s.drain()
	s.sayf("question %s: %s", screen.OneLine(p.Call), screen.OneLine(cmp.Or(args.Question, p.Reason)))
	s.sayf("  type the answer; an empty line leaves it for later")
	line, err := s.next(ctx)
	if err == nil && strings.TrimSpace(line) == "" {
		err = engine.ErrLater
	}
	return line, err
}

// lineReader reads lines for questions that may be withdrawn before they are answered.
// A read cannot be cancelled, so it outlives its question. A line typed before the
// next question is shown is dropped: it cannot be its answer.
type lineReader struct {
	in   *bufio.Reader
	mark *screen.Writer // shows a mark where a line is typed; nil: nobody types

	mu      sync.Mutex
	reading bool
	waiting chan typed // the waiting question; nil: none
}

type typed struct {
	line string
	err  error
}

// newLineReader reads lines of in. mark is the terminal of the person who types them; nil:
// there is none.
func newLineReader(in io.Reader, mark *screen.Writer) *lineReader {
	if in == nil {
		in = strings.NewReader("")
	}
	return &lineReader{in: bufio.NewReader(in), mark: mark}
}

// next returns the next line without its line end; io.EOF: there is none.
func (l *lineReader) next(ctx context.Context) (string, error) {
	mine := make(chan typed, 1)
	l.mu.Lock()
	l.waiting = mine
	if !l.reading {
		l.reading = true
		go l.read()
	}
	l.mu.Unlock()
	if l.mark != nil {
		l.mark.Ask("? ")
		defer l.mark.Asked()
	}
	select {
	case t := <-mine:
		if l.mark != nil && t.err == nil {
			l.mark.Typed()
		}
		return t.line, t.err
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.waiting == mine {
			l.waiting = nil
		}
		return "", context.Cause(ctx)
	}
}

func (l *lineReader) read() {
	line, err := l.in.ReadString('\n')
	if line != "" {
		err = nil // a last line without an end is one
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading = false
	if l.waiting != nil {
		l.waiting <- typed{strings.TrimRight(line, "\r\n"), err}
		l.waiting = nil
	}
}

// drain drops what was typed and not read, on a terminal; other inputs do not show
// what was typed already.
func (l *lineReader) drain(in io.Reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading {
		return // the current line was begun on purpose
	}
	_, _ = l.in.Discard(l.in.Buffered())
	if f, ok := in.(*os.File); ok {
		screen.FlushInput(f)
	}
}

// approvalsMode is the value of --approvals; empty: not given.
type approvalsMode string

const (
	modeAsk  approvalsMode = "ask"
	modePark approvalsMode = "park"
	modeDeny approvalsMode = "deny"
)

// set reads a mode from the command line.
func (m *approvalsMode) set(text string) error {
	switch mode := approvalsMode(text); mode {
	case modeAsk, modePark, modeDeny:
		*m = mode
		return nil
	}
	return fmt.Errorf("write ask, park or deny")
}

// engine makes the engine that drives a run of the agent under the given flags.
func (a *app) engine(j pawl.Journal, d *driving, agent pawl.Agent) *engine.Engine {
	o := a.options(agent.Source)
	a.shown = a.asks(d.approvals)
	a.recordCalls(o)
	o.Approver = a.approver(d.approvals, infos(agent))
	o.Patience = -1 // a person may take until the request expires
	o.Watchers = a.watchers(false)
	if to := a.reporting(false); to != nil {
		o.Log = to.Log
	}
	return engine.New(j, o)
}

// approver decides calls at the terminal; nil: others decide them.
func (a *app) approver(mode approvalsMode, tools []pawl.ToolInfo) engine.Approver {
	switch {
	case a.asks(mode):
		return a.asker(tools)
	case mode == modeDeny:
		return engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
			a.sayf("%s %s is denied by --approvals deny", r.Call, r.Tool)
			return engine.Decision{Reason: "approvals are denied where this run is driven", By: "--approvals deny"}, nil
		})
	}
	return nil
}

// asks reports whether this process asks for what a run waits for.
func (con *console) asks(mode approvalsMode) bool {
	return mode == modeAsk || mode == "" && con.attended()
}

// attended reports whether a person can be asked: input and error output are both
// terminals.
func (con *console) attended() bool {
	return isTerminal(con.in) && isTerminal(con.err.Under())
}
