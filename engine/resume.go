package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/window"
)

// ResumeOptions are what may change when a run is resumed.
type ResumeOptions struct {
	// Limits raises or lowers limits; zero fields stay. If the run has used them up,
	// Resume fails with a *SpentError.
	Limits pawl.Limits
	// AllowSpent resumes the run even if it has used up Limits already. It then
	// ends as exhausted, with a last answer if that fits.
	AllowSpent bool
	// Stop replaces the stop condition; nil keeps it.
	Stop pawl.Condition
	// AllowChange continues although the agent differs from the one the run began
	// with. The difference is recorded.
	AllowChange bool
	// Upgrade is the rule if the agent differs from the one the run began with and
	// AllowChange is not set. With UpgradeFork the handle is that of the fork.
	Upgrade Upgrade
	// After, unless zero, resumes only if the log still ends with that entry, and
	// fails with pawl.ErrConflict otherwise: of concurrent calls for the same reason,
	// one succeeds.
	After uint64
	// Lease is that of the run, if the caller has taken it for this process; see
	// [pawl.Take]. If Resume fails, the caller releases it. Zero: Resume takes a lease.
	Lease pawl.Lease
	// Watch is StartOptions.Watch.
	Watch bool

	caller *recorder // of the run that drives this one, as a call; nil: there is none
	leg    bool      // another run has handed over to it, and makes room for it
	of     string    // the run that is being forked
}

// A ChangedError says that a run cannot be resumed or forked because the agent differs from
// the one it began with.
type ChangedError struct {
	Run   string
	Parts []string // such as "prompt" or "tool search"
}

// Error names the parts that differ and the remedies.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("run %s began with another agent: %s changed; resume or fork it with the agent it began with, or allow the change",
		e.Run, strings.Join(e.Parts, ", "))
}

// Why a run that was imported cannot be resumed.
var (
	ErrRedacted = errors.New("it was imported from a redacted export and can only be read; to continue it, import a raw export")
	ErrTorn     = errors.New("the end of its log was lost before it was imported or restored, and resuming it would repeat the effects in the lost entries; fork it at an entry before them")
)

