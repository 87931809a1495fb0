package pawl

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
)

// Replay folds a log and decides every recorded step again. It returns how
// many steps agree, and an error naming the first entry that this build would
// not have written. Entries that come from outside (letters, owners, limits)
// are folded and not judged; nor is what was decided while the run had another
// agent, if somebody allowed it to change. parse reads the source of a stop
// condition that replaced the agent's own while the run went on.
//
// before is the zero State or, for a run that continues another, [State.Next] of
// where that one stood.
func (m *Machine) Replay(before *State, log iter.Seq2[Entry, error], parse func(source string) (Condition, error)) (steps int, err error) {
	r := replay{machine: m, parse: parse, state: before.Clone()}
	var entries []Entry
	for e, err := range log {
		if err != nil {
			return 0, err
		}
		if fork, ok := e.Event.(RunForked); ok {
			r.forks = append(r.forks, fork)
		}
		entries = append(entries, e)
	}
	for _, e := range entries {
		if err := r.take(e); err != nil {
			return r.steps, err
		}
	}
	if err := r.settle(); err != nil {
		return r.steps, err
	}
	if !r.judged {
		return 0, fmt.Errorf("run %s began with another agent: %s changed", r.state.run, strings.Join(r.changed, ", "))
	}
	return r.steps, nil
}

// replay is the state of a Replay.
type replay struct {
	machine *Machine // of the agent at hand
	parse   func(string) (Condition, error)
	run     string // the name of the log
	forks   []RunForked

	state   *State
	now     *Machine // with what the log says of its stop condition and prices; nil: another agent's turn
	changed []string
	judged  bool
	steps   int

	decided *State // the state the present step was decided on
	step    Step
	got     []Entry
}

// settle compares the present step with what was written for it.
func (r *replay) settle() error {
	if r.step == nil {
		r.got = nil
		return nil
	}
	if err := agrees(r.now, r.decided, r.step, r.got); err != nil {
		return fmt.Errorf("run %s, entry %d, decided on entry %d: %w", r.state.run, r.got[0].Seq, r.decided.seq, err)
	}
	r.step, r.got = nil, nil
	r.steps++
	return nil
}

func (r *replay) take(e Entry) error {
	if r.run == "" {
		r.run = e.Run
	}
	written := r.state.run // of a fork's shared entries: another run
	r.state.run = r.run
	err := CheckEntry(r.state, e)
	if r.state.run = written; err != nil {
		return err
	}
	switch {
	case outside(e.Event), r.recorded(e.Event):
		if err := r.settle(); err != nil {
			return err
		}
	case r.got != nil && e.At == r.decided.seq:
		r.got = append(r.got, e)
	default:
		if err := r.settle(); err != nil {
			return err
		}
		if r.now == nil {
			break
		}
		if e.At != r.state.seq {
			return fmt.Errorf("run %s, entry %d: it was decided on entry %d, but %d entries had been written", e.Run, e.Seq, e.At, r.state.seq)
		}
		r.decided = r.state.Clone()
		r.step, r.got = r.now.Decide(r.decided), []Entry{e}
		if r.checksAgain(r.step) {
			r.step = nil
		}
	}
	e.Run = r.origin(e.Seq, e.Run)
	r.state.Fold(e)
	return r.follow(e.Event)
}

// origin is the run an entry was written for: what a fork shares was decided,
// and its keys were made, under the name of the run it came from.
func (r *replay) origin(seq uint64, run string) string {
	for _, f := range r.forks {
		if seq <= f.Seq {
			return f.From
		}
	}
	return run
}

// follow takes over what the log says of the agent from here on.
func (r *replay) follow(event Event) error {
	switch e := event.(type) {
	case RunStarted:
		if n := e.Declaration.Machine; n > MachineNumber {
			return fmt.Errorf("run %s was written by a newer build (machine %d; this is %d)", r.state.run, n, MachineNumber)
		}
	case RunResumed:
		if e.Changed == nil {
			return nil
		}
	case RunExtended:
		if e.Stop == "" || r.now == nil {
			return nil
		}
		c, err := r.parse(e.Stop)
		if err != nil {
			return fmt.Errorf("run %s: its stop condition %q cannot be read: %w", r.state.run, e.Stop, err)
		}
		now := *r.now
		now.agent.Stop, r.now = c, &now
		return nil
	default:
		return nil
	}
	declared := r.state.Declaration()
	if r.changed = declared.Differences(r.machine.decl); len(r.changed) > 0 {
		r.now = nil
		return nil
	}
	now := *r.machine
	now.decl.Model.Price, now.decl.Fallback, now.decl.Advisers = declared.Model.Price, declared.Fallback, declared.Advisers // prices change; what was reserved does not
	r.now, r.judged = &now, true
	return nil
}

// outside reports whether an event is no decision of the machine's.
func outside(event Event) bool {
	switch e := event.(type) {
	case RunStarted, RunResumed, RunExtended, RunForked, CancelRequested, HookDirected,
		InputGiven, ClientToolReturned, ApprovalDecided, ApprovalExpired, ApprovalInvalidated, ToolSettled:
		return true
	case RunPaused:
		return e.Status == Paused && e.WakeAt.IsZero() // a shutdown
	case RunStopped:
		return e.Leaf == PanicLeaf // the engine's, since nothing could be decided
	case Noted:
		return e.Imported()
	case ChildStopped:
		return e.Status == Interrupted // found so by a new owner
	}
	return false
}

