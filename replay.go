package pawl

import (
	"bytes"
	"fmt"
	"iter"
)

// Replay folds a log and decides every recorded step again. It returns how
// many steps agree, and an error naming the first entry that this build would
// not have written. Entries that come from outside (letters, owners, limits)
// are folded and not judged.
func (m *Machine) Replay(log iter.Seq2[Entry, error]) (steps int, err error) {
	var s, decided State // decided: the state the present step was decided on
	var step Step
	var got []Entry
	settle := func() error {
		if step == nil {
			return nil
		}
		if err := agrees(m, decided, step, got); err != nil {
			return fmt.Errorf("run %s, entry %d, decided on entry %d: %w", s.run, got[0].Seq, decided.seq, err)
		}
		step, got = nil, nil
		steps++
		return nil
	}
	for e, err := range log {
		if err == nil {
			err = CheckEntry(s, e)
		}
		if err != nil {
			return steps, err
		}
		switch {
		case outside(e.Event):
			if err := settle(); err != nil {
				return steps, err
			}
		case step != nil && e.At == decided.seq:
			got = append(got, e)
		default:
			if err := settle(); err != nil {
				return steps, err
			}
			if e.At != s.seq {
				return steps, fmt.Errorf("run %s, entry %d: it was decided on entry %d, but %d entries had been written", s.run, e.Seq, e.At, s.seq)
			}
			decided, step, got = s, m.Decide(s), []Entry{e}
		}
		s = Apply(s, e)
	}
	return steps, settle()
}

// outside reports whether an event is no decision of the machine's.
func outside(event Event) bool {
	switch e := event.(type) {
	case RunStarted, RunResumed, RunExtended, RunForked, CancelRequested, HookDirected,
		InputGiven, ClientToolReturned, ApprovalDecided, ToolSettled:
		return true
	case RunPaused:
		return e.Status == Paused && e.WakeAt.IsZero() // a shutdown
	}
	return false
}

// agrees compares what was written for a step with what is decided now. A
// crash may have cut the entries of a step short; what is there must fit.
func agrees(m *Machine, s State, step Step, got []Entry) error {
	first := got[0].Event
	wrong := func(want any) error {
		return fmt.Errorf("the log has %s, this build decides %T %+v", first.Type(), step, want)
	}
	switch step := step.(type) {
	case Think:
		called, ok := first.(ModelCalled)
		if want := m.Called(step); !ok || called != want {
			return wrong(want)
		}
	case Observe:
		if _, ok := first.(Observed); !ok {
			return wrong("")
		}
	case Act:
		return actAgrees(m, step, got)
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
		if want := (RunStopped{v.Status, v.Condition, v.Leaf, v.Detail}); !ok || stopped != want {
			return wrong(want)
		}
	}
	return nil
}

// actAgrees checks that every call in the log was disposed of as it would be now.
func actAgrees(_ *Machine, act Act, got []Entry) error {
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
			if d := find(id); d != nil && (d.Key != ev.Key || d.Info.Effect != ev.Effect) {
				return fmt.Errorf("entry %d: call %s was started with another key or effect", e.Seq, id)
			}
		case ToolFinished:
			if id = ev.Call; find(id) != nil && find(id).Do == Reuse {
				want = Reuse
			}
		case ToolDoubted:
			id = ev.Call
		case ToolReused:
			id, want = ev.Call, Reuse
		case ToolRefused:
			id, want = ev.Call, Refuse
		case ApprovalRequested:
			id, want = ev.Call, Ask
		case InputRequested:
			id, want = ev.Call, Hand
		case ClientToolRequested:
			id, want = ev.Call, Hand
		case Noted, MemoryStored, ProgressLogged:
			continue // a pure tool's facts, which stand before its answer
		default:
			return fmt.Errorf("entry %d: the log has %s, this build acts on calls", e.Seq, e.Event.Type())
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
