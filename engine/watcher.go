package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/web"
)

// A Watcher observes all runs of an engine while they are driven, and changes nothing. It
// gets what [Handle.Entries] yields, for every run, without reading the journal; telemetry
// is one. Its methods must return at once. A panic of a watcher is logged and has no other
// consequence. The methods are called from several goroutines, but for one run from one at
// a time.
type Watcher interface {
	// Entry is called for every entry that this engine writes, in order and once, when
	// it is durable, and for an intent before its effect; s is the run's state then.
	// When a reply begins to stream, Entry is called with an entry without a Seq, whose
	// event is an empty [pawl.ModelDelta] and whose At is the seq of the model.called,
	// and with a zero s. The entry and what it refers to must not be changed.
	Entry(ctx context.Context, s *pawl.State, e pawl.Entry)
	// Within returns the context for the effect of an intent: the entry with that seq, a
	// model.called, a tool.started or a child.started. The values of the context may
	// differ from those of ctx, but not its end. If intent is zero, it is the context in
	// which the run begins.
	Within(ctx context.Context, run string, intent uint64) context.Context
	// Left is called last: the run has ended or is suspended or, if there is an error, it
	// broke and must be resumed.
	Left(ctx context.Context, run string, err error)
}

// notifyWatchers tells the watchers about entries that have become durable.
func (r *recorder) notifyWatchers() {
	for _, w := range r.engine.opt.Watchers {
		for _, e := range r.pending[r.copied:] {
			own, err := copied(e)
			if err != nil {
				continue // not an entry of the log
			}
			r.engine.unharmed(func() { w.Entry(r.base, r.state, own) })
		}
	}
}

// replying tells the watchers that a reply has begun. An abandoned goroutine may call it,
// so it reads nothing of the run's state.
func (e *Engine) replying(ctx context.Context, live pawl.Entry) {
	for _, w := range e.opt.Watchers {
		live.Time, live.Event = time.Now().UTC(), pawl.ModelDelta{}
		e.unharmed(func() { w.Entry(ctx, new(pawl.State), live) })
	}
}

// within returns the context for the effect of an intent.
func (e *Engine) within(ctx context.Context, run string, intent uint64) context.Context {
	for _, w := range e.opt.Watchers {
		ctx = placed(ctx, w, run, intent) //nolint:fatcontext // one value of each watcher
	}
	return ctx
}

// asker returns the trace of the caller that begins a run, for the run's log.
func (e *Engine) asker(ctx context.Context, run string) string {
	return web.ParentFrom(e.within(ctx, run, 0)).ID
}

// left tells the watchers that this process no longer drives the run.
func (e *Engine) left(ctx context.Context, run string, err error) {
	for _, w := range e.opt.Watchers {
		e.unharmed(func() { w.Left(ctx, run, err) })
	}
}

func placed(ctx context.Context, w Watcher, run string, intent uint64) (within context.Context) {
	defer func() {
		if recover() != nil || within == nil {
			within = ctx
		}
	}()
	return w.Within(ctx, run, intent)
}

func (e *Engine) unharmed(do func()) {
	defer func() {
		if p := recover(); p != nil {
			e.log(slog.LevelError, "a watcher panicked", "", slog.String("panic", redact.Text(e.secrets.Scrub(fmt.Sprint(p)))))
		}
	}()
	do()
}