// grounding is the name of the policy whose findings replay takes as recorded
// under a machine before 3, because the rules that made them are gone. What follows
// from a finding is decided again.
const grounding = "judge.grounding"

// recorded reports whether an event is such a finding, or a judge's call for one.
func (r *replay) recorded(event Event) bool {
	by := ""
	switch e := event.(type) {
	case Grounded:
		by = grounding
	case Noted:
		by = e.By
	case ModelCalled:
		by = string(e.Purpose)
	case ModelReplied:
		by = string(e.Purpose)
	case ModelFailed:
		by = string(e.Purpose)
	}
	return by == grounding && r.state.Machine() < 3
}

// checksAgain reports whether a step checks an answer in which those rules found
// nothing to check. What they let happen instead is not compared.
func (r *replay) checksAgain(step Step) bool {
	think, _ := step.(Think)
	record, _ := step.(Record)
	return r.recorded(ModelCalled{Purpose: think.Purpose}) || len(record.Events) > 0 && r.recorded(record.Events[0])
}

// agrees compares what was written for a step with what is decided now. A
// crash may have cut the entries of a step short; what is there must fit.
func agrees(m *Machine, decided *State, step Step, got []Entry) error {
	first := got[0].Event
	wrong := func(want any) error {
		return fmt.Errorf("the log has %s, this build decides %T %+v", first.event(), step, want)
	}
	switch step := step.(type) {
	case Think:
		called, ok := first.(ModelCalled)
		want := m.Called(step)
		if called.Bytes == 0 {
			want.Bytes = 0 // builds before it did not say, and learned nothing
		}
		if !ok || called != want {
			return wrong(want)
		}
	case Observe:
		if _, ok := first.(Observed); !ok {
			return wrong("")
		}
	case Act:
		return actAgrees(decided, step, got)
	case Record:
		for i, e := range got {
			if i >= len(step.Events) || !sameEvent(e.Event, step.Events[i]) {
				return wrong(step.Events)
			}
		}
	case Await:
		paused, ok := first.(RunPaused)
		if !ok || paused.Status != step.Status {
			return wrong(step.Status)
		}
	case Finish:
		stopped, ok := first.(RunStopped)
		v := step.Verdict
		if want := (RunStopped{v.Status, v.Condition, v.Leaf, v.Detail, step.Answer}); !ok || stopped != want {
			return wrong(want)
		}
	}
	return nil
}

// actAgrees checks that every call in the log was disposed of as it would be now.
func actAgrees(decided *State, act Act, got []Entry) error {
	find := func(id string) *Disposed {
		for i := range act.Calls {
			if act.Calls[i].Call.ID == id {
				return &act.Calls[i]
			}
		}
		return nil
	}
	for _, e := range got {
		want := RunCall
		var id string
		switch ev := e.Event.(type) {
		case ToolStarted:
			id = ev.Call
			if d := find(id); d != nil && (d.Key != ev.Key || d.info.Effect != ev.Effect) {
				return fmt.Errorf("entry %d: call %s was started with another key or effect", e.Seq, id)
			} else if d != nil && (d.Call.Tool != ev.Tool || !bytes.Equal(d.Call.Args, ev.Args)) {
				return fmt.Errorf("entry %d: call %s was started as %s%s, not as %s%s", e.Seq, id, ev.Tool, ev.Args, d.Call.Tool, d.Call.Args)
			}
		case ToolFinished:
			if id = ev.Call; find(id) != nil && find(id).Do == Reuse {
				want = Reuse
			}
		case ToolDoubted:
			id = ev.Call
		case ChildStarted:
			id = ev.Call
			if d := find(id); d != nil && ev.Limits.Time < d.Limits.Time {
				ev.Limits.Time = d.Limits.Time // less was left when it started
			}
			if d := find(id); d != nil && (d.Child != ev.Child || d.Limits != ev.Limits) {
				return fmt.Errorf("entry %d: the child run of %s was started with other limits", e.Seq, id)
			}
		case ChildStopped:
			id = ev.Call
		case ToolReused:
			id, want = ev.Call, Reuse
		case ToolRefused:
			if id, want = ev.Call, Refuse; ev.NotRun {
				want = RunCall
			}
			if ran := decided.elapsed + e.Time.Sub(decided.time); ev.NotRun && ran < decided.limits.Time {
				return fmt.Errorf("entry %d: call %s was not run, but only %v of %v were over", e.Seq, id, ran, decided.limits.Time)
			}
		case ApprovalRequested:
			id, want = ev.Call, Ask
		case InputRequested:
			if id, want = ev.Call, Hand; find(id) != nil && find(id).Do == RunCall {
				want = RunCall // the tool wants a person asked
			}
		case ClientToolRequested:
			id, want = ev.Call, Hand
		case Noted, MemoryStored, ProgressLogged:
			continue // a pure tool's facts, which stand before its answer
		default:
			return fmt.Errorf("entry %d: the log has %s, this build acts on calls", e.Seq, e.Type())
		}
		d := find(id)
		if d == nil {
			return fmt.Errorf("entry %d: call %s would not be acted on now", e.Seq, id)
		}
		if d.Do != want {
			return fmt.Errorf("entry %d: call %s was to %v, now it is to %v", e.Seq, id, want, d.Do)
		}
	}
	return nil
}

func sameEvent(a, b Event) bool {
	x, err1 := Entry{Event: a}.AppendJSON(nil)
	y, err2 := Entry{Event: b}.AppendJSON(nil)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
