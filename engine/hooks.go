package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/blame"
)

// A Hook watches entries, one by one and in order, between their being
// appended and the next effect; an intent (model.called, tool.started) is shown
// together with its result. It is called from one goroutine of a run at a
// time, and again on resuming for the entries of the last step, but for those up
// to the last one that was directed. Of an entry, the hooks are asked in order
// until one directs something. That is recorded as hook.directed,
// which is shown to no hook; a panic of a hook directs nothing, and neither does
// what it makes of the last entry, run.stopped or run.paused. The run waits for
// its hooks, half a minute at most over the entries of a step: a hook that has
// not returned by then is abandoned and not asked any more.
type Hook interface {
	Name() string
	Entry(ctx context.Context, s *pawl.State, e pawl.Entry) Direction
}

// A Direction is what a [Hook] makes of an entry. The zero Direction goes on.
// Cancel goes before Retry.
type Direction struct {
	// Cancel ends the run as cancelled.
	Cancel bool
	// Retry has what the entry records made again. A model.replied of a turn
	// counts as rejected: its calls are refused, the model reads the
	// Reason and is asked again in the same iteration, at most twice; two such
	// iterations in a row end the run. After a tool.finished of a Read or
	// Idempotent call, the call is run again with the same key, at most twice,
	// and the model sees the last result only. A Write is never run again, nor
	// is anything else made again: such a direction, and one too many, is
	// recorded as refused and changes nothing.
	Retry bool
	// Budget is how often, in the whole run and counted in its log, this hook may
	// have something made again; zero: as often as the machine allows.
	Budget int
	// Reason says why, for the log and, of a reply, for the model.
	Reason string
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

// hookTime is the most that the hooks may take over the entries of one step.
const hookTime = 30 * time.Second

// askHooks shows the hooks what was appended since they were last asked. It is
// made durable first: a hook sees nothing that could still vanish. What they
// direct is appended, all of it before anything is decided.
func (d *driver) askHooks() error {
	if len(d.rec.hooks.unseen) == 0 {
		return nil
	}
	if err := d.rec.flush(); err != nil {
		return err
	}
	c := newHookCall(&d.rec, d.rec.hooks.unseen)
	c.effect = effect{work: c, limit: hookTime, grace: time.Second, sheltered: true, began: time.Now()}
	return d.effects.run(&c.effect)
}

// hookCall shows entries to the hooks.
type hookCall struct {
	effect
	hooks    []Hook
	disabled []int
	state    *pawl.State
	entries  []pawl.Entry
	said     []directed
	at       atomic.Pointer[directed] // the hook that is asked just now
}

// directed is what a hook makes of an entry.
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
			d := directed{index: i, entry: e}
			c.at.Store(&directed{index: i})
			d.hook = nameOf(h)
			c.at.Store(&directed{index: i, hook: d.hook})
			d.Direction = askHook(ctx, h, c.state, e)
			if !d.Cancel && !d.Retry {
				continue
			}
			if c.said = append(c.said, d); d.Cancel {
				return
			}
			break
		}
	}
}

// record appends what the hooks direct. One that was abandoned at work may
// not be asked beside itself, so it is not asked any more.
func (c *hookCall) record(r *recorder, _ error, abandoned bool) {
	if abandoned {
		at := c.at.Load()
		r.hooks.disabled = append(slices.Clip(r.hooks.disabled), at.index)
		r.log(slog.LevelWarn, "a hook did not return in time and is not asked any more", slog.String("hook", at.hook))
		r.appendNow(pawl.HookDirected{Hook: at.hook, Direction: "left behind",
			Reason: "it did not return in time, and is not asked any more"})
		r.hooks.unseen = nil
		return // nothing else of it may be read
	}
	for _, d := range c.said {
		reason := r.clean.text(d.Reason)
		if d.Cancel {
			r.append(r.state.Seq(),
				pawl.HookDirected{Hook: d.hook, Direction: "cancel", Reason: reason, Entry: d.entry.Seq},
				pawl.CancelRequested{By: "hook " + d.hook, Reason: reason})
			continue
		}
		retry := r.state.Retry(d.hook, reason, d.entry)
		if d.Budget > 0 && retry.Refused == "" && r.hooks.retried[d.hook] >= d.Budget {
			retry.Direction, retry.Refused = "retry refused", fmt.Sprintf("its budget of %d is used up", d.Budget)
		}
		r.appendNow(retry)
		r.hooks.count(retry)
	}
	r.hooks.unseen = nil
}

// showEnd shows the hooks how the run ended or why it is suspended. Nothing comes
// after that, so what they direct about it is neither recorded nor obeyed.
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

// withTimeout calls do on a goroutine of its own and waits until it has returned, or for
// that long; it reports which. A panic in do is reported as an error.
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

// nameOf is what a hook calls itself; its type, if it panics.
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

// copied returns an entry with bytes of its own: what is written into it
// reaches neither the log nor the state, which share theirs.
func copied(e pawl.Entry) (pawl.Entry, error) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return e, err
	}
	return pawl.DecodeEntry(line)
}

// hooksOf returns the hooks of an agent and those of the runs above its run. An
// agent's own hook takes the place of one of the same name above it. A run that
// is not driven by its parent reads in the journal who its parents are.
func (e *Engine) hooksOf(d pawl.Declaration, above []Hook, driven bool, parent string) []Hook {
	if e.opt.HooksOf == nil {
		return nil
	}
	if parent != "" && !driven {
		if s, _, err := e.loadChild(context.Background(), parent); err == nil { // without its parent's log it has its own hooks
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
	defer blame.On("function", "HooksOf")
	return e.opt.HooksOf(d)
}
