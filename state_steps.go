package pawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// A loop of known steps makes its calls itself. It labels each call, as it does a
// turn (see [View.Step]), and finds the outcome under the label's name, which is
// the part before an @. The part after it may count rounds, as in draft@3.

// StepState is the state of the latest step of a loop under a name.
type StepState struct {
	Label string          // the whole label, with the part after an @
	Seq   uint64          // of the entry that began it
	Done  bool            // it has its answer
	OK    bool            // the answer is not an error
	Call  string          // the id of its call; empty: it is a turn
	Value json.RawMessage // the call's result or the reply: a text, or a document if the step has a schema
	Error string          // why the call has no result

	// Before is the state of the previous step under this name, if that succeeded
	// and this one is not Done. Nil: there is none.
	Before *StepState
}

// Step returns the state of the latest step that was begun under a name, and whether there is
// one. When a run resumes after its end, the steps that failed are forgotten, so that a loop
// can begin them again; Step then returns the step before.
func (s *State) Step(name string) (StepState, bool) {
	st, ok := s.steps[name]
	if !ok {
		return StepState{}, false
	}
	step := s.stepState(&st)
	if !step.Done && st.before != nil {
		before := s.stepState(st.before)
		step.Before = &before
	}
	return step, true
}

func (s *State) stepState(st *stepped) StepState {
	step := StepState{Label: st.label, Seq: st.seq, Call: st.call}
	if st.call == "" {
		if st.turn > 0 && st.turn <= len(s.turns) {
			step.Done, step.OK, step.Value = true, true, bytes.Clone(st.value)
		}
		return step
	}
	if c := s.call(st.call); c != nil && c.Phase == PhaseAnswered {
		step.Done, step.OK, step.Value, step.Error = true, c.OK(), bytes.Clone(c.Result), c.Error
	}
	return step
}

// stepAnswer is the answer of a run that a loop ends as a success, if its latest turn is its
// latest step: the reply to it. Empty: the loop or the conversation has the answer.
func (s *State) stepAnswer(v Verdict) string {
	st, ok := s.Step(stepName(s.at))
	if !ok || v.Status != StatusSuccess || s.asked.View.Step != s.at || st.Call != "" {
		return ""
	}
	return wire.Plain(st.Value)
}

// LastStep is the label of the step that was begun last; empty: there is none.
func (s *State) LastStep() string { return s.at }

// stepped is what a step came to: a call, or a turn.
type stepped struct {
	label string
	seq   uint64
	call  string
	turn  int             // its place among the turns, from 1; zero: it has no reply that stands
	value json.RawMessage // what that reply stands for

	before *stepped // the time before that went well, which knows of none before
}

// setStep takes in that a step is begun.
func (s *State) setStep(st stepped) {
	name := stepName(st.label)
	if old, ok := s.steps[name]; ok {
		if st.before = old.before; s.stood(&old) {
			old.before = nil
			st.before = &old
		}
	}
	s.at = st.label
	put(&s.steps, name, st)
}

// stood reports whether a step went well.
func (s *State) stood(st *stepped) bool {
	if st.call == "" {
		return st.turn > 0
	}
	c := s.call(st.call)
	return c != nil && c.OK()
}

// stepName is what a label is found under.
func stepName(label string) string {
	name, _, _ := strings.Cut(label, "@")
	return name
}

// Who notes that a loop calls tools, and as what.
const looper, callsNote = "__loop__", "calls"

// opened is a call of a loop's as it stands in that note.
type opened struct {
	Call string          `json:"call"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Step string          `json:"step,omitempty"`
}

// open records the calls a loop wants to make. Once they are open, what becomes
// of them is decided as for a model's.
func (m *Machine) open(s *State, calls []Classified) Step {
	list := make([]opened, len(calls))
	for i := range calls {
		c := &calls[i]
		list[i] = opened{callID(s.counter() + 1 + i), wire.Text(c.Call.Tool), wire.Args(c.Call.Args), c.Step}
	}
	value, err := json.Marshal(list)
	if err != nil {
		return failed("loop "+m.loop.Name(), fmt.Sprintf("the loop's calls cannot be recorded: %v", err))
	}
	return Record{[]Event{Noted{By: looper, Name: callsNote, Value: value}}}
}

// openCalls opens what a loop calls. Calls whose ids do not follow those before
// are not the machine's, and change nothing.
func (s *State) openCalls(value json.RawMessage) {
	var list []opened
	if json.Unmarshal(value, &list) != nil || s.HasOpen() {
		return
	}
	for i, c := range list {
		if callNumber(c.Call) != s.counter()+1+i {
			return
		}
	}
	if len(list) == 0 {
		return
	}
	open := make([]*call, len(list))
	for i, c := range list {
		open[i] = s.newBatch(Call{ID: c.Call, Tool: c.Tool, Args: c.Args}, s.iteration, true)
		if c.Step != "" {
			open[i].Step = c.Step
			s.setStep(stepped{label: c.Step, seq: s.seq, call: c.Call})
		}
	}
	s.open, s.unsent = open, false
}

// beginStep takes in that a turn is a step: the conversation begins with it.
func (s *State) beginStep() {
	if label := s.asked.View.Step; label != "" {
		s.setStep(stepped{label: label, seq: s.seq})
	}
}

// answerStep takes in whether the reply to the turn that is a step stands.
func (s *State) answerStep(stands bool) {
	name := stepName(s.asked.View.Step)
	if name == "" {
		return
	}
	st := s.steps[name]
	st.turn, st.value = 0, nil
	if stands {
		st.turn = len(s.turns)
		st.value, _ = s.stepValue()
	}
	put(&s.steps, name, st)
}

// forgetSteps lets the steps that failed in the latest batch be begun again. What failed before a
// turn that is a step has been lived with.
func (s *State) forgetSteps() {
	suspended := s.Status() != StatusRunning && !s.Status().Ended()
	if s.at == "" || s.HasOpen() || suspended {
		return
	}
	latest := s.steps[stepName(s.at)].seq
	for _, c := range s.lastBatch() {
		if c.batch < latest {
			return
		}
		if st, ok := s.steps[stepName(c.Step)]; ok && st.call == c.ID && !c.OK() {
			if delete(s.steps, stepName(c.Step)); st.before != nil {
				put(&s.steps, stepName(c.Step), *st.before)
			}
		}
	}
}

// stepValue returns the value that the latest reply, to a step, stands for, and how it fails the
// step's schema; nil: it follows it.
func (s *State) stepValue() (value json.RawMessage, reasons []string) {
	if want := s.asked.View.Output; want != "" {
		value, reasons = jsonschema.Settle(json.RawMessage(want), s.replied.Reply.Text(), nil)
	}
	if value == nil { // there is no schema, or the loop's is none, which no reply can repair
		value = wire.Quote(strings.TrimSpace(s.turns[len(s.turns)-1].Thought))
	}
	return value, reasons
}
