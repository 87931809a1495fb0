package screen

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// A View shows a run while it is driven.
type View interface {
	// Add handles an entry; history only updates the counts.
	Add(e pawl.Entry, history bool)
	End()
}

// NewLive returns a view on a terminal, which w writes to. print prints an entry. The elapsed time
// is drawn again until End.
func NewLive(w *Writer, on *os.File, colour bool, print func(pawl.Entry)) View {
	v := &live{w: w, print: print, columns: func() int { return Columns(on) }, colour: colour, now: time.Now}
	v.stop = Every(drawEvery, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.draw()
	})
	return v
}

// Lines prints entries where no line can be drawn again.
type Lines func(pawl.Entry)

// End implements View.
func (Lines) End() {}

// Add implements View.
func (v Lines) Add(e pawl.Entry, history bool) {
	if !history && e.Seq > 0 {
		v(e)
	}
}

// Dim has a terminal show a text as less important than others.
func Dim(text string) string { return "\x1b[2m" + text + "\x1b[0m" }

// How often the view is drawn at most, and how many calls it lists.
const (
	drawEvery = 100 * time.Millisecond
	mostCalls = 3
)

// live shows a run on a terminal: a line for each entry, and below them the
// progress, the running calls, and what the model is saying.
type live struct {
	w       *Writer
	print   func(pawl.Entry)
	columns func() int
	colour  bool
	now     func() time.Time

	mu     sync.Mutex
	state  pawl.State
	since  time.Time // when the state was folded last
	calls  []inFlight
	asked  time.Time // when the model was called for the turn; zero: it is not being called
	said   string    // the latest line of the reply or of its thinking, or the beginning of that
	thinks bool      // said is thinking
	drawn  time.Time
	hidden bool   // a question is shown, or the run is over
	stop   func() // stops the clock
}

// inFlight is a running call.
type inFlight struct {
	call, tool string
	since      time.Time
	progress   string // what it reported last
}

// hide removes the status until it is shown again.
func (v *live) hide(hidden bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hidden = hidden; hidden {
		v.w.SetStatus("")
		return
	}
	v.asked, v.said = time.Time{}, ""
}

// End implements View.
func (v *live) End() {
	v.stop()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hidden = true
	v.w.SetStatus("")
}

// Every calls draw at intervals until stop; after stop returns, draw is not called
// again.
func Every(every time.Duration, draw func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				draw()
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// Add handles an entry, or a piece of a reply.
func (v *live) Add(e pawl.Entry, history bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch piece := e.Event.(type) {
	case pawl.ToolProgressed:
		for i := range v.calls {
			if c := &v.calls[i]; c.call == piece.Call && piece.Agent == "" {
				c.progress = display.Progress(piece.Fraction, piece.Text)
			}
		}
		return
	case pawl.ModelDelta:
		if text := piece.Text + piece.Thinking; text != "" && piece.Agent == "" { // else a child says it
			if thinks := piece.Thinking != ""; thinks != v.thinks {
				v.said, v.thinks = "", thinks
			}
			v.said = heard(v.said, text)
		}
		return
	}
	turn := v.state.Iteration()
	v.state.Fold(e)
	v.since = v.now()
	if history {
		return
	}
	v.take(e.Event)
	if v.state.Iteration() != turn { // else lines of a turn stand above the figures of the one before
		v.draw()
	}
	v.print(e)
	if v.now().Sub(v.drawn) >= drawEvery {
		v.draw()
	}
}

// heard keeps the end of the last line that a model says or thinks.
func heard(said, more string) string {
	text := said + more
	if i := strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) > 4096 {
		_, text, _ = strings.Cut(text[len(text)-2048:], " ") // do not cut within a word, which may be a secret
	}
	return text
}

