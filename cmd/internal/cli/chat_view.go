package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/markdown"
	"github.com/pawl-run/pawl/internal/terminal"
)

// chatView shows an answer: what the model says, as it says it, and a line for each
// call.
type chatView struct {
	t      *talk
	a      *app
	colour bool

	mu      sync.Mutex
	page    *markdown.Writer // of the reply; nil: nothing is shown of it
	said    bool             // something of the reply was shown
	since   time.Time        // when what is waited for began
	waits   string           // what is waited for; empty: nothing
	calls   []inFlight
	answer  string // the last text that was shown whole
	silent  bool   // the answer was stopped
	stopped func()
}

// newView makes the view of the next run.
func (t *talk) newView() view {
	v := &chatView{t: t, a: t.a, colour: t.a.coloured()}
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.view = v
	return v
}

// coloured reports whether a terminal gets colours.
func (env *environment) coloured() bool {
	return env.getenv("NO_COLOR") == "" && env.getenv("TERM") != "dumb"
}

// silence shows no more of the answer.
func (v *chatView) silence() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.flush()
	v.silent = true
}

func (v *chatView) begin() {
	v.stopped = ticking(drawEvery, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.draw()
	})
}

func (v *chatView) end() {
	v.stopped()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest("")
	v.flush()
}

// rest says what is waited for from now on.
func (v *chatView) rest(what string) {
	v.waits, v.since = what, time.Now()
	v.draw()
}

func (v *chatView) draw() {
	if v.t.asking.Load() {
		return
	}
	line := ""
	if len(v.calls) > 0 {
		c := v.calls[0]
		line = fmt.Sprintf("  %s · %s", c.tool, clock(time.Since(c.since)))
		line += c.says(columns(v.a.terminal()) - 1 - terminal.Width(line))
		if n := len(v.calls) - 1; n > 0 {
			line += fmt.Sprintf(" · and %d more", n)
		}
	} else if v.waits != "" {
		line = fmt.Sprintf("  %s · %s", v.waits, clock(time.Since(v.since)))
	}
	if line != "" {
		line = fit(line, columns(v.a.terminal())-1)
		if v.colour {
			line = dim + line + normal
		}
	}
	v.a.err.setStatus(line)
}

// add handles an entry, or a piece of a reply.
func (v *chatView) add(e pawl.Entry, history bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if history && e.Seq > 0 || v.silent {
		return
	}
	run := e.Run
	switch e := e.Event.(type) {
	case pawl.ModelDelta:
		if e.Agent != "" {
			hearChild(v.calls, run, e)
			return
		}
		v.rest("")
		v.text(e.Text)
		return
	case pawl.ModelCalled:
		v.said = false
		if e.Purpose == pawl.PurposeTurn || e.Purpose == pawl.PurposeFinal {
			v.rest("waiting for the model")
		} else {
			v.rest("checking")
		}
		return
	case pawl.ModelReplied:
		v.rest("")
		if !v.said && (e.Purpose == pawl.PurposeTurn || e.Purpose == pawl.PurposeFinal) {
			v.text(e.Reply.Text())
		}
		v.flush()
		if text := e.Reply.Text(); text != "" {
			v.answer = text
		}
		return
	case pawl.ModelFailed:
		v.flush()
		v.rest("")
	case pawl.ToolStarted:
		v.calls = append(v.calls, inFlight{run: run, call: e.Call, tool: oneLine(e.Tool) + " " + gistJSON(e.Args), since: time.Now()})
		v.draw()
		return
	case pawl.ToolFinished:
		v.ended(e.Call)
	case pawl.ToolRefused: // of a call that began early
		v.ended(e.Call)
	case pawl.ApprovalRequested, pawl.InputRequested, pawl.ApprovalDecided, pawl.RunResumed:
		return // the question says it
	case pawl.RunPaused, pawl.RunStopped:
		v.rest("")
		v.flush()
		if stop, ok := e.(pawl.RunStopped); ok && stop.Answer != "" && stop.Answer != v.answer {
			v.text(stop.Answer)
			v.flush()
		}
		return
	}
	if text := progressText(e.Event); text != "" {
		v.flush()
		v.a.shade("  %s", text)
	}
}

// text shows a part of a reply.
func (v *chatView) text(part string) {
	if v.page == nil {
		if part = strings.TrimLeft(part, "\n"); part == "" {
			return
		}
		v.page = markdown.NewWriter(painter{v.a.err}, min(columns(v.a.terminal()), mostColumns), v.colour)
	}
	v.said = true
	_, _ = v.page.Write([]byte(part)) // the terminal's errors are hidden, see lockedWriter
}

// ended takes a call out of what is in flight.
func (v *chatView) ended(call string) {
	v.calls = landed(v.calls, call)
	v.draw()
}

// flush ends the reply.
func (v *chatView) flush() {
	if v.page != nil {
		_ = v.page.Close() // as above
		v.page = nil
	}
}

// painter writes what may hold colours.
type painter struct{ to *lockedWriter }

func (p painter) Write(b []byte) (int, error) {
	p.to.paint(string(b))
	return len(b), nil
}

// shade prints one line that is less important than others.
func (a *app) shade(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	line = lead + oneLine(line)
	if a.coloured() {
		line = dim + line + normal
	}
	a.err.paint(line + "\n")
}
