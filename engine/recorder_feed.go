package engine

import (
	"slices"
	"sync"

	"github.com/pawl-run/pawl"
)

// A feed tells watchers that there are new entries. Each watcher reads entries from the
// journal at its own pace. Pieces of replies and progress of calls, which are in no journal, are
// passed on here, and a watcher too slow for them loses the oldest.
type feed struct {
	mu       sync.Mutex
	watchers []*watcher
	last     uint64  // the last durable entry
	said     piece   // the text of the reply that is being streamed, for watchers that begin during it
	calls    []piece // the progress of running calls, for watchers that begin meanwhile
	closed   bool

	above *feed  // of the run that this one is a child of, which gets its pieces, too; nil: nobody does
	name  string // of this run's agent
}

type watcher struct {
	feed   *feed
	wake   chan struct{} // holds one token if there is something to take
	pieces []piece
	news   bool // entries were appended
	end    bool
}

// A piece is one or more consecutive chunks of a reply, or the progress of a call. It becomes an entry
// when its watcher takes it, and until then absorbs later ones: a watcher behind a fast model gets
// larger pieces, not more of them.
type piece struct {
	live  pawl.Entry // without its event
	at    uint64     // the entry of the watched run that it comes after
	agent string     // whose it is, if it is a child's
	first pawl.Chunk
	from  int    // bytes of the reply's text before the piece
	more  []byte // the text, or thinking, of first and all chunks joined to it
	call  pawl.ToolProgressed
}

const (
	mostPieces = 4096    // maximum of pieces waiting for one watcher
	mostJoined = 8 << 10 // maximum of bytes of one piece
	mostBeside = 64      // how far back a piece is joined, when several runs reply at once
)

// join adds a chunk if it continues the piece's text or thinking.
func (p *piece) join(c *pawl.Chunk) bool {
	if c.Call != "" || p.first.Call != "" || len(p.more) > mostJoined {
		return false
	}
	was, now := p.first.Text, c.Text
	switch {
	case c.Thinking == "" && p.first.Thinking == "":
	case c.Text == "" && p.first.Text == "":
		was, now = p.first.Thinking, c.Thinking
	default:
		return false
	}
	if p.more == nil {
		p.more = []byte(was)
	}
	p.more = append(p.more, now...)
	return true
}

// say adds the text of a piece of the same reply, however much there is.
func (p *piece) say(next *piece) {
	switch {
	case p.at == 0:
		*p = *next
		return
	case p.more == nil:
		p.more = []byte(p.first.Text)
	}
	p.more = append(p.more, next.first.Text...)
}

// entry returns the piece as an entry for a watcher.
func (p *piece) entry() pawl.Entry {
	if e := p.live; p.call.Call != "" {
		p.call.Agent = p.agent
		e.Event = p.call
		return e
	}
	d := pawl.ModelDelta{Text: p.first.Text, Thinking: p.first.Thinking, Tool: p.first.Call, Agent: p.agent}
	if d.Text != "" {
		d.From = p.from
	}
	switch {
	case p.more == nil:
	case d.Thinking != "":
		d.Thinking = string(p.more)
	default:
		d.Text = string(p.more)
	}
	e := p.live
	e.Event = d
	return e
}

func (f *feed) watch() *watcher {
	w := &watcher{feed: f, wake: make(chan struct{}, 1), news: true}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.end = f.closed
	if p := f.said; p.at > 0 {
		p.more = slices.Clip(p.more) // both grow
		w.pieces = append(w.pieces, p)
	}
	w.pieces = append(w.pieces, f.calls...)
	f.watchers = append(f.watchers, w)
	return w
}

func (f *feed) unwatch(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = slices.DeleteFunc(f.watchers, func(other *watcher) bool { return other == w })
}

// take returns the news: whether there are entries to read, whether they are the last, and
// pieces. Entries up to last belong before later pieces; entries that are appended while the
// watcher reads may belong after pieces that are still to come.
func (w *watcher) take() (news, end bool, last uint64, pieces []piece) {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	news, pieces = w.news, w.pieces
	w.news, w.pieces = false, nil
	return news, w.end, w.feed.last, pieces
}

func (w *watcher) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// news announces that entries were appended, and the last of them.
func (f *feed) news(last uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.said = last, piece{}
	for _, w := range f.watchers {
		w.news = true
		w.poke()
	}
}

// delta passes a chunk of a reply to the watchers, and to those of the runs above. live is its
// entry without the event, and from how many bytes of text came before.
func (f *feed) delta(live *pawl.Entry, c *pawl.Chunk, from int) {
	f.pass(piece{live: *live, at: live.At, first: *c, from: from})
	for up := f.above; up != nil; up = up.above {
		up.pass(piece{live: *live, agent: f.name, first: *c, from: from})
	}
}

// progress passes the progress of a call on as delta does a chunk.
func (f *feed) progress(live *pawl.Entry, call pawl.ToolProgressed) {
	f.pass(piece{live: *live, at: live.At, call: call})
	for up := f.above; up != nil; up = up.above {
		up.pass(piece{live: *live, agent: f.name, call: call})
	}
}

// ended forgets the progress of a call.
func (f *feed) ended(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = slices.DeleteFunc(f.calls, func(p piece) bool { return p.call.Call == call })
}

// pass passes a piece to the watchers.
func (f *feed) pass(p piece) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case p.at == 0: // of another run
		p.at = f.last
	case p.first.Text != "":
		f.said.say(&p)
	case p.call.Call != "":
		f.calls = append(slices.DeleteFunc(f.calls, func(was piece) bool { return was.call.Call == p.call.Call }), p)
	}
	for _, w := range f.watchers {
		if w.joins(&p) {
			continue // it was poked when the piece began
		}
		n := len(w.pieces)
		if n >= mostPieces {
			w.pieces = append(w.pieces[:0], w.pieces[n/2:]...)
		}
		w.pieces = append(w.pieces, p)
		w.poke()
	}
}

// joins adds a piece to the latest one of the same reply or call, and reports whether it could.
func (w *watcher) joins(p *piece) bool {
	for i := len(w.pieces) - 1; i >= max(0, len(w.pieces)-mostBeside); i-- {
		was := &w.pieces[i]
		switch {
		case was.live.Run != p.live.Run || was.call.Call != p.call.Call:
		case p.call.Call != "":
			was.live, was.call = p.live, p.call
			return true
		default:
			return was.live.At == p.live.At && was.join(&p.first)
		}
	}
	return false
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, w := range f.watchers {
		w.news, w.end = true, true
		w.poke()
	}
}
