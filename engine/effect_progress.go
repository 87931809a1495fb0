package engine

import (
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
)

const (
	progressEvery = 200 * time.Millisecond // between two reports of a call that are shown
	mostProgress  = 200                    // bytes of its text
)

// A callProgress shows watchers what a running call reports. Reports that come faster than they are
// shown are replaced by the latest, which is shown at the end of the call at the latest.
type callProgress struct {
	rec  *recorder
	live pawl.Entry // the template of entries

	mu    sync.Mutex
	last  pawl.ToolProgressed // the latest report
	raw   string              // its text, before it is cleaned
	timer *time.Timer         // shows the latest; nil: it is shown
	shown time.Time
	over  bool
}

func (p *callProgress) begin(r *recorder, t *toolCall) {
	p.rec, p.last = r, pawl.ToolProgressed{Call: t.inv.Call, Tool: t.inv.Tool}
	p.live = pawl.Entry{Run: t.inv.Run, At: t.intent, Iteration: r.state.Iteration()}
}

// reporter takes what the tool of a call reports; nil: the call is a run of its own, or none at all.
func (t *toolCall) reporter() process.Reporter {
	if t == nil || t.progress.rec == nil {
		return nil
	}
	return t.progress.report
}

// report takes a report of the tool. It may still come after the end, from a goroutine that the tool left
// behind.
func (p *callProgress) report(fraction float64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if process.IsFraction(fraction) {
		p.last.Fraction = max(p.last.Fraction, fraction)
	}
	p.raw = text
	if p.timer != nil {
		return
	}
	if wait := time.Until(p.shown.Add(progressEvery)); wait > 0 {
		p.timer = time.AfterFunc(wait, p.tick)
		return
	}
	p.show()
}

// tick shows the latest report when its time has come.
func (p *callProgress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.show()
	}
}

// show passes the latest report to the watchers. The caller holds the lock.
func (p *callProgress) show() {
	p.timer, p.shown = nil, time.Now()
	p.last.Text = p.clean(p.raw)
	if p.live.Event != pawl.Event(p.last) {
		p.live.Time, p.live.Event = p.shown.UTC(), p.last
		p.rec.feed.progress(&p.live, p.last)
	}
}

// clean returns a text as people may see it, in one line. A long text is cut before a word, since half a
// secret is not recognised later. If a filter panics, nothing is shown.
func (p *callProgress) clean(text string) (line string) {
	defer func() {
		if recover() != nil {
			line = ""
		}
	}()
	text = p.rec.clean.text(display.Clean(text))
	line = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(line) > mostProgress {
		line = line[:strings.LastIndexByte(line[:mostProgress], ' ')+1] + "…"
	}
	return line
}

// end shows a report that waits. Nothing is shown after it.
func (p *callProgress) end() {
	if p.rec == nil { // the call is a run of its own
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = true; p.timer != nil {
		p.timer.Stop()
		p.show()
	}
	p.rec.feed.ended(p.last.Call)
}

// words says for a call that was cut short what it reported last.
func (p *callProgress) words() string {
	if words := display.Progress(p.last.Fraction, p.last.Text); words != "" {
		return "; it last reported " + words
	}
	return ""
}
