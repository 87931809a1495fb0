package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

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
func (s *effects) askHooks() (asked bool, err error) {
	if len(s.rec.hooks.unseen) == 0 {
		return false, nil
	}
	if err := s.rec.flush(); err != nil {
		return false, err
	}
	c := newHookCall(s.rec, s.rec.hooks.unseen)
	c.effect = effect{work: c, limit: hookTime, grace: time.Second, sheltered: true, began: time.Now()}
	s.run(&c.effect)
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
func (c *hookCall) perform(ctx context.Context) error {
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
				return nil
			}
			if d.Retry {
				break
			}
		}
	}
	return nil
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