// Resume continues a run that is suspended, interrupted, or ended without success. It fails
// with a *pawl.HeldError if the run has a live owner, with a *ChangedError if the agent
// differs from the one it began with, and with a *SpentError if the run has used up the
// given limits.
func (e *Engine) Resume(ctx context.Context, agent pawl.Agent, run string, o *ResumeOptions) (*Handle, error) {
	o = cmp.Or(o, &ResumeOptions{})
	if o.caller == nil && !o.leg {
		if err := e.room(); err != nil {
			return nil, err
		}
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.calls.Done()
	d, err := e.reopen(ctx, agent, run, o)
	if err != nil {
		return nil, err
	}
	d.early, d.leg = o.Watch, o.leg
	return e.launch(ctx, d)
}

// machineWith makes the machine of a run that goes on, under another stop condition if one is given.
func (e *Engine) machineWith(ctx context.Context, agent pawl.Agent, stop pawl.Condition) (*pawl.Machine, error) {
	if err := nested(ctx); err != nil {
		return nil, err
	}
	if stop != nil {
		agent.Stop = stop
	}
	return e.machine(agent)
}

// reopen claims a run, reads it, and resumes it under agent, or a fork of it in its place.
func (e *Engine) reopen(ctx context.Context, agent pawl.Agent, run string, o *ResumeOptions) (*driver, error) {
	m, err := e.machineWith(ctx, agent, o.Stop)
	if err != nil {
		return nil, err
	}
	d, err := e.claim(ctx, m, run, o)
	if err != nil {
		return nil, err
	}
	r := &d.rec
	wake := r.state.WakeAt()
	d.requests.reissue = wake.IsZero() || time.Now().Before(wake)
	err = r.lease.caught(func() error {
		if o.After != 0 && r.state.Seq() != o.After {
			return fmt.Errorf("resume run %s: its log continued after entry %d: %w", run, o.After, pawl.ErrConflict)
		}
		if err := e.last(ctx, r); err != nil {
			return err
		}
		return resume(ctx, d, agent, o)
	})
	if err == nil {
		return d, nil
	}
	r.lease.release()
	if o.Upgrade == UpgradeFork && errors.As(err, new(*ChangedError)) {
		return e.resumeFork(ctx, agent, run, o)
	}
	return nil, err
}

// tightened reports whether two declarations differ only by further policies and less trust
// in tools: a policy can only tighten.
func tightened(was, now pawl.Declaration, parts []string) bool {
	for _, part := range parts {
		lessTrust := strings.HasPrefix(part, "trust ") && was.Digests[part] == ""
		if part != "policies" && !lessTrust {
			return false
		}
	}
	rest := now.Policies
	for _, p := range was.Policies {
		i := slices.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// repriced reports whether two declarations have different prices for the same models. The
// run may continue, but its reservations use the new prices, so the log must record them.
func repriced(was, now pawl.Declaration) bool {
	same := func(a, b pawl.ModelInfo) bool {
		return a.Price == b.Price || a.Price != nil && b.Price != nil && *a.Price == *b.Price
	}
	return !same(was.ModelInfo, now.ModelInfo) || !slices.EqualFunc(was.Fallback, now.Fallback, same) || !slices.EqualFunc(was.Auxiliary, now.Auxiliary, same)
}

// claim takes over a run and folds its log.
func (e *Engine) claim(ctx context.Context, m *pawl.Machine, run string, o *ResumeOptions) (*driver, error) {
	l, err := o.Lease, error(nil)
	if l.Run != run { // a fork has a lease of its own
		l, err = e.own(ctx, run)
	}
	if err != nil {
		return nil, fmt.Errorf("resume run %s: %w", run, err)
	}
	d := e.newDriver(ctx, m, l, o.caller)
	err = d.rec.lease.caught(func() error { return load(ctx, d) })
	if err != nil {
		d.rec.lease.release()
		return nil, err
	}
	return d, nil
}

// load folds the log of the run and fetches the unread signals.
func load(ctx context.Context, d *driver) error {
	r := &d.rec
	run, h := r.lease.Run, r.host
	for entry, err := range Entries(ctx, h.journal, run, 1) { // not entriesFor: the first replaces the state
		if err == nil {
			err = r.state.Internals().CheckNext(entry)
		}
		if err != nil {
			return err
		}
		if start, ok := entry.Event.(pawl.RunStarted); ok {
			r.transcript = window.NewTranscript(start.Declaration.Strategy)
			p, err := h.past(ctx, run, start.Continues, r.clean)
			if err != nil {
				return err
			}
			r.continues(&p)
		}
		r.fold(entry)
		r.reserved(entry.Event)
		recall(d, entry)
	}
	if r.state.Seq() == 0 {
		return fmt.Errorf("resume run %s: it never began, so start it: %w", run, pawl.ErrUnknownRun)
	}
	if err := r.state.Internals().CheckMachine(); err != nil {
		return err
	}
	if r.state.Internals().Redacted() {
		return fmt.Errorf("run %s: %w", run, ErrRedacted)
	}
	d.was, r.durable = r.state.Status(), r.state.Seq()
	d.inbox.last = r.state.Internals().Signal()
	return d.owner.fetch(ctx, d)
}

// recall keeps what the new owner must know of old entries besides the state: the epoch in
// which the run last ended, and the entries that the hooks may not have seen: those since
// the last intent and after the last entry with a direction.
func recall(d *driver, e pawl.Entry) {
	h := &d.rec.hooks
	switch ev := e.Event.(type) {
	case pawl.ChildStopped:
		if d.effects.children.recorded == nil {
			d.effects.children.recorded = map[string]bool{}
		}
		d.effects.children.recorded[ev.Child] = true
	case pawl.RunStopped:
		d.requests.ended = d.rec.state.Internals().Epoch()
	case pawl.Noted:
		if ev.Imported() { // another journal counts epochs from the start
			d.requests.ended = 0
		}
		if ev.Given() {
			return // shown to no hook
		}
	case pawl.ModelCalled:
		h.unseen = h.unseen[:0]
	case pawl.HookDirected:
		h.count(ev)
		h.unseen = slices.DeleteFunc(h.unseen, func(old pawl.Entry) bool { return ev.Entry == 0 || old.Seq <= ev.Entry })
		return
	case pawl.ToolStarted:
		if n := len(h.unseen); n > 0 && h.unseen[n-1].At != e.At {
			h.unseen = h.unseen[:0]
		}
	}
	if len(d.rec.watchingHooks()) > 0 {
		h.unseen = append(h.unseen, e)
	}
}

// resume checks that the run may continue with the agent, and records that it does.
func resume(ctx context.Context, d *driver, agent pawl.Agent, o *ResumeOptions) error {
	r := &d.rec
	run := cmp.Or(o.of, r.lease.Run) // the id that the caller knows
	if st := r.state.Status(); st == pawl.StatusSuccess {
		return fmt.Errorf("run %s has succeeded: %s; fork it to continue differently", run, r.state.Verdict().String())
	}
	if r.state.Internals().Torn() {
		return fmt.Errorf("run %s: %w", run, ErrTorn)
	}
	resumed := pawl.RunResumed{Owner: r.lease.Owner, Epoch: r.lease.Epoch}
	began := r.state.Declaration()
	agent = team.Member(agent, began)
	declared, err := r.host.machine(agent)
	if err != nil {
		return err
	}
	now := declared.Declaration()
	parts := began.Differences(now)
	if len(parts) > 0 && !o.AllowChange && !tightened(began, now, parts) {
		if o.Upgrade == UpgradeCompatible {
			parts = incompatible(r.state, now, parts)
		}
		if len(parts) > 0 {
			return &ChangedError{run, parts}
		}
		resumed.Changed = &now
	}
	if len(parts) > 0 || repriced(began, now) || began.Version != now.Version {
		resumed.Changed = &now
	}
	r.machine = declared
	replaced := o.Stop
	if was := r.state.StopSource(); replaced == nil && was != now.Stop && resumed.Changed == nil { // changed when the run was last resumed
		if replaced, err = stop.Parse(was, &stop.Options{When: r.host.opt.When}); err != nil {
			return fmt.Errorf("run %s: its stop condition %q cannot be read: %w", run, was, err)
		}
	}
	if replaced != nil {
		agent.Stop = replaced
		if r.machine, err = r.host.machine(agent); err != nil {
			return err
		}
	}
	// The limits must be allowed for this agent.
	if o.Limits != (pawl.Limits{}) || r.state.Limits().Cost > 0 {
		bounded := agent
		bounded.Limits = r.state.Limits().Merge(o.Limits)
		if _, err := r.host.machine(bounded); err != nil {
			return err
		}
	}
	if o.Limits != (pawl.Limits{}) && !o.AllowSpent && o.caller == nil {
		if err := spent(r, run, resumed, o.Limits); err != nil {
			return err
		}
	}
	if err := d.effects.children.recover(ctx, resumed); err != nil {
		return err
	}
	extended := pawl.RunExtended{Limits: o.Limits, By: r.lease.Owner}
	if o.Stop != nil {
		extended.Stop = o.Stop.String()
	}
	if extended.Limits != (pawl.Limits{}) || extended.Stop != "" {
		r.appendNow(extended)
	}
	return nil
}

// A SpentError says that a run was not resumed or forked because it has used up the given
// limits already and would have ended at once.
type SpentError struct {
	Run  string
	Leaf string // the leaf that holds
	Used string // what is used up
	Stop bool   // the leaf holds with any limits, so it is of the stop condition
}

// Error names what is used up and the remedy.
func (e *SpentError) Error() string {
	if e.Stop {
		return fmt.Sprintf("run %s would end at once whatever its limits: its stop condition %s holds (%s); replace the stop condition as well", e.Run, e.Leaf, e.Used)
	}
	return fmt.Sprintf("run %s would end at once with these limits: %s (%s); raise that limit further", e.Run, e.Leaf, e.Used)
}

// spent returns an error if a run that continues with the given limits would end at once.
func spent(r *recorder, run string, resumed pawl.RunResumed, limits pawl.Limits) error {
	verdict, ends := foresee(r, resumed, limits)
	if !ends {
		return nil
	}
	more := pawl.Limits{Iterations: 10_000, Tokens: 1 << 60, Time: 1 << 60, Rounds: 1 << 30}
	if r.state.Limits().Merge(limits).Cost > 0 {
		more.Cost = 1 << 60
	}
	_, always := foresee(r, resumed, limits.Merge(more))
	return &SpentError{run, verdict.Leaf, verdict.Detail, always}
}

// foresee returns how a run that continues with the given limits would end before it does
// anything, if the world is unchanged; false: it would do something. It asks the machine
// about a state that is not recorded.
func foresee(r *recorder, resumed pawl.RunResumed, limits pawl.Limits) (v pawl.Verdict, ends bool) {
	defer func() {
		if recover() != nil { // the agent's code panicked, and will again when the run continues
			v, ends = pawl.Verdict{}, false
		}
	}()
	state := r.state.Clone()
	fold := func(events ...pawl.Event) {
		for _, e := range events {
			state.Fold(pawl.Entry{Run: r.lease.Run, Seq: state.Seq() + 1, At: state.Seq(), Time: state.Time(), Iteration: state.Iteration(), Event: e})
		}
	}
	fold(resumed, pawl.RunExtended{Limits: limits})
	const most = 100 // there are only a few records
	for range most {
		switch step := r.machine.Decide(state).(type) {
		case pawl.Observe:
			fold(pawl.Observed{Text: state.Seen()})
			if value, measured := state.Metric(); measured {
				fold(pawl.Measured{Value: value, Open: state.StillOpen()})
			}
		case pawl.Record:
			fold(step.Events...)
		case pawl.Think:
			if step.Purpose != pawl.PurposeFinal {
				return pawl.Verdict{}, false
			}
			fold(r.machine.Called(step), pawl.ModelFailed{Purpose: step.Purpose, Class: pawl.ClassCancelled, Attempt: step.Attempt})
		case pawl.Finish:
			return step.Verdict, step.Verdict.Status == pawl.StatusExhausted
		default:
			return pawl.Verdict{}, false
		}
	}
	return pawl.Verdict{}, false
}
