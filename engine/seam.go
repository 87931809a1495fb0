package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// A Filter changes text before it becomes an event: what people say to the run,
// the text, thinking and arguments of replies, observations, tool results and
// errors. It must be deterministic and quick, and is called from many
// goroutines. In JSON it is asked about each string, and about each number of
// six digits or more, which becomes a string if that changes it. Thinking that
// is changed loses what the provider wants back with it. Of a reply on its way
// it is asked about one line at a time.
//
// A policy of the agent that is a Filter too is asked after those of [Options].
type Filter interface {
	Filter(text string) string
}

// FilterFunc makes a Filter of a function.
type FilterFunc func(string) string

// Filter calls f.
func (f FilterFunc) Filter(text string) string { return f(text) }

// A Hook watches entries, one by one and in order, between their being
// appended and the next effect; an intent (model.called, tool.started) is shown
// together with what came of it. It is called from one goroutine of a run at a
// time, and again on resuming for the entries of the last step, but for those up
// to the last one that was directed. Of an entry, the hooks are asked in order
// until one directs something. That is recorded as hook.directed,
// which is shown to no hook; a panic of a hook directs nothing, and neither does
// what it makes of the last entry, run.stopped or run.paused. The run waits for
// its hooks, half a minute at most over the entries of a step: a hook that has
// not returned by then is left behind and not asked any more.
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
	// counts as rejected: its calls are refused, the model is told the
	// Reason and asked again in the same iteration, at most twice; two such
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

func (s *session) filter(text string) string { return s.clean.text(text) }

func (s *session) filterReply(r pawl.Reply) pawl.Reply { return s.clean.reply(r) }

func (s *session) filterJSON(raw json.RawMessage) json.RawMessage { return s.clean.json(raw) }

// askHooks shows the hooks what was appended since they were last asked. It is
// made durable first: a hook sees nothing that could still vanish. What they
// direct is appended, all of it before anything is decided.
func (s *session) askHooks() error {
	if len(s.hooked) == 0 {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	a := &asking{hooks: s.hooks(), deaf: s.deaf, state: s.state.Clone(), entries: s.hooked}
	a.flight = flight{effect: a, limit: hookTime, grace: time.Second, sheltered: true}
	s.hooked = nil
	return s.fly(&a.flight, time.Now())
}

// hookTime is the most that the hooks may take over the entries of one step.
const hookTime = 30 * time.Second

// asking is the hooks at work.
type asking struct {
	flight  flight
	hooks   []Hook
	deaf    map[int]bool // which of them are not asked any more
	state   *pawl.State
	entries []pawl.Entry
	said    []directed
	at      atomic.Pointer[directed] // who is asked just now
}

// directed is what a hook makes of an entry.
type directed struct {
	index int
	hook  string
	entry pawl.Entry
	Direction
}

// perform shows every entry to the hooks, until one of them directs something.
func (a *asking) perform(ctx context.Context) {
	for _, e := range a.entries {
		for i, h := range a.hooks {
			if a.deaf[i] {
				continue
			}
			d := directed{index: i, entry: e}
			a.at.Store(&directed{index: i})
			d.hook = nameOf(h)
			a.at.Store(&directed{index: i, hook: d.hook})
			d.Direction = consult(ctx, h, a.state, e)
			if !d.Cancel && !d.Retry {
				continue
			}
			if a.said = append(a.said, d); d.Cancel {
				return
			}
			break
		}
	}
}

// record appends what the hooks direct. One that was left behind at work may
// not be asked beside itself, so it is not asked any more.
func (a *asking) record(s *session, _ error, left bool) {
	it := s.state.Iteration()
	if left {
		at := a.at.Load()
		deaf := maps.Clone(s.deaf)
		if deaf == nil {
			deaf = map[int]bool{}
		}
		deaf[at.index], s.deaf = true, deaf
		s.log(slog.LevelWarn, "a hook did not return in time and is not asked any more", slog.String("hook", at.hook))
		s.append(s.state.Seq(), it, pawl.HookDirected{Hook: at.hook, Direction: "left behind",
			Reason: "it did not return in time, and is not asked any more"})
		s.hooked = nil
		return
	}
	for _, d := range a.said {
		reason := s.filter(d.Reason)
		if d.Cancel {
			s.append(s.state.Seq(), it,
				pawl.HookDirected{Hook: d.hook, Direction: "cancel", Reason: reason, Entry: d.entry.Seq},
				pawl.CancelRequested{By: "hook " + d.hook, Reason: reason})
			continue
		}
		again := s.state.Retry(d.hook, reason, d.entry)
		if d.Budget > 0 && again.Refused == "" && s.retried[d.hook] >= d.Budget {
			again.Direction, again.Refused = "retry refused", fmt.Sprintf("its budget of %d is used up", d.Budget)
		}
		s.append(s.state.Seq(), it, again)
		s.count(again)
	}
	s.hooked = nil
}

// farewell shows the hooks how the run ended or why it is parked. Nothing comes
// after that, so what they direct about it counts for nothing, and nobody waits
// for them to be recorded.
func (s *session) farewell() {
	var last []pawl.Entry
	for _, e := range s.hooked {
		switch e.Event.(type) {
		case pawl.RunStopped, pawl.RunPaused:
			last = append(last, e)
		}
	}
	s.hooked = nil // what else there is the hooks are asked when the run is resumed
	if last == nil {
		return
	}
	a := &asking{hooks: s.hooks(), deaf: s.deaf, state: s.state.Clone(), entries: last}
	ctx, cancel := context.WithTimeout(s.base, hookTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.perform(ctx)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// count counts the retries of a hook.
func (s *session) count(d pawl.HookDirected) {
	if d.Direction != "retry" {
		return
	}
	if s.retried == nil {
		s.retried = map[string]int{}
	}
	s.retried[d.Hook]++
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

func consult(ctx context.Context, h Hook, s *pawl.State, e pawl.Entry) (d Direction) {
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

// copied is an entry whose bytes are nobody else's: what is written into it
// reaches neither the log nor the state, which share theirs.
func copied(e pawl.Entry) (pawl.Entry, error) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return e, err
	}
	return pawl.DecodeEntry(line)
}
