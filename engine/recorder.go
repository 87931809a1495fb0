package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/window"
)

// A recorder keeps one run's log: it appends events, folds them into the state,
// makes them durable, and shows them to hooks, watchers and handles. Only the
// goroutine that drives the run uses it, so it needs no lock; its feed and its
// lease, which others share, have their own.
type recorder struct {
	host    *host
	caller  *recorder     // of the run that drives this one, as a call; nil: there is none
	machine *pawl.Machine // nil: the agent is unknown
	lease   lease
	clean   cleaner
	learned redact.Learned  // credentials of the run's user
	secrets redact.Secrets  // those of the host and the learned ones
	base    context.Context // the values of the run's context, without its end

	state      *pawl.State
	transcript *window.Transcript
	runs       int          // the number of runs that this one continues
	pending    []pawl.Entry // appended, not yet durable
	copied     int          // how many of them, at the front, another run wrote
	durable    uint64       // the last durable entry
	failed     error        // why nothing more can be recorded
	holds      bool         // the run may have reserved something of a budget
	hooks      hooks
	feed       feed
	features   []feature
	files      files
	callDirs   callDirs
	labels     map[string]string // that budgets and permissions look at; nil: not looked up yet
}

// open prepares the record of a claimed run. If the machine is nil, nothing is known of the agent.
func (r *recorder) open(ctx context.Context, h *host, m *pawl.Machine, l pawl.Lease) {
	r.host, r.machine, r.clean, r.state, r.base = h, m, h.cleaner(m), new(pawl.State), context.WithoutCancel(ctx)
	r.secrets = r.clean.secrets.With(&r.learned)
	r.clean.secrets = &r.secrets
	r.lease.Lease, r.lease.host = l, h
	r.pending = make([]pawl.Entry, 0, 4)
	if m != nil {
		r.feed.name = m.Agent().Name
		r.transcript = window.NewTranscript(m.Agent().Strategy)
	}
}

// append adds events to the log. They are folded at once, and durable after the next flush;
// no effect may happen in between. The folded event is the one that decoding the log would
// give, so that a live run and a resumed one cannot differ.
func (r *recorder) append(at uint64, events ...pawl.Event) {
	r.appendIn(r.state.Iteration(), at, events...)
}

// appendNow is append for events that were decided on the current state.
func (r *recorder) appendNow(events ...pawl.Event) { r.append(r.state.Seq(), events...) }

// appendIn is append for events of another iteration than the state's.
func (r *recorder) appendIn(iteration int, at uint64, events ...pawl.Event) {
	for _, event := range events {
		if r.failed != nil {
			return
		}
		entry, err := r.entry(iteration, at, event)
		if err != nil {
			return
		}
		r.take(entry)
	}
}

// entry makes the next entry.
func (r *recorder) entry(iteration int, at uint64, event pawl.Event) (pawl.Entry, error) {
	now := time.Now()
	if now.Before(r.state.Time()) {
		now = r.state.Time()
	}
	entry := pawl.Entry{Run: r.lease.Run, Seq: r.state.Seq() + 1, At: at, Time: now, Iteration: iteration, Event: event}
	err := entry.Normalise()
	if err == nil && r.host.verify {
		err = verify(entry)
	}
	if err != nil {
		r.failed = fmt.Errorf("run %s: %w", r.lease.Run, err)
	}
	return entry, r.failed
}

