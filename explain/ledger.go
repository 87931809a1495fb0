package explain

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// A ledger counts the bytes of a conversation: it adds what the transcript
// adds, and removes what a compaction removes.
type ledger struct {
	pinned int
	now    stretch   // the whole conversation
	head   stretch   // before the first reply that is not summarised
	course []stretch // each reply that is not summarised, with its results
	turn   int       // replies before the course
	asked  int       // bytes of the input, which no compaction removes
	calls  map[string]*result
	masked map[string]bool // Read calls, by content, whose latest result was masked
	again  map[string]bool // ids of calls repeated because of masking
	key    []byte
}

// stretch is a part of the conversation.
type stretch struct{ verbatim, results, summaries int }

func (s *stretch) add(o stretch) {
	s.verbatim += o.verbatim
	s.results += o.results
	s.summaries += o.summaries
}

// bytes is the length of a stretch.
func (s stretch) bytes() int { return s.verbatim + s.results + s.summaries }

// result is the result of a call in the conversation.
type result struct {
	turn  int // the turn of the call
	bytes int
	key   string // identifies what a Read call reads; empty: not a Read
}

// Approximate bytes of a masked result and of a summary's frame.
const (
	maskBytes  = 100
	frameBytes = 90
)

// declare counts the parts sent with every request.
func (l *ledger) declare(d *pawl.Declaration) {
	l.pinned = len(d.Prompt) + len(d.Output)
	for i := range d.Tools {
		if !d.Tools[i].Deferred {
			l.pinned += size(&d.Tools[i])
		}
	}
}

// find adds a deferred tool, which requests have from now on.
func (l *ledger) find(d *pawl.Declaration, name string) {
	for i := range d.Tools {
		if d.Tools[i].Name == name {
			l.pinned += size(&d.Tools[i])
		}
	}
}

func size(t *pawl.ToolInfo) int { return len(t.Name) + len(t.Description) + len(t.Input) }

func (l *ledger) say(s stretch) {
	l.now.add(s)
	if n := len(l.course); n > 0 {
		l.course[n-1].add(s)
		return
	}
	l.head.add(s)
}

func (l *ledger) said(text string) { l.say(stretch{verbatim: len(text)}) }

// listen adds an entry's part of the conversation.
func (l *ledger) listen(e *pawl.Entry, after *pawl.State) {
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		if ev.Continues != nil {
			l.say(stretch{verbatim: max(0, ev.Continues.Bytes)})
		}
		l.said(ev.Input)
		l.asked = len(ev.Input)
	case pawl.RunForked:
		l.said(ev.Input)
	case pawl.ModelCalled:
		if ev.Purpose == pawl.PurposeTurn && ev.Attempt == 1 && !ev.View.Alone {
			l.said(ev.View.Prompt)
		}
	case pawl.ModelReplied:
		if ev.Purpose == pawl.PurposeTurn {
			l.reply(&ev)
		}
	case pawl.PlanRejected:
		l.said(ev.Feedback)
	case pawl.Observed:
		l.say(stretch{results: len(ev.Text)})
	case pawl.ProgressJudged:
		l.said(ev.Hint)
	case pawl.Reflected:
		l.said(ev.Hint)
	case pawl.Grounded:
		l.said(ev.Hint)
	case pawl.ToolStarted:
		l.started(&ev)
	case pawl.ToolFinished:
		l.answer(ev.Call, len(ev.Result)+len(ev.Error))
	case pawl.ToolRefused:
		l.answer(ev.Call, len(ev.Why))
	case pawl.ToolSettled:
		l.answer(ev.Call, len(ev.Result)+len(ev.Error))
	case pawl.ToolReused:
		of, _ := after.Call(ev.Call)
		l.answer(ev.Call, len(of.Result))
	case pawl.ClientToolReturned:
		l.answer(ev.Call, len(ev.Result))
	case pawl.InputGiven:
		if _, ok := after.Call(ev.Call); ok {
			l.answer(ev.Call, len(ev.Text))
		} else if !ev.After {
			l.said(ev.Text)
		}
	}
}

func (l *ledger) reply(e *pawl.ModelReplied) {
	n := 0
	for _, p := range e.Reply.Parts {
		switch p := p.(type) {
		case pawl.Text:
			n += len(p.Text)
		case pawl.Thinking:
			n += len(p.Text) + len(p.Opaque)
		case pawl.Citation:
			n += len(p.Title) + len(p.URL) + len(p.Quote) + len(p.Opaque)
		case pawl.Call:
			n += len(p.Tool) + len(p.Args)
		}
	}
	l.course = append(l.course, stretch{})
	l.say(stretch{verbatim: n})
}

// started records what a call reads, to recognise it later.
func (l *ledger) started(e *pawl.ToolStarted) {
	r := l.call(e.Call)
	if e.Effect != pawl.Read {
		return
	}
	l.key = append(append(l.key[:0], e.Tool...), 0)
	if args, err := wire.Canonical(l.key, e.Args); err == nil {
		l.key = args
	} else {
		l.key = append(l.key, e.Args...)
	}
	r.key = string(l.key)
	if l.masked[r.key] {
		l.again[e.Call] = true
		delete(l.masked, r.key)
	}
}

func (l *ledger) call(id string) *result {
	r := l.calls[id]
	if r == nil {
		r = &result{turn: l.turn + len(l.course) - 1}
		l.calls[id] = r
	}
	return r
}

func (l *ledger) answer(id string, bytes int) {
	r := l.call(id)
	l.place(r.turn, bytes-r.bytes)
	r.bytes = bytes
}

// place adds to the results of a turn, unless the turn is summarised.
func (l *ledger) place(turn, bytes int) {
	switch i := turn - l.turn; {
	case i >= 0 && i < len(l.course):
		l.course[i].results += bytes
	case len(l.course) == 0:
		l.head.results += bytes
	default:
		return
	}
	l.now.results += bytes
}

// compact applies a compaction, and returns the bytes it saved.
func (l *ledger) compact(e *pawl.ContextCompacted) (saved int) {
	before := l.now.bytes()
	for _, id := range e.Masked {
		r, ok := l.calls[id]
		if !ok {
			continue
		}
		l.place(r.turn, min(0, maskBytes-r.bytes))
		r.bytes = min(r.bytes, maskBytes)
		if r.key != "" {
			l.masked[r.key] = true
		}
	}
	if e.Summary != "" {
		l.summarise(len(e.Summary), e.Kept)
	}
	return before - l.now.bytes()
}

// summarise replaces all but the latest replies with a summary.
func (l *ledger) summarise(bytes, kept int) {
	gone := max(0, len(l.course)-kept)
	l.turn += gone
	l.course = append([]stretch(nil), l.course[gone:]...)
	l.head = stretch{verbatim: l.asked, summaries: bytes + frameBytes}
	l.now = l.head
	for _, s := range l.course {
		l.now.add(s)
	}
}
