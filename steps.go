package pawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/jsonschema"
)

// A loop of known steps makes its calls itself. It names each with a label of
// its own, as it does a turn (see [View.Step]), and finds what came of it
// under the label's name: what stands before an @, if there is one. Behind
// the @ it may count rounds, as in draft@3.

// StepState is where a step of a loop stands that was begun last under a name.
type StepState struct {
	Label string          // what it was begun as
	Seq   uint64          // of the entry that began it
	Done  bool            // it has its answer
	OK    bool            // which is no error
	Call  string          // the call it is; empty: it is a turn
	Value json.RawMessage // the call's result or the reply: a text, or the document it was to be
	Error string          // what the call ended with instead
}

// Step returns where the step stands that was begun last under a name, and
// whether one was. What failed is forgotten when the run is taken up again
// after its end, so that it can be begun once more.
func (s *State) Step(name string) (StepState, bool) {
	st, ok := s.steps.Get(name)
	if !ok {
		return StepState{}, false
	}
	step := StepState{Label: st.label, Seq: st.seq, Call: st.call}
	if st.call == "" {
		if st.turn > 0 && st.turn <= s.turns.Len() {
			step.Done, step.OK, step.Value = true, true, document(s.turns.At(st.turn-1).Thought, st.want)
		}
		return step, true
	}
	if c, ok := s.call(st.call); ok && c.Phase == Answered {
		step.Done, step.OK, step.Value, step.Error = true, c.ok(), bytes.Clone(c.Result), c.Error
	}
	return step, true
}

// LastStep is the label of the step that was begun last; empty: there is none.
func (s *State) LastStep() string { return s.at }

// stepped is what a step came to: a call, or a turn.
type stepped struct {
	label string
	seq   uint64
	call  string
	turn  int  // its place among the turns, from 1; zero: it has no reply that stands
	want  bool // its reply is to be a document
}

// stepName is what a label is found under.
func stepName(label string) string {
	name, _, _ := strings.Cut(label, "@")
	return name
}

// Who notes that a loop calls tools, and as what.
const (
	looper    = "__loop__"
	callsNote = "calls"
)

// opened is a call of a loop's as it stands in that note.
type opened struct {
	Call string          `json:"call"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Step string          `json:"step,omitempty"`
}

// open records the calls a loop wants to make. Once they are open, what becomes
// of them is decided as for a model's.
func (m *Machine) open(s *State, calls []Disposed) Step {
	list := make([]opened, len(calls))
	for i := range calls {
		c := &calls[i]
		list[i] = opened{callID(s.counter + 1 + i), valid(c.Call.Tool), object(c.Call.Args), c.Step}
	}
	value, err := json.Marshal(list)
	if err != nil {
		return failed("loop "+m.loop.Name(), fmt.Sprintf("the loop's calls cannot be recorded: %v", err))
	}
	return Record{[]Event{Noted{By: looper, Name: callsNote, Value: value}}}
}

// openCalls opens what a loop calls. Calls that do not follow those before them
// were written by nobody, and change nothing.
func (s *State) openCalls(value json.RawMessage) {
	var list []opened
	if json.Unmarshal(value, &list) != nil || s.HasOpen() {
		return
	}
	for i, c := range list {
		if callNumber(c.Call) != s.counter+1+i {
			return
		}
	}
	if len(list) == 0 {
		return
	}
	s.counter += len(list)
	s.looped, s.untold, s.batch = true, false, len(list)
	s.open = make([]call, len(list))
	for i, c := range list {
		s.open[i] = newCall(Call{ID: c.Call, Tool: c.Tool, Args: c.Args}, s, s.iteration)
		if s.open[i].Step = c.Step; c.Step != "" {
			s.at = c.Step
			s.steps = s.steps.Set(stepName(c.Step), stepped{label: c.Step, seq: s.seq, call: c.Call})
		}
	}
}

// beginStep takes in that a turn is a step: the conversation begins with it.
func (s *State) beginStep(v View) {
	s.step, s.want = v.Step, v.Output
	if v.Step == "" {
		return
	}
	s.at = v.Step
	s.steps = s.steps.Set(stepName(v.Step), stepped{label: v.Step, seq: s.seq})
}

// answerStep takes in whether the reply to the turn that is a step stands.
func (s *State) answerStep(stands bool) {
	if s.step == "" {
		return
	}
	st, _ := s.steps.Get(stepName(s.step))
	st.want, st.turn = s.want != "", 0
	if stands {
		st.turn = s.turns.Len()
	}
	s.steps = s.steps.Set(stepName(s.step), st)
}

// forgetSteps lets the steps that failed in the latest batch be begun again.
func (s *State) forgetSteps() {
	if s.at == "" || s.HasOpen() {
		return
	}
	for i := max(0, s.calls.Len()-s.batch); i < s.calls.Len(); i++ {
		c := s.calls.At(i)
		if st, ok := s.steps.Get(stepName(c.Step)); ok && st.call == c.ID && !c.ok() {
			s.steps = s.steps.Delete(stepName(c.Step))
		}
	}
}

// document is what a reply amounts to: its text or, when it follows a schema,
// the JSON document in it. A word that is no JSON stands for itself, so that a
// model asked for one of a few words need not quote it.
func document(text string, schema bool) json.RawMessage {
	if doc := jsonText(text); schema && json.Valid(doc) {
		return doc
	}
	return quote(strings.TrimSpace(text))
}

// unwanted says how the reply to a step fails its schema; nil: it follows it.
func (s *State) unwanted(text string) []string {
	if s.want == "" {
		return nil
	}
	schema, err := jsonschema.Compile(json.RawMessage(s.want), nil)
	if err != nil {
		return nil // the loop's mistake, which no reply can mend
	}
	return unlike(schema.Validate(document(text, true)), s.want)
}