// take folds an entry and keeps it until it is written and shown.
func (r *recorder) take(entry pawl.Entry) {
	r.fold(entry)
	r.pending = append(r.pending, entry)
	if len(r.watchingHooks()) > 0 {
		r.hooks.unseen = append(r.hooks.unseen, entry)
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
	if err := r.able(); err != nil || len(r.pending) == 0 {
		return err
	}
	if err := r.writeWith(r.pending, r.state, nil); err != nil {
		r.failed = fmt.Errorf("append to run %s: %w", r.lease.Run, err)
		return r.failed
	}
	r.written()
	return nil
}

// able returns why nothing more can be written; nil: it can.
func (r *recorder) able() error {
	if r.failed != nil {
		return r.failed
	}
	if err := r.lease.taken.Load(); err != nil {
		return *err
	}
	return nil
}

// written shows what has become durable.
func (r *recorder) written() {
	r.durable += uint64(len(r.pending))
	r.feed.news(r.durable)
	r.notifyWatchers()
	clear(r.pending)
	r.pending, r.copied = r.pending[:0], 0
}

// writeWith writes entries to the journal with what they do to budgets, even if the run's
// context is over, since its end must be recorded. s is the state after them. A memory journal
// gets entries; every other journal, even one that wraps it, gets bytes.
func (r *recorder) writeWith(entries []pawl.Entry, s *pawl.State, reserve []budget.Reservation) error {
	b := pawl.Batch{Run: r.lease.Run, Epoch: r.lease.Epoch, After: r.durable}
	b.Head = s.Head()
	if slices.ContainsFunc(entries, changesText) {
		b.Text = SearchText(r.state)
	}
	change := budget.Change{Reserve: reserve}
	if r.holds {
		change = settling(entries)
		change.Reserve = reserve
	}
	books := change.Settle != budget.SettleNothing || reserve != nil
	if m, ok := r.host.journal.(*memory.Journal); ok && !books {
		return m.AppendEntries(r.base, &b, entries)
	}
	return r.writeBytes(&b, entries, change, books)
}

func (r *recorder) writeBytes(b *pawl.Batch, entries []pawl.Entry, change budget.Change, books bool) error {
	var err error
	b.Records, err = encode(entries)
	switch {
	case err != nil:
	case books:
		if err = r.host.ledger.Spend(r.base, *b, change); err == nil && change.Settle != budget.SettleNothing {
			r.holds = false
		}
	default:
		err = r.host.journal.Append(r.base, *b)
	}
	return err
}

// changesText reports whether a search should find the run by another text after an entry.
func changesText(e pawl.Entry) bool {
	switch e.Event.(type) {
	case pawl.RunStarted, pawl.RunForked, pawl.RunStopped:
		return true
	}
	return false
}

// SearchText returns the text by which a search finds a run, for [pawl.Batch]. What looks like
// a secret is removed, so that a search for the beginning of a secret finds nothing.
func SearchText(s *pawl.State) string { return redact.Text(s.Text()) }

// encode returns the encoded entries.
func encode(entries []pawl.Entry) (records [][]byte, err error) {
	records = make([][]byte, len(entries))
	for i := range entries {
		if records[i], err = entries[i].AppendJSON(nil); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// continues makes the conversation continue that of an earlier run.
func (r *recorder) continues(p *past) {
	if p.transcript != nil {
		r.state, r.transcript, r.runs = p.before(), p.transcript, p.runs
	}
}

// announce makes the intents of effects durable. Watchers see no effect before that.
func (r *recorder) announce(effects ...*effect) error {
	if err := r.flush(); err != nil {
		return err
	}
	for _, e := range effects {
		e.values = r.host.within(r.base, r.lease.Run, e.intent) //nolint:fatcontext // each effect has its own
	}
	return nil
}

// writable reports whether entries can be added: this process owns the run, the run has not
// ended, and the state matches the log.
func (r *recorder) writable() bool {
	return r.lease.ours() && r.failed == nil && r.state.Seq() > 0 &&
		r.state.Seq() == r.durable+uint64(len(r.pending)) && !r.state.Status().Ended()
}

// resumed appends that the current owner resumes the run.
func (r *recorder) resumed() {
	r.appendNow(pawl.RunResumed{Owner: r.lease.Owner, Epoch: r.lease.Epoch})
}

// log writes to the operator's log about the run.
func (r *recorder) log(level slog.Level, message string, attrs ...slog.Attr) {
	r.host.log(level, message, r.lease.Run, attrs...)
}

// hooks are the hooks of one run, and the entries that they have not seen.
type hooks struct {
	list     []Hook         // in call order; nil: not looked up yet
	above    []Hook         // of the agent and of the runs above
	disabled []int          // hooks that are no longer called, by index
	retried  map[string]int // retries that each hook has directed in this run
	unseen   []pawl.Entry   // appended, not yet shown
}

// watchingHooks returns the hooks of the run: those of all runs, those of its agent, and
// those of the runs above it. They are looked up once, when the first entry is folded.
func (r *recorder) watchingHooks() []Hook {
	h := &r.hooks
	if h.list == nil {
		h.list = slices.Clip(r.host.opt.Hooks) // the only hooks if HooksOf panics
		d := r.state.Declaration
		if r.machine != nil { // the current agent, which may differ from the first
			d = r.machine.Declaration
		}
		switch {
		case r.host.opt.HooksOf == nil:
		case r.caller != nil:
			h.above = r.host.hooksOver(d(), r.caller.hooks.above)
		default:
			h.above = r.host.hooksOf(d(), ParentOf(r.state))
		}
		h.list = append([]Hook{}, slices.Concat(r.host.opt.Hooks, h.above)...)
	}
	return h.list
}

// verify returns an error if an entry differs from its decoded encoding.
func verify(e pawl.Entry) error {
	back, err := copied(e)
	if err == nil && !reflect.DeepEqual(e, back) {
		err = fmt.Errorf("entry %d of run %s is not what the log says: %+v is read for %+v", e.Seq, e.Run, back, e)
	}
	return err
}

// notifyWatchers tells the watchers about entries that have become durable.
func (r *recorder) notifyWatchers() {
	for _, w := range r.host.opt.Watchers {
		for _, e := range r.pending[r.copied:] {
			own, err := copied(e)
			if err != nil {
				continue // not an entry of the log
			}
			r.host.unharmed(func() { w.Entry(r.base, r.state, own) })
		}
	}
}

// payer returns the labels that budgets look at: those of the run above all others.
func (r *recorder) payer() (map[string]string, error) {
	if r.labels != nil {
		return r.labels, nil
	}
	head := r.state.Head()
	for parent := ParentOf(r.state); parent != ""; {
		above, err := r.host.head(r.base, parent)
		if errors.Is(err, pawl.ErrUnknownRun) { // imported without it
			break
		}
		if err != nil {
			return nil, err
		}
		head, parent = above, parentOf(above.Run, above.Parent)
	}
	if r.labels = head.Labels; r.labels == nil {
		r.labels = map[string]string{}
	}
	return r.labels, nil
}

// noteAll records the notes of a hook.
func noteAll(r *recorder, hook string, notes []pawl.Noted) {
	for _, n := range notes {
		by, value := "hook "+hook, r.clean.json(n.Value)
		if !json.Valid(value) {
			r.log(slog.LevelWarn, "a hook's note is not JSON and is not recorded", slog.String("hook", hook), slog.String("note", n.Name))
			continue
		}
		name := r.clean.text(n.Name)
		if old, ok := r.state.Note(by, name); ok && wire.Equal(old, value) {
			continue // the hook was shown the entry before a crash, too
		}
		r.appendNow(pawl.Noted{By: by, Name: name, Value: value})
	}
}

// noteChanges records what an adapter changed in a request because the model refuses it, unless
// that is recorded. The note has all changes so far.
func noteChanges(r *recorder, changes []string) {
	const by, name = "__model__", "adapted"
	if len(changes) == 0 {
		return
	}
	var all []string
	if before, ok := r.state.Note(by, name); ok {
		_ = json.Unmarshal(before, &all) // which is the engine's own
	}
	known := len(all)
	for _, text := range changes {
		if text = wire.Text(text); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) > known {
		value, _ := json.Marshal(all) // strings always marshal
		r.appendNow(pawl.Noted{By: by, Name: name, Value: value})
	}
}

// timeLeft is the rest of a run's time limit.
func timeLeft(s *pawl.State, now time.Time) time.Duration {
	return s.Limits().Time - s.Elapsed() - max(0, now.Sub(s.Time()))
}

// reserve makes an entry and all before it durable, together with its reservations, and folds
// it. If the error is a *budget.OverError, nothing has changed.
func (r *recorder) reserve(entry pawl.Entry, reserve []budget.Reservation) error {
	if err := r.able(); err != nil {
		return err
	}
	probe := r.state.Clone()
	probe.Fold(entry)
	err := r.writeWith(append(r.pending[:len(r.pending):len(r.pending)], entry), probe, reserve)
	if err != nil {
		if _, over := errors.AsType[*budget.OverError](err); !over {
			r.failed = fmt.Errorf("append to run %s: %w", r.lease.Run, err)
			err = r.failed
		}
		return err
	}
	r.holds = true
	r.take(entry)
	r.written()
	return nil
}

// reserved takes note of an event of a log that is loaded: a model call that has no result may
// have reserved something, with an engine that had budgets.
func (r *recorder) reserved(event pawl.Event) {
	switch event.(type) {
	case pawl.ModelCalled:
		r.holds = r.host.ledger != nil
	case pawl.ModelReplied, pawl.ModelFailed, pawl.RunResumed, pawl.RunForked:
		r.holds = false
	}
}

// settling is what entries do to what the run has reserved.
func settling(entries []pawl.Entry) (c budget.Change) {
	for _, e := range entries {
		switch e := e.Event.(type) {
		case pawl.ModelReplied:
			c.Settle, c.Spent = budget.SettleSpent, budget.Of(e.Reply.Usage.Total(), e.Cost)
		case pawl.ModelFailed:
			c.Settle, c.Spent = budget.SettleSpent, budget.Of(e.Usage.Total(), e.Cost)
		case pawl.RunResumed:
			c.Settle = budget.SettleReserved
		}
	}
	return c
}