// take updates what is in progress.
func (v *live) take(event pawl.Event) {
	begins := func(call, tool string) {
		if slices.ContainsFunc(v.calls, func(c inFlight) bool { return c.call == call }) {
			return // a call that is a run begins twice
		}
		v.calls = append(v.calls, inFlight{call: call, tool: tool, since: v.now()})
	}
	ends := func(call string) {
		v.calls = slices.DeleteFunc(v.calls, func(c inFlight) bool { return c.call == call })
	}
	switch e := event.(type) {
	case pawl.ModelCalled:
		v.asked, v.said = v.now(), ""
	case pawl.ModelReplied, pawl.ModelFailed:
		v.asked, v.said = time.Time{}, ""
	case pawl.ToolStarted:
		begins(e.Call, e.Tool)
	case pawl.ToolFinished:
		ends(e.Call)
	case pawl.ChildStarted:
		begins(e.Call, e.Agent)
	case pawl.ChildStopped:
		ends(e.Call)
	case pawl.RunPaused:
		// The person types the answer where the status would be.
		v.hidden = true
		v.w.SetStatus("")
	case pawl.RunStarted, pawl.RunResumed: // the next leg begins after the end of the one before
		v.hidden, v.calls, v.asked = false, nil, time.Time{}
	case pawl.RunStopped:
		v.hidden = true
		v.w.SetStatus("")
	}
}

// draw redraws the status.
func (v *live) draw() {
	if v.hidden || v.state.Seq() == 0 {
		return
	}
	v.drawn = v.now()
	most := v.columns() - 1 // in the last column some terminals wrap to the next line
	lines := v.lines(most)
	for i, line := range lines {
		if lines[i] = fit(line, most); v.colour {
			lines[i] = Dim(lines[i])
		}
	}
	v.w.SetStatus(strings.Join(lines, "\n"))
}

// lines are the progress, the running calls, and what the model says.
func (v *live) lines(most int) []string {
	now := v.now()
	lines := []string{usageLine(&v.state, now.Sub(v.since))}
	for i, c := range v.calls {
		if i == mostCalls {
			lines = append(lines, fmt.Sprintf("  and %d more", len(v.calls)-mostCalls))
			break
		}
		line := fmt.Sprintf("  %s %s · %s", OneLine(c.call), OneLine(c.tool), clock(now.Sub(c.since)))
		if c.progress != "" {
			line += " · " + Harmless(c.progress)
		}
		lines = append(lines, line)
	}
	if !v.asked.IsZero() {
		line := "  " + clock(now.Sub(v.asked)) + " · "
		says := spoken(v.said, most-display.Width(line))
		says = cmp.Or(says, "waiting for the model")
		lines = append(lines, line+says)
	}
	return lines
}

// spoken is the end of the model's last line, in whole words: a secret cut in half is
// not recognised.
func spoken(text string, most int) string {
	text = Harmless(text[:max(0, strings.LastIndexAny(text, " \t\n"))])
	over := display.Width(text) - most
	if over <= 0 {
		return text
	}
	for i, r := range text {
		if over < 0 {
			return "…" + text[i:]
		}
		over -= display.RuneWidth(r)
	}
	return ""
}

// usageLine is what a run has used of its limits.
func usageLine(s *pawl.State, since time.Duration) string {
	limits := s.Limits()
	parts := []string{
		fmt.Sprintf("turn %d/%d", s.Head().Iterations, limits.Iterations),
		fmt.Sprintf("%s/%s tokens", short(s.Tokens()), short(limits.Tokens)),
	}
	if text := dollars(s, limits); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(append(parts, fmt.Sprintf("%v/%v", (s.Elapsed()+since).Round(time.Second), limits.Time)), " · ")
}

// short formats a number of tokens in thousands or millions.
func short(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// dollars is what a run has cost of its limit; empty: that is not known.
func dollars(s *pawl.State, limits pawl.Limits) string {
	cost, known := s.Cost()
	switch {
	case !known:
		return ""
	case limits.Cost > 0:
		return fmt.Sprintf("$%.2f/%.2f", cost, limits.Cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// clock formats a duration, coarser the longer it is.
func clock(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
