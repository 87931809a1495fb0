package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/prompt"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// loop reads messages and answers them until the person leaves.
func (t *talk) loop(ctx context.Context) (int, error) {
	a := t.a
	a.lines = t
	a.err.Prompt(t.editor)
	a.sayf("%s: %s; at most %s a message; /help lists the commands", t.agent.Name, place(t.agent.Model), limitsText(t.most))
	if t.last != "" {
		if err := t.recall(ctx); err != nil {
			return 0, err
		}
	}
	leaving := false
	for {
		text, err := t.message(ctx)
		switch {
		case errors.Is(err, prompt.ErrInterrupted) && !leaving:
			leaving = true
			a.sayf("Ctrl-C again leaves; so does Ctrl-D")
			continue
		case errors.Is(err, prompt.ErrInterrupted), errors.Is(err, io.EOF):
			return 0, nil
		case ctx.Err() != nil:
			return exitPaused, nil
		case err != nil:
			return 0, err
		}
		leaving = false
		if strings.TrimSpace(text) == "" {
			continue
		}
		if slash.MatchString(text) {
			leave, err := t.command(ctx, strings.Fields(text))
			if leave {
				return 0, nil
			}
			t.report(ctx, err)
		} else {
			t.report(ctx, t.say(ctx, text))
		}
		if ctx.Err() != nil || a.current() == nil {
			return exitPaused, nil
		}
	}
}

// report prints an error; the conversation goes on.
func (t *talk) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		t.a.report(ctx, err)
	}
}

// message reads a message. A line that ends with a backslash continues on the next.
func (t *talk) message(ctx context.Context) (string, error) {
	mark := "> "
	if t.plan {
		mark = "plan> "
	}
	var b strings.Builder
	for {
		line, err := t.editor.Line(ctx, mark, true)
		if err != nil {
			return "", err
		}
		part, more := strings.CutSuffix(line, `\`)
		b.WriteString(part)
		if !more {
			return b.String(), nil
		}
		b.WriteString("\n")
		mark = "… "
	}
}

// next implements typedLines for the questions of a run. Ctrl-C stops the answer.
func (t *talk) next(ctx context.Context) (string, error) {
	t.a.err.SetStatus("")
	line, err := t.editor.Line(ctx, "? ", false)
	if errors.Is(err, prompt.ErrInterrupted) {
		t.cancel()
		err = engine.ErrLater
	}
	return line, err
}

// drain implements typedLines.
func (t *talk) drain(in io.Reader) {
	t.editor.Drop()
	if f, ok := in.(*os.File); ok {
		screen.FlushInput(f)
	}
}

// cancel stops the answer that runs; false: it was stopped before, or none runs.
func (t *talk) cancel() bool {
	t.a.mu.Lock()
	run, j, view := t.running, t.a.journal, t.view
	t.running = ""
	t.a.mu.Unlock()
	if run == "" || j == nil {
		return false
	}
	view.Silence()
	t.a.sayf("stopping the answer (Ctrl-C again leaves)")
	go func() {
		ctx, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		if err := engine.New(j, nil).Cancel(ctx, run, engine.Self().User, "stopped in the conversation"); err != nil {
			t.a.sayf("pawl: %v", err)
		}
	}()
	return true
}

// say sends a message and shows the answer.
func (t *talk) say(ctx context.Context, text string) error {
	if t.last != "" { // it may wait, or be left by a process that died
		if ended, err := t.settle(ctx); err != nil || !ended {
			return err
		}
	}
	if err := t.build(ctx); err != nil {
		return err
	}
	o := &engine.StartOptions{Thread: t.thread, After: t.branch, Files: t.files, Untrusted: t.foreign}
	t.files = nil // also if they cannot be sent
	err := t.drive(ctx, t.agent, t.most, 0, func(ctx context.Context) (*engine.Handle, error) {
		return t.a.engine(t.j, t.d, t.agent).Start(ctx, t.agent, text, o)
	})
	if err == nil {
		t.plan = false
	}
	return err
}

// settle resumes the last run if it has not ended; false: it still waits.
func (t *talk) settle(ctx context.Context) (ended bool, err error) {
	h, err := runs.Head(ctx, t.j, t.last)
	if err != nil || h.Status.Ended() {
		return err == nil, err
	}
	if runs.Owned(h.Lease) {
		return false, misuse("another process answers the last message: %s; wait for it, or say /undo to go on without it", runs.OwnerText(h.Lease.Owner))
	}
	s, err := engine.Load(ctx, t.j, t.last)
	if err != nil {
		return false, err
	}
	w, err := reopen(ctx, t.a, t.j, s, &resuming{driving: driving{approvals: t.d.approvals}}, false)
	if err != nil {
		return false, err
	}
	t.a.stillRuns(ctx, t.j, s)
	t.a.sayf("the last message has no answer yet; going on with it")
	err = t.drive(ctx, w.agent, w.limits, s.Seq(), func(ctx context.Context) (*engine.Handle, error) {
		return t.a.engine(t.j, t.d, w.agent).Resume(ctx, w.agent, t.last, &w.how)
	})
	if err != nil {
		w.drop()
		return false, err
	}
	if t.result.Status.Ended() {
		return true, nil
	}
	t.a.sayf("the conversation goes on when this is answered; /undo goes on without it")
	return false, nil
}

// drive drives a run to its end and shows how it ended.
func (t *talk) drive(ctx context.Context, agent pawl.Agent, limits pawl.Limits, after uint64, begin begin) error {
	show := func() {}
	if in, ok := t.a.in.(*os.File); ok {
		show = screen.HideKeys(in) // what is typed meanwhile is shown at the next prompt
	}
	t.a.mu.Lock()
	t.a.stop, t.a.showKeys = t.cancel, show
	t.a.mu.Unlock()
	one := t.a.trip(t.d, agent, limits, after, func(ctx context.Context) (*engine.Handle, error) {
		h, err := begin(ctx)
		if err == nil {
			t.a.mu.Lock()
			t.running = h.ID()
			t.a.mu.Unlock()
			t.last = h.ID()
		}
		return h, err
	})
	one.view, one.silent, one.announce = t.newView, true, nil
	result, err := t.a.drive(ctx, t.d, one)
	t.a.mu.Lock()
	t.a.stop, t.a.showKeys, t.running = nil, nil, ""
	t.a.mu.Unlock()
	show()
	if err != nil {
		return err
	}
	t.result = result
	t.a.awaitDeliveries()
	switch result.Status {
	case pawl.StatusSuccess:
		t.a.cite(result.Citations)
		t.a.shade("%s", figures(result))
	case pawl.StatusCancelled:
		t.a.shade("stopped; %s", figures(result))
	default:
		ending(ctx, t.a, &result)
	}
	return nil
}

// recall says where the conversation stands, and goes on with what has no answer.
func (t *talk) recall(ctx context.Context) error {
	s, err := engine.Load(ctx, t.j, t.last)
	if err != nil {
		return err
	}
	t.a.sayf("continuing %s", t.thread)
	t.a.shade("you: %s", gist(s.Input()))
	if s.Status().Ended() {
		page := screen.NewPage(t.a.err)
		_, err := io.WriteString(page, s.Answer())
		return errors.Join(err, page.Close())
	}
	_, err = t.settle(ctx)
	t.report(ctx, err)
	return nil
}
