package cli

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// answerView shows on a terminal what the model says, while it says it: elsewhere an answer
// is printed once it is complete.
type answerView struct {
	view // shows the rest

	a     *app
	open  func() io.WriteCloser // opens a page for a reply
	whole bool                  // also show replies that did not arrive in pieces

	mu    sync.Mutex
	quiet bool            // the answer was stopped
	turn  bool            // the model is called for an answer
	page  io.WriteCloser  // where its reply is shown; nil: it has not begun
	said  strings.Builder // what is shown of it
	shown string          // the last reply that was shown whole
}

func (v *answerView) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop()
	v.view.end()
}

func (v *answerView) add(e pawl.Entry, history bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quiet {
		return
	}
	if history && e.Seq > 0 {
		v.view.add(e, true)
		return
	}
	switch event := e.Event.(type) {
	case pawl.ModelDelta:
		if v.turn && event.Text != "" && event.Agent == "" {
			v.say(event.Text)
			return
		}
	case pawl.ModelCalled:
		v.turn = event.Purpose == pawl.PurposeTurn || event.Purpose == pawl.PurposeFinal
	case pawl.ModelReplied:
		if v.whole && v.turn && v.page == nil {
			v.say(event.Reply.Text())
		}
		if v.page != nil {
			v.stop()
			if v.shown = ""; v.said.String() == strings.TrimLeft(event.Reply.Text(), "\n") {
				v.shown = event.Reply.Text()
			}
			v.view.add(e, true) // it is counted, and was shown
			return
		}
	case pawl.ModelFailed:
		v.stop() // the line for this entry says that what is shown is void
	case pawl.RunStopped:
		if v.whole && event.Answer != v.shown {
			v.say(event.Answer)
			v.stop()
		}
	}
	v.view.add(e, history)
}

// say shows a piece of a reply, in the place of the status.
func (v *answerView) say(text string) {
	if v.page == nil {
		if text = strings.TrimLeft(text, "\n"); text == "" {
			return
		}
		if live, ok := v.view.(*liveView); ok {
			live.hide(true)
		}
		v.page = v.open()
		v.said.Reset()
	}
	v.said.WriteString(text)
	_, _ = io.WriteString(v.page, text) // if the reader is gone, printing the result fails as well
}

// silence shows no more of the answer.
func (v *answerView) silence() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop()
	v.quiet = true
}

// stop ends what is shown of a reply.
func (v *answerView) stop() {
	if v.page == nil {
		return
	}
	_ = v.page.Close()
	v.page = nil
	if live, ok := v.view.(*liveView); ok {
		live.hide(false)
	}
}

// conclude is [app.conclude] for an answer that may be shown already.
func (v *answerView) conclude(ctx context.Context, r pawl.Result) (int, error) {
	shown := v.shown != "" && v.shown == r.Answer
	if v.a.json {
		return v.a.conclude(ctx, r)
	}
	if answer := display.Clean(r.Answer); !shown && answer != "" {
		page := v.a.page()
		if _, err := io.WriteString(page, answer); err != nil {
			return 0, err
		}
		if err := page.Close(); err != nil {
			return 0, err
		}
	}
	ending(ctx, v.a, &r)
	return exitCode(r.Status), nil
}
