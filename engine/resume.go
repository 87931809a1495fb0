package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sabotage"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/window"
)

// ResumeOptions are what may change when a run goes on.
type ResumeOptions struct {
	// Limits raises or lowers ceilings; zero fields stay. If the run has used them
	// up already, it is not resumed, and the error is a *SpentError.
	Limits pawl.Limits
	// AllowSpent resumes the run although it has used Limits up already. It then
	// ends as exhausted, with a last answer if that fits.
	AllowSpent bool
	// Stop replaces the stop condition; nil keeps it.
	Stop pawl.Condition
	// AllowChange goes on although the agent differs from the one the run
	// began with; the difference is recorded.
	AllowChange bool
	// After, unless zero, goes on only if the log still ends with that entry, and
	// fails with pawl.ErrConflict otherwise: of several who saw the same reason to go
	// on with a run, one does.
	After uint64
	// Watch is StartOptions.Watch.
	Watch bool

	driven bool   // by the parent
	of     string // the run that a fork is made of
	hooks  []Hook // of the runs above, which drive it
}

// A ChangedError says that a run cannot be resumed or forked because the agent
// is not the one it began with.
type ChangedError struct {
	Run   string
	Parts []string // such as "prompt" or "tool search"
}

// Error names the parts that differ and what can be done.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("run %s began with another agent: %s changed; resume or fork it with the agent it began with, or allow the change",
		e.Run, strings.Join(e.Parts, ", "))
}

// Why a run that was imported cannot be resumed.
var (
	ErrRedacted = errors.New("it was imported from a redacted export and can only be read; to go on with it, import a raw export")
	ErrTorn     = errors.New("it was imported from an export that broke off, and what the missing entries told of would be done again; fork it to go on from where it is known")
)

// Resume goes on with a run that is parked, ended otherwise than by success,
// or interrupted. It fails with a *pawl.HeldError if the run has a live owner,
// a *ChangedError if the agent is not the one it began with, and a *SpentError
// if the run has used up the limits that it is given.
func (e *Engine) Resume(ctx context.Context, agent pawl.Agent, run string, o *ResumeOptions) (*Handle, error) {
	s, err := e.reopen(ctx, agent, run, o)
	if err != nil {
		return nil, err
	}
	s.anew, s.kept = true, o != nil && o.Watch
	return e.launch(ctx, s)
}

