// Package replay checks that a log is deterministic: it decides every step of a
// recorded run again and compares each with the log. It calls no model and no tool,
// and writes nothing. Engine.Replay and the command pawl replay use it.
package replay

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
)

// Run compares the entries of a run's log with what the machine decides before and after
// each entry. It returns how many steps agree, and an error that names the first entry that
// this build would not have written. Entries from outside (signals, owners, limits) are
// folded but not compared, as are steps that were decided while the run had another agent
// by permission. Stop conditions of the log are read with conditions.
func Run(m *pawl.Machine, before *pawl.State, run string, log iter.Seq2[pawl.Entry, error], conditions *stop.Options) (steps int, err error) {
	r := replay{machine: m, run: run, state: before, conditions: conditions}
	var entries []pawl.Entry
	for entry, err := range log {
		if err != nil {
			return 0, err
		}
		if fork, ok := entry.Event.(pawl.RunForked); ok {
			r.forks = append(r.forks, fork)
		}
		entries = append(entries, entry)
	}
	for _, entry := range entries {
		if err := r.take(entry); err != nil {
			return r.steps, err
		}
	}
	if err := r.compare(); err != nil {
		return r.steps, err
	}
	if !r.judged {
		return 0, fmt.Errorf("run %s began with another agent: %s changed", r.state.Run(), strings.Join(r.changed, ", "))
	}
	return r.steps, nil
}

// replay is the state of a Run.
type replay struct {
	machine    *pawl.Machine // of the given agent
	run        string        // the name of the log
	forks      []pawl.RunForked
	conditions *stop.Options

	state   *pawl.State
	now     *pawl.Machine // with the prices and the stop condition of the log; nil: the run had another agent
	changed []string
	judged  bool
	steps   int

	decided *pawl.State // the state the present step was decided on
	step    pawl.Step
	got     []pawl.Entry
	before  []*pawl.State // the states before each of the latest changes of a board, until another entry follows
}

// compare compares the current step with the entries that were written for it.
func (r *replay) compare() error {
	if r.step != nil {
		if err := agrees(r.now, r.decided, r.step, r.got); err != nil {
			return fmt.Errorf("run %s, entry %d, decided on entry %d: %w", r.state.Run(), r.got[0].Seq, r.decided.Seq(), err)
		}
		r.steps++
	}
	r.step, r.got = nil, nil
	return nil
}

func (r *replay) take(e pawl.Entry) error {
	if e.Run != r.run {
		return fmt.Errorf("run %s: entry %d belongs to run %s", r.run, e.Seq, e.Run)
	}
	// The shared entries of a fork were decided, and their keys made, under the id of the original
	// run.
	if i := slices.IndexFunc(r.forks, func(f pawl.RunForked) bool { return e.Seq <= f.Seq }); i >= 0 {
		e.Run = r.forks[i].From
	}
	check := e
	if r.state.Seq() > 0 {
		check.Run = r.state.Run()
	}
	if err := r.state.Internals().CheckNext(check); err != nil {
		return err
	}
	_, board := team.ChangeOf(e.Event)
	if c, is := e.Event.(pawl.CancelRequested); board || is && c.Call != "" { // made while calls run, or while a step is decided
		r.before = append(r.before, r.state.Clone())
		r.state.Fold(e)
		return nil
	}
	now := r.state
	if i := slices.IndexFunc(r.before, func(s *pawl.State) bool { return s.Seq() == e.At }); i >= 0 {
		now = r.before[i]
	}
	r.before = nil
	if r.got != nil && e.At == r.decided.Seq() && !r.given(e.Event) {
		r.got = append(r.got, e)
	} else {
		if err := r.compare(); err != nil {
			return err
		}
		if r.now != nil && !r.given(e.Event) {
			if e.At != now.Seq() {
				return fmt.Errorf("run %s, entry %d: it was decided on entry %d, but %d entries had been written", r.run, e.Seq, e.At, now.Seq())
			}
			r.decided = now.Clone()
			r.step, r.got = r.now.Decide(r.decided), []pawl.Entry{e}
		}
	}
	r.state.Fold(e)
	return r.follow(e.Event)
}

// follow applies what the log says about the agent from here on.
func (r *replay) follow(event pawl.Event) error {
	switch e := event.(type) {
	case pawl.RunStarted:
		if err := r.state.Internals().CheckMachine(); err != nil {
			return err
		}
	case pawl.RunResumed:
		if e.Changed == nil {
			return nil
		}
	case pawl.RunExtended:
		if e.Stop == "" || r.now == nil {
			return nil
		}
		c, err := stop.Parse(e.Stop, r.conditions)
		if err != nil {
			return fmt.Errorf("run %s: its stop condition %q cannot be read: %w", r.state.Run(), e.Stop, err)
		}
		r.now = r.now.Under(r.now.Declaration(), c)
		return nil
	default:
		return nil
	}
	declared := r.state.Declaration()
	if r.changed = declared.Differences(r.machine.Declaration()); len(r.changed) > 0 {
		r.now = nil
		return nil
	}
	r.now, r.judged = r.machine.Under(declared, nil), true
	return nil
}

// given reports whether an event is not a decision of the machine: it comes from outside, or the engine records
// it by itself.
func (r *replay) given(event pawl.Event) bool {
	switch e := event.(type) {
	case pawl.ApprovalExpired, pawl.ApprovalInvalidated:
		return true
	case pawl.ToolDoubted: // recorded when a run whose owner had died was cancelled
		c, _ := r.state.Call(e.Call)
		_, over := r.state.Cancelled()
		return over && c.Phase == pawl.PhaseLost
	case pawl.Noted:
		return e.Given() || e.Imported()
	case pawl.ChildStopped:
		return e.Status == pawl.StatusInterrupted // recorded by a new owner
	}
	return pawl.External(event)
}

