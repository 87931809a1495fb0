package screen

import (
	"io"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
)

// Answer shows on a terminal what the model says, while it says it: elsewhere an answer
// is printed once it is complete.
type Answer struct {
	View // shows the rest

	To    io.Writer // where it is shown
	Whole bool      // also show replies that did not arrive in pieces

	mu    sync.Mutex
	quiet bool            // the answer was stopped
	turn  bool            // the model is called for an answer
	page  io.WriteCloser  // where its reply is shown; nil: it has not begun
	said  strings.Builder // what is shown of it
	shown string          // the last reply that was shown whole
}

// End implements View.
func (v *Answer) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop()
	v.View.End()
}

// Add implements View.
func (v *Answer) Add(e pawl.Entry, history bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quiet {
		return
	}
	if history && e.Seq > 0 {
		v.View.Add(e, true)
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
		if v.Whole && v.turn && v.page == nil {
			v.say(event.Reply.Text())
		}
		if v.page != nil {
			v.stop()
			if v.shown = ""; v.said.String() == strings.TrimLeft(event.Reply.Text(), "\n") {
				v.shown = event.Reply.Text()
			}
			v.View.Add(e, true) // it is counted, and was shown
			return
		}
	case pawl.ModelFailed:
		v.stop() // the line for this entry says that what is shown is void
	case pawl.RunStopped:
		if v.Whole && event.Answer != v.shown {
			v.say(event.Answer)
			v.stop()
		}
	}
	v.View.Add(e, history)
}

// say shows a piece of a reply, in the place of the status.
func (v *Answer) say(text string) {
	if v.page == nil {
		if text = strings.TrimLeft(text, "\n"); text == "" {
			return
		}
		if l, ok := v.View.(*live); ok {
			l.hide(true)
		}
		v.page = NewPage(v.To)
		v.said.Reset()
	}
	v.said.WriteString(text)
	_, _ = io.WriteString(v.page, text) // if the reader is gone, printing the result fails as well
}

// Silence shows no more of the answer.
func (v *Answer) Silence() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop()
	v.quiet = true
}

// stop ends what is shown of a reply.
func (v *Answer) stop() {
	if v.page == nil {
		return
	}
	_ = v.page.Close()
	v.page = nil
	if l, ok := v.View.(*live); ok {
		l.hide(false)
	}
}

// Shown reports whether an answer was shown as the last reply.
func (v *Answer) Shown(answer string) bool { return v.shown != "" && v.shown == answer }