// reopen claims a run, reads it, and takes it up again under agent.
func (e *Engine) reopen(ctx context.Context, agent pawl.Agent, run string, o *ResumeOptions) (*session, error) {
	if o == nil {
		o = &ResumeOptions{}
	}
	if err := nested(ctx); err != nil {
		return nil, err
	}
	began := agent
	if o.Stop != nil {
		agent.Stop = o.Stop
	}
	m, err := e.machine(&agent)
	if err != nil {
		return nil, err
	}
	s, err := e.claim(ctx, m, run, o)
	if err != nil {
		return nil, err
	}
	if o.After != 0 && s.state.Seq() != o.After {
		s.release()
		return nil, fmt.Errorf("resume run %s: it went on after entry %d: %w", run, o.After, pawl.ErrConflict)
	}
	err = s.caught(func() error {
		if err := e.last(ctx, s); err != nil {
			return err
		}
		return s.takeUp(ctx, began, o)
	})
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// tightened reports whether nothing but further policies and less trust in what
// tools say sets two declarations apart: a policy can only tighten.
func tightened(was, now pawl.Declaration, parts []string) bool {
	for _, part := range parts {
		lessTrust := strings.HasPrefix(part, "trust ") && was.Digests[part] == ""
		newer := strings.HasPrefix(part, "flow ") && was.Machine < 3 // which knew no such declarations
		if part != "policies" && !lessTrust && !newer {
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

// repriced reports whether two declarations have other prices for the same
// models. It does not hinder anybody, but what is reserved from here on comes of
// the new ones, and the log has to say so.
func repriced(was, now pawl.Declaration) bool {
	same := func(a, b pawl.ModelInfo) bool {
		return a.Price == b.Price || a.Price != nil && b.Price != nil && *a.Price == *b.Price
	}
	return !same(was.Model, now.Model) || !slices.EqualFunc(was.Fallback, now.Fallback, same) || !slices.EqualFunc(was.Advisers, now.Advisers, same)
}

// begin claims the id of a new run. An id whose claimer got no further than
// that is free: it may be derived from what must not be done twice, and would
// otherwise be lost for ever.
func (e *Engine) begin(ctx context.Context, run string) (pawl.Lease, error) {
	lease, exists := e.journal.Claim(ctx, pawl.Claim{Run: run, Owner: e.owner, TTL: e.opt.Lease, New: true})
	if !errors.Is(exists, pawl.ErrRunExists) || e.begun(ctx, run) {
		return lease, exists
	}
	lease, err := e.own(ctx, run)
	if err != nil {
		return lease, errors.Join(exists, err)
	}
	if e.begun(ctx, run) { // by somebody who was quicker and is done with it already
		(&session{engine: e, lease: lease}).release()
		return lease, exists
	}
	return lease, nil
}

// begun reports whether a run has entries, or may have.
func (e *Engine) begun(ctx context.Context, run string) bool {
	for _, err := range e.journal.Read(ctx, run, 1) {
		return err == nil || !errors.Is(err, pawl.ErrUnknownRun)
	}
	return false
}

// own takes a run's lease. One whose owner is known to be gone need not lapse first.
func (e *Engine) own(ctx context.Context, run string) (pawl.Lease, error) {
	c := pawl.Claim{Run: run, Owner: e.owner, TTL: e.opt.Lease}
	lease, err := e.journal.Claim(ctx, c)
	var held *pawl.HeldError
	if errors.As(err, &held) && ParseOwner(held.Lease.Owner).Gone() {
		c.Over = held.Lease.Epoch
		lease, err = e.journal.Claim(ctx, c)
	}
	return lease, err
}

// claim takes a run over and folds its log.
func (e *Engine) claim(ctx context.Context, m *pawl.Machine, run string, o *ResumeOptions) (*session, error) {
	lease, err := e.own(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("resume run %s: %w", run, err)
	}
	s := &session{engine: e, m: m, lease: lease, clean: e.cleaner(m), state: new(pawl.State), driven: o.driven, above: o.hooks, wake: make(chan struct{}, 1), gone: make(chan struct{})}
	err = s.caught(func() error { return s.load(ctx) })
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// load folds what the journal has of the run, and brings the mail that waits.
func (s *session) load(ctx context.Context) error {
	for entry, err := range Entries(ctx, s.engine.journal, s.lease.Run, 1) {
		if err == nil {
			err = pawl.CheckEntry(s.state, entry)
		}
		if err != nil {
			return err
		}
		if start, ok := entry.Event.(pawl.RunStarted); ok {
			s.talk = window.NewTranscript(start.Declaration.Strategy)
			p, err := s.engine.past(ctx, s.lease.Run, start.Continues, s.clean)
			if err != nil {
				return err
			}
			s.follow(&p)
		}
		s.take(entry)
		s.recall(entry)
	}
	if s.state.Seq() == 0 {
		return fmt.Errorf("run %s has no entries: it was never started", s.lease.Run)
	}
	if err := readable(s.state, s.lease.Run); err != nil {
		return err
	}
	if s.state.Redacted() {
		return fmt.Errorf("run %s: %w", s.lease.Run, ErrRedacted)
	}
	s.found = s.state.Seq()
	s.after = s.found
	s.heard = s.state.Letter()
	return s.fetch(ctx)
}

// readable says whether this build knows all that a log may say. One of a newer
// build could be read as meaning something else, so it is not gone on with.
func readable(s *pawl.State, run string) error {
	if n := s.Declaration().Machine; n > pawl.MachineNumber && !sabotage.On(sabotage.Newer) {
		return fmt.Errorf("run %s was written by a newer build (machine %d; this is %d)", run, n, pawl.MachineNumber)
	}
	return nil
}

// recall keeps what the new owner must know of an old entry beside the state:
// in which epoch the run ended last, and what the hooks may not have been
// asked about, which is everything since the last intent and behind the last
// entry they directed something about.
func (s *session) recall(e pawl.Entry) {
	switch ev := e.Event.(type) {
	case pawl.ChildStopped:
		if s.children.stood == nil {
			s.children.stood = map[string]bool{}
		}
		s.children.stood[ev.Child] = true
	case pawl.RunStopped:
		s.over = s.state.Epoch()
	case pawl.Noted:
		if ev.Imported() { // epochs are counted anew in another journal
			s.over = 0
		}
	case pawl.ModelCalled:
		s.hooked = s.hooked[:0]
	case pawl.HookDirected:
		s.count(ev)
		s.hooked = slices.DeleteFunc(s.hooked, func(old pawl.Entry) bool { return ev.Entry == 0 || old.Seq <= ev.Entry })
		return
	case pawl.ToolStarted:
		if n := len(s.hooked); n > 0 && s.hooked[n-1].At != e.At {
			s.hooked = s.hooked[:0]
		}
	}
	if len(s.hooks()) > 0 {
		s.hooked = append(s.hooked, e)
	}
}

// takeUp checks that the run may go on under the agent, and says so in the log.
func (s *session) takeUp(ctx context.Context, agent pawl.Agent, o *ResumeOptions) error {
	run := cmp.Or(o.of, s.lease.Run) // the caller knows no other
	if st := s.state.Status(); st == pawl.Success {
		return fmt.Errorf("run %s is done: %s; fork it to go another way", run, s.state.Verdict())
	}
	if s.state.Torn() && !sabotage.On(sabotage.Torn) {
		return fmt.Errorf("run %s: %w", run, ErrTorn)
	}
	resumed := pawl.RunResumed{Owner: s.lease.Owner, Epoch: s.lease.Epoch}
	began := s.state.Declaration()
	if !o.AllowChange {
		agent = stillDisabled(agent, began)
	}
	declared, err := s.engine.machineOf(agent, began)
	if err != nil {
		return err
	}
	if parts := began.Differences(declared.Declaration()); len(parts) > 0 && !sabotage.On(sabotage.Change) {
		if !o.AllowChange && !tightened(began, declared.Declaration(), parts) {
			return &ChangedError{run, parts}
		}
		d := declared.Declaration()
		resumed.Changed = &d
	} else if repriced(began, declared.Declaration()) {
		d := declared.Declaration()
		resumed.Changed = &d
	}
	switch was := s.state.StopSource(); {
	case o.Stop != nil:
		agent.Stop = o.Stop
		if s.m, err = s.engine.machineOf(agent, began); err != nil {
			return err
		}
	case was != declared.Declaration().Stop && resumed.Changed == nil:
		// The stop condition was replaced when the run was last resumed.
		if agent.Stop, err = stop.Parse(was, nil); err != nil {
			return fmt.Errorf("run %s: its stop condition %q cannot be read: %w", run, was, err)
		}
		if s.m, err = s.engine.machineOf(agent, began); err != nil {
			return err
		}
	default:
		s.m = declared
	}
	// The ceilings that stand must be such as this agent may have.
	if o.Limits != (pawl.Limits{}) || s.state.Limits().Cost > 0 {
		bounded := agent
		bounded.Limits = s.state.Limits().Merge(o.Limits)
		if _, err := s.engine.machineOf(bounded, began); err != nil {
			return err
		}
	}
	if o.Limits != (pawl.Limits{}) && !o.AllowSpent && !o.driven {
		if err := s.spent(run, resumed, o.Limits); err != nil {
			return err
		}
	}
	if s.state.InFlight() && !s.state.Waits(pawl.Started) && sabotage.On(sabotage.Booking) {
		s.append(s.state.Seq(), s.state.Iteration(), pawl.ModelFailed{Purpose: pawl.PurposeTurn, Class: pawl.ClassCancelled})
	}
	if err := s.fence(ctx); err != nil {
		return err
	}
	orphans := s.inFlight()
	s.append(s.state.Seq(), s.state.Iteration(), resumed)
	for c := range s.state.Open() {
		if c.Phase == pawl.Lost && c.Effect == pawl.Write && sabotage.On(sabotage.Repeat) {
			s.append(s.state.Seq(), s.state.Iteration(), pawl.ToolDoubted{Call: c.ID, Tool: c.Tool}, pawl.ToolSettled{Call: c.ID})
		}
	}
	if err := s.bookChildren(ctx, orphans); err != nil {
		return err
	}
	extended := pawl.RunExtended{Limits: o.Limits, By: s.lease.Owner}
	if o.Stop != nil {
		extended.Stop = o.Stop.String()
	}
	if extended.Limits != (pawl.Limits{}) || extended.Stop != "" {
		s.append(s.state.Seq(), s.state.Iteration(), extended)
	}
	return nil
}
