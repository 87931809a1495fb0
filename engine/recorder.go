package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/window"
)

// A recorder keeps one run's log: it appends events, folds them into the state,
// makes them durable, and shows them to hooks, watchers and handles. Only the
// goroutine that drives the run uses it, so it needs no lock; its feed and its
// lease, which others share, have their own.
type recorder struct {
	engine  *Engine
	machine *pawl.Machine // nil: nothing is known of the agent
	lease   lease
	clean   cleaner
	base    context.Context // the values of the run's context, without its end

	state      *pawl.State
	transcript *window.Transcript
	runs       int          // that this one continues
	pending    []pawl.Entry // appended, not yet durable
	copied     int          // how many of them, in front, another run wrote
	durable    uint64       // the last durable entry
	failed     error        // why nothing can be recorded any more
	hooks      hooks
	feed       feed
}

// append adds events to the log. They are folded at once, and durable after the
// next flush; no effect may happen in between. What is folded is what the log can
// say, so that a live run and a resumed one cannot differ.
func (r *recorder) append(at uint64, events ...pawl.Event) {
	r.appendIn(r.state.Iteration(), at, events...)
}

// appendNow is append for what is decided on the state as it is.
func (r *recorder) appendNow(events ...pawl.Event) { r.append(r.state.Seq(), events...) }

// appendIn is append for events of another iteration than the state's.
func (r *recorder) appendIn(iteration int, at uint64, events ...pawl.Event) {
	now := time.Now()
	if now.Before(r.state.Time()) {
		now = r.state.Time()
	}
	for _, event := range events {
		if r.failed != nil {
			return
		}
		entry := pawl.Entry{Run: r.lease.Run, Seq: r.state.Seq() + 1, At: at, Time: now, Iteration: iteration, Event: event}
		err := entry.Normalise()
		if err == nil && r.engine.verify {
			err = verify(entry)
		}
		if err != nil {
			r.failed = fmt.Errorf("run %s: %w", r.lease.Run, err)
			return
		}
		r.fold(entry)
		r.pending = append(r.pending, entry)
		if len(r.watchingHooks()) > 0 {
			r.hooks.unseen = append(r.hooks.unseen, entry)
		}
	}
}

// fold folds an entry into the state and the conversation.
func (r *recorder) fold(e pawl.Entry) {
	r.state.Fold(e)
	r.transcript.Add(e, r.state)
}

// flush makes everything appended durable. Until it returns nil, nothing that
// was appended may be acted on.
func (r *recorder) flush() error {
	if r.failed != nil {
		return r.failed
	}
	if err := r.lease.taken.Load(); err != nil {
		return *err
	}
	if len(r.pending) == 0 {
		return nil
	}
	if err := r.write(); err != nil {
		r.failed = fmt.Errorf("append to run %s: %w", r.lease.Run, err)
		return r.failed
	}
	r.durable += uint64(len(r.pending))
	r.feed.news(r.durable)
	r.tell()
	clear(r.pending)
	r.pending, r.copied = r.pending[:0], 0
	return nil
}

// write hands the pending entries to the journal. The run's own end must still be
// written when its context is over. A memory journal keeps entries as they are;
// one that wraps it gets bytes, like every other.
func (r *recorder) write() error {
	b := pawl.Batch{Run: r.lease.Run, Epoch: r.lease.Epoch, After: r.durable, Head: r.state.Head()}
	if m, ok := r.engine.journal.(*memory.Journal); ok {
		return m.AppendEntries(r.base, b, r.pending)
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var err error
	b.Records, err = encode(buffer, r.pending)
	if err != nil {
		return err
	}
	return r.engine.journal.Append(r.base, b)
}

// encode writes entries into buffer, one after the other.
func encode(buffer *[]byte, entries []pawl.Entry) (records [][]byte, err error) {
	lines, ends := (*buffer)[:0], make([]int, len(entries))
	for i := range entries {
		if lines, err = entries[i].AppendJSON(lines); err != nil {
			return nil, err
		}
		ends[i] = len(lines)
	}
	*buffer = lines
	if cap(lines) > maxBuffer {
		*buffer = nil
	}
	records = make([][]byte, len(entries))
	begin := 0
	for i, end := range ends {
		records[i], begin = lines[begin:end:end], end
	}
	return records, nil
}

// buffers hold entries while they are written. Journals keep none of their
// arguments, see [pawl.Journal].
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 2<<10)) }}

// maxBuffer is the largest buffer that is kept for reuse, in bytes.
const maxBuffer = 64 << 10

// continues has the conversation go on with that of an earlier run.
func (r *recorder) continues(p *past) {
	if p != nil && p.transcript != nil {
		r.state, r.transcript, r.runs = p.before(), p.transcript, p.runs
	}
}

// announce makes the intents of effects durable. No watcher sees an effect before.
func (r *recorder) announce(effects ...*effect) error {
	if err := r.flush(); err != nil {
		return err
	}
	for _, e := range effects {
		e.values = r.engine.within(r.base, r.lease.Run, e.intent) //nolint:fatcontext // each effect has its own
	}
	return nil
}

// writable reports whether an entry can be added to the log: the run is ours and
// goes on, and its state is that of the log and of what was appended.
func (r *recorder) writable() bool {
	return r.lease.ours() && r.failed == nil && r.state.Seq() > 0 &&
		r.state.Seq() == r.durable+uint64(len(r.pending)) && !r.state.Status().Ended()
}

// resumed appends that the present owner goes on with the run.
func (r *recorder) resumed() {
	r.appendNow(pawl.RunResumed{Owner: r.lease.Owner, Epoch: r.lease.Epoch})
}

// log writes to the operator's log about the run.
func (r *recorder) log(level slog.Level, message string, attrs ...slog.Attr) {
	r.engine.log(level, message, r.lease.Run, attrs...)
}

// hooks are those of one run, and what they have not been shown.
type hooks struct {
	list     []Hook         // in the order in which they are asked; nil: not looked up yet
	above    []Hook         // of the agent and of the runs above
	driven   bool           // by the run whose child this one is, which has set above
	disabled []int          // the hooks that are not asked any more, by index
	retried  map[string]int // what each hook has had made again in this run
	unseen   []pawl.Entry   // appended, not yet shown
}

// watchingHooks returns the hooks of the run: those of all runs, those of its agent,
// and those of the runs above it. They are looked up once, when the first entry is
// folded.
func (r *recorder) watchingHooks() []Hook {
	h := &r.hooks
	if h.list == nil {
		var d pawl.Declaration
		if r.machine != nil { // what the run goes on with, which may differ from what it began with
			d = r.machine.Declaration()
		} else {
			d = r.state.Declaration()
		}
		h.list = slices.Clip(r.engine.opt.Hooks) // all there are, should HooksOf panic
		h.above = r.engine.hooksOf(d, h.above, h.driven, ParentOf(r.state))
		h.list = append([]Hook{}, slices.Concat(r.engine.opt.Hooks, h.above)...)
	}
	return h.list
}