// agrees compares the entries written for a step with the current decision. A crash may
// have cut the entries of a step short; those that exist must match.
func agrees(m *pawl.Machine, decided *pawl.State, step pawl.Step, got []pawl.Entry) error {
	first := got[0].Event
	wrong := func(want any) error {
		return fmt.Errorf("the log has %s, this build decides %T %+v", got[0].Type(), step, want)
	}
	switch step := step.(type) {
	case pawl.Think:
		called, ok := first.(pawl.ModelCalled)
		if ok && called.MaxTokens < step.MaxTokens { // a budget left no more
			step = Lower(m, step, called.MaxTokens)
		}
		want := m.Called(step)
		want.Waited = called.Waited // the engine's
		if !ok || called != want {
			return wrong(want)
		}
	case pawl.Observe:
		if _, ok := first.(pawl.Observed); !ok {
			return wrong("")
		}
	case pawl.Act:
		return actAgrees(decided, step, got)
	case pawl.Record:
		for i, e := range got {
			if i >= len(step.Events) || !sameEvent(e.Event, step.Events[i]) {
				return wrong(step.Events)
			}
		}
	case pawl.Await:
		if paused, ok := first.(pawl.RunPaused); !ok || paused.Status != step.Status {
			return wrong(step.Status)
		}
	case pawl.Finish:
		want := step.Stopped()
		if stopped, ok := first.(pawl.RunStopped); !ok || stopped != want {
			return wrong(want)
		}
	}
	return nil
}

// Lower returns a model call with a reply of at most so many tokens, as the engine makes it if
// a budget leaves less than the limits of the run: the machine does not know what other runs
// have spent.
func Lower(m *pawl.Machine, t pawl.Think, most int) pawl.Think {
	t.MaxTokens = min(t.MaxTokens, most)
	if _, info := m.Asked(t); info.Price != nil {
		in, out := meter.Rates(*info.Price).Most(t.Estimate, meter.Use(t.Hosted), t.Long)
		t.Cost = meter.Dollars(in + float64(t.MaxTokens)*out/1e6)
	}
	return t
}

// actAgrees checks that every call in the log was classified as it would be now.
func actAgrees(decided *pawl.State, act pawl.Act, got []pawl.Entry) error {
	for _, e := range got {
		var id string
		want := pawl.CallRun
		switch ev := e.Event.(type) {
		case pawl.ToolStarted:
			id = ev.Call
		case pawl.ToolFinished:
			id = ev.Call
		case pawl.ToolDoubted:
			id = ev.Call
		case pawl.ChildStarted:
			id = ev.Call
		case pawl.ChildStopped:
			id = ev.Call
		case pawl.ToolReused:
			id, want = ev.Call, pawl.CallReuse
		case pawl.ToolRefused:
			if id = ev.Call; !ev.NotRun {
				want = pawl.CallRefuse
			} else if ran := decided.Elapsed() + e.Time.Sub(decided.Time()); ran < decided.Limits().Time {
				return fmt.Errorf("entry %d: call %s did not run, although only %v of %v had passed", e.Seq, id, ran, decided.Limits().Time)
			}
		case pawl.ApprovalRequested:
			id, want = ev.Call, pawl.CallAsk
		case pawl.InputRequested:
			id, want = ev.Call, pawl.CallHand
		case pawl.ClientToolRequested:
			id, want = ev.Call, pawl.CallHand
		case pawl.Noted, pawl.MemoryStored, pawl.ProgressLogged:
			continue // facts of a pure tool, which come before its answer
		default:
			return fmt.Errorf("entry %d: the log has %s, this build acts on calls", e.Seq, e.Type())
		}
		i := slices.IndexFunc(act.Calls, func(d pawl.Classified) bool { return d.Call.ID == id })
		if i < 0 {
			return fmt.Errorf("entry %d: call %s would not run now", e.Seq, id)
		}
		d := &act.Calls[i]
		switch ev := e.Event.(type) {
		case pawl.ToolStarted:
			if d.Key != ev.Key || d.Info().Effect != ev.Effect {
				return fmt.Errorf("entry %d: call %s was started with another key or effect", e.Seq, id)
			}
			if d.Call.Tool != ev.Tool || !bytes.Equal(d.Call.Args, ev.Args) {
				return fmt.Errorf("entry %d: call %s was started as %s%s, not as %s%s", e.Seq, id, ev.Tool, ev.Args, d.Call.Tool, d.Call.Args)
			}
		case pawl.ToolFinished:
			if d.Do == pawl.CallReuse {
				want = pawl.CallReuse
			}
		case pawl.InputRequested:
			if d.Do == pawl.CallRun {
				want = pawl.CallRun // the tool asks a person
			}
		case pawl.ChildStarted:
			if d.Limits != nil {
				ev.Limits.Time = max(ev.Limits.Time, d.Limits.Time) // less was left when it started
			}
			if d.Child != ev.Child || d.Limits == nil || *d.Limits != ev.Limits {
				return fmt.Errorf("entry %d: the child run of %s was started with other limits", e.Seq, id)
			}
		}
		if d.Do != want {
			return fmt.Errorf("entry %d: call %s is classified as %v, this build decides %v", e.Seq, id, want, d.Do)
		}
	}
	return nil
}

func sameEvent(a, b pawl.Event) bool {
	x, err1 := pawl.Entry{Event: a}.AppendJSON(nil)
	y, err2 := pawl.Entry{Event: b}.AppendJSON(nil)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
