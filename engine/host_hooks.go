package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/usercode"
	"github.com/pawl-run/pawl/internal/web"
)

// A Hook watches entries, one by one and in order, between their being appended and the
// next effect. An intent (model.called, tool.started) is shown together with its result. A
// hook is called from one goroutine of a run at a time. When a run is resumed, it sees the
// entries of the last step again, except those up to the last one for which a direction was
// recorded.
//
// For each entry, the hooks are called in order until one cancels or retries. That is
// recorded as hook.directed, which is shown to no hook, and neither are notes. A panic of a hook directs nothing,
// and its direction for the last entry, run.stopped or run.paused, is ignored. The run
// waits for its hooks, at most half a minute for the entries of a step: a hook that has not
// returned by then is abandoned and not called any more.
type Hook interface {
	Name() string
	Entry(ctx context.Context, s *pawl.State, e pawl.Entry) Direction
}

// A Direction is the result of a [Hook] for an entry. The zero Direction continues. Cancel
// takes precedence over Retry.
type Direction struct {
	// Cancel ends the run as cancelled.
	Cancel bool
	// Retry repeats what the entry records. A model.replied of a turn counts as
	// rejected: its calls are refused, the model reads the Reason and is asked again
	// in the same iteration, at most twice; two such iterations in a row end the run.
	// After a tool.finished of a Read or Idempotent call, the call runs again with the
	// same key, at most twice, and the model sees only the last result. A Write never
	// runs again, and nothing else is repeated: such a direction, and one too many, is
	// recorded as refused and changes nothing.
	Retry bool
	// Budget is how many retries this hook may direct in the whole run, counted in its
	// log; zero: as many as the machine allows.
	Budget int
	// Reason is for the log and, if a reply is rejected, for the model.
	Reason string
	// Notes are recorded with By "hook NAME"; only their Name and Value count. A note
	// with the latest value of its name is not recorded again.
	Notes []pawl.Noted
}

// nameOf returns the name of a hook; its type, if Name panics.
func nameOf(h Hook) (name string) {
	defer func() {
		if recover() != nil {
			name = fmt.Sprintf("%T", h)
		}
	}()
	return h.Name()
}

// copied returns a deep copy of an entry: writing into it reaches neither the log nor the state.
func copied(e pawl.Entry) (pawl.Entry, error) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return e, err
	}
	return pawl.DecodeEntry(line)
}

// hooksOf returns the hooks of an agent whose run has a parent, or none, that does not drive it: the
// runs above are read from the journal.
func (h *host) hooksOf(d pawl.Declaration, parent string) []Hook {
	if parent == "" {
		return h.hooksOver(d, nil)
	}
	s, err := h.loadChild(context.Background(), parent)
	if err != nil { // without its parent's log it has its own hooks
		return h.hooksOver(d, nil)
	}
	return h.hooksOver(d, h.hooksOf(s.Declaration(), ParentOf(s)))
}

// hooksOver returns the hooks of an agent and those of the runs above its run. An agent's own
// hook replaces one of the same name above it.
func (h *host) hooksOver(d pawl.Declaration, above []Hook) []Hook {
	defer usercode.Blame("function", "HooksOf")
	own := slices.Clip(h.opt.HooksOf(d))
	for _, o := range above {
		if !slices.ContainsFunc(own, func(k Hook) bool { return nameOf(k) == nameOf(o) }) {
			own = append(own, o)
		}
	}
	return own
}

// errExited is the result of an effect that ended its goroutine with runtime.Goexit, as a failing
// assertion of a test does.
var errExited = errors.New("it ended its goroutine (runtime.Goexit) instead of returning")

// withTimeout calls do on its own goroutine and waits until do has returned or limit is
// over. It returns the error of do, and one for a time-out and for a panic in do.
func withTimeout(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := errExited
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
			done <- err
		}()
		err = do(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("it took longer than %v", limit)
	}
}

// read reads an error of the user's code, so that one that panics, such as a nil pointer,
// does so where that code is called and not where its result is recorded.
func read(err error) {
	if err != nil {
		_, _, _ = err.Error(), unknown(err), notRun(err)
	}
}

// unknown reports whether a tool cannot tell whether its call took place, as when the connection
// broke after the call was sent.
func unknown(err error) bool {
	u, ok := errors.AsType[interface {
		error
		Unknown() bool
	}](err)
	return ok && u.Unknown()
}

// notRun reports whether an error says that the call did not run and never will.
func notRun(err error) bool {
	n, ok := errors.AsType[interface {
		error
		NotRun() bool
	}](err)
	return ok && n.NotRun()
}

func (h *host) unharmed(do func()) {
	defer func() {
		if p := recover(); p != nil {
			h.log(slog.LevelError, "a watcher panicked", "", slog.String("panic", redact.Text(h.secrets.Scrub(fmt.Sprint(p)))))
		}
	}()
	do()
}

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

// replying tells the watchers that a reply has begun. An abandoned goroutine may call it,
// so it reads nothing of the run's state.
func (h *host) replying(ctx context.Context, live pawl.Entry) {
	for _, w := range h.opt.Watchers {
		live.Time, live.Event = time.Now().UTC(), pawl.ModelDelta{}
		h.unharmed(func() { w.Entry(ctx, new(pawl.State), live) })
	}
}

// within returns the context for the effect of an intent.
func (h *host) within(ctx context.Context, run string, intent uint64) context.Context {
	for _, w := range h.opt.Watchers {
		ctx = placed(ctx, w, run, intent) //nolint:fatcontext // one value of each watcher
	}
	return ctx
}

// asker returns the trace of the caller that begins a run, for the run's log.
func (h *host) asker(ctx context.Context, run string) string {
	return web.ParentFrom(h.within(ctx, run, 0)).ID
}

// left tells the watchers that this process no longer drives the run.
func (h *host) left(ctx context.Context, run string, err error) {
	for _, w := range h.opt.Watchers {
		h.unharmed(func() { w.Left(ctx, run, err) })
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
