package engine

import (
	"sync"

	"github.com/pawl-run/pawl"
)

// feed tells watchers that there is something new. Entries are read from the
// journal by each watcher at its own pace; only pieces of replies, which are in
// no journal, are handed over, and a watcher too slow for them loses the oldest.
type feed struct {
	mu       sync.Mutex
	watchers []*watcher
	closed   bool
}

type watcher struct {
	feed   *feed
	wake   chan struct{} // holds one token when there is something to take
	deltas []pawl.Entry
	end    bool
}

// mostDeltas bounds what waits for one watcher.
const mostDeltas = 4096

func (f *feed) watch() *watcher {
	w := &watcher{feed: f, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.end = f.closed
	f.watchers = append(f.watchers, w)
	return w
}

func (f *feed) unwatch(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, other := range f.watchers {
		if other == w {
			f.watchers = append(f.watchers[:i:i], f.watchers[i+1:]...)
			return
		}
	}
}

// take returns what has come since, and a channel that says when there is more.
func (w *watcher) take() (end bool, deltas []pawl.Entry, wake <-chan struct{}) {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	deltas, w.deltas = w.deltas, nil
	return w.end, deltas, w.wake
}

func (w *watcher) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// news says that entries were appended.
func (f *feed) news() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.watchers {
		w.poke()
	}
}

// delta hands a piece of a reply to whoever watches. Neighbouring pieces of
// text that nobody has taken yet are joined.
func (f *feed) delta(template *pawl.Entry, c pawl.Chunk) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watchers) == 0 {
		return
	}
	entry := *template
	entry.Event = pawl.ModelDelta{Text: c.Text, Thinking: c.Thinking, Tool: c.Call}
	for _, w := range f.watchers {
		if len(w.deltas) >= mostDeltas {
			w.deltas = w.deltas[1:]
		}
		w.deltas = append(w.deltas, entry)
		w.poke()
	}
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, w := range f.watchers {
		w.end = true
		w.poke()
	}
}
