package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/usercode"
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

// count counts the retries of a hook.
func (h *hooks) count(e pawl.HookDirected) {
	if e.Direction != "retry" {
		return
	}
	if h.retried == nil {
		h.retried = map[string]int{}
	}
	h.retried[e.Hook]++
}

// hookTime bounds the time of the hooks for the entries of one step.
const hookTime = 30 * time.Second

// askHooks shows the hooks the entries that were appended since the last call. The entries
// are made durable first, so that a hook sees nothing that could still vanish. All
// directions are appended before anything is decided. It reports whether it showed any:
// meanwhile signals may have arrived.
func (d *driver) askHooks() (asked bool, err error) {
	if len(d.rec.hooks.unseen) == 0 {
		return false, nil
	}
	if err := d.rec.flush(); err != nil {
		return false, err
	}
	c := newHookCall(&d.rec, d.rec.hooks.unseen)
	c.effect = effect{work: c, limit: hookTime, grace: time.Second, sheltered: true, began: time.Now()}
	d.effects.run(&c.effect)
	return true, nil
}

// hookCall shows entries to the hooks.
type hookCall struct {
	effect
	hooks    []Hook
	disabled []int
	state    *pawl.State
	entries  []pawl.Entry
	said     []directed
	at       atomic.Pointer[directed] // the hook that is being called
}

// directed is a hook's direction for an entry.
type directed struct {
	index int
	hook  string
	entry pawl.Entry
	Direction
}

func newHookCall(r *recorder, entries []pawl.Entry) *hookCall {
	r.hooks.unseen = nil
	return &hookCall{hooks: r.watchingHooks(), disabled: r.hooks.disabled, state: r.state.Clone(), entries: entries}
}

// perform shows every entry to the hooks, until one of them directs something.
func (c *hookCall) perform(ctx context.Context) {
	for _, e := range c.entries {
		for i, h := range c.hooks {
			if slices.Contains(c.disabled, i) {
				continue
			}
			d := directed{index: i, hook: nameOf(h), entry: e}
			c.at.Store(&directed{index: i, hook: d.hook})
			d.Direction = askHook(ctx, h, c.state, e)
			if d.Cancel || d.Retry || len(d.Notes) > 0 {
				c.said = append(c.said, d)
			}
			if d.Cancel {
				return
			}
			if d.Retry {
				break
			}
		}
	}
}

// record appends the directions. An abandoned hook is not called any more, since two calls
// of a hook must not overlap.
func (c *hookCall) record(r *recorder, _ error, abandoned bool) {
	if abandoned {
		at := c.at.Load()
		r.hooks.disabled = append(slices.Clip(r.hooks.disabled), at.index)
		r.log(slog.LevelWarn, "a hook did not return in time and is not asked any more", slog.String("hook", at.hook))
		r.appendNow(pawl.HookDirected{Hook: at.hook, Direction: "left behind",
			Reason: "it did not return in time, and is not asked any more"})
		r.hooks.unseen = nil
		return // perform has not returned, so nothing else of c may be read
	}
	for _, d := range c.said {
		noteAll(r, d.hook, d.Notes)
		reason := r.clean.text(d.Reason)
		if !d.Cancel && !d.Retry {
			continue
		}
		if d.Cancel {
			r.append(r.state.Seq(),
				pawl.HookDirected{Hook: d.hook, Direction: "cancel", Reason: reason, Entry: d.entry.Seq},
				pawl.CancelRequested{By: "hook " + d.hook, Reason: reason})
			continue
		}
		retry := r.state.Internals().Retry(d.hook, reason, d.entry)
		if d.Budget > 0 && retry.Refused == "" && r.hooks.retried[d.hook] >= d.Budget {
			retry.Direction, retry.Refused = "retry refused", fmt.Sprintf("its budget of %d is used up", d.Budget)
		}
		r.appendNow(retry)
		r.hooks.count(retry)
	}
	r.hooks.unseen = nil
}

// showEnd shows the hooks the entry that ends or suspends the run. Their directions are
// ignored, since nothing follows that entry.
func (r *recorder) showEnd() {
	var last []pawl.Entry
	for _, e := range r.hooks.unseen {
		switch e.Event.(type) {
		case pawl.RunStopped, pawl.RunPaused:
			last = append(last, e)
		}
	}
	r.hooks.unseen = nil // the rest is shown when the run is resumed
	if last != nil {
		_ = withTimeout(r.base, hookTime, newHookCall(r, last).perform)
	}
}

// withTimeout calls do on its own goroutine and waits until do has returned or limit is
// over. It returns an error for a time-out and for a panic in do.
func withTimeout(ctx context.Context, limit time.Duration, do func(context.Context)) error {
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
		do(ctx)
		err = nil
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("it took longer than %v", limit)
	}
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

func askHook(ctx context.Context, h Hook, s *pawl.State, e pawl.Entry) (d Direction) {
	defer func() {
		if p := recover(); p != nil {
			d = Direction{Reason: fmt.Sprint("hook panicked: ", p)}
		}
	}()
	own, err := copied(e)
	if err != nil {
		return Direction{}
	}
	return h.Entry(ctx, s, own)
}

// copied returns a deep copy of an entry: writing into it reaches neither the log nor the state.
func copied(e pawl.Entry) (pawl.Entry, error) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return e, err
	}
	return pawl.DecodeEntry(line)
}

// hooksOf returns the hooks of an agent and those of the runs above its run. An agent's own
// hook replaces one of the same name above it. If the parent does not drive the run, the
// parents are read from the journal.
func (e *Engine) hooksOf(d pawl.Declaration, above []Hook, driven bool, parent string) []Hook {
	if parent != "" && !driven {
		if s, err := e.loadChild(context.Background(), parent); err == nil { // without its parent's log it has its own hooks
			above = e.hooksOf(s.Declaration(), nil, false, ParentOf(s))
		}
	}
	own := slices.Clip(e.agentHooks(d))
	for _, h := range above {
		if !slices.ContainsFunc(own, func(o Hook) bool { return nameOf(o) == nameOf(h) }) {
			own = append(own, h)
		}
	}
	return own
}

func (e *Engine) agentHooks(d pawl.Declaration) []Hook {
	defer usercode.Blame("function", "HooksOf")
	return e.opt.HooksOf(d)
}
