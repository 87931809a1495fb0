package progress

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
)

// The note in which the policy remembers the rungs it has taken.
const noteBy, noteName = "no_progress", "ladder"

// rungs is the content of the note. Judgements cannot hold it: resuming the run
// clears them, and other policies write them too.
type rungs struct {
	Hinted int `json:"hinted,omitempty"` // the turn after which the model got the hint
	Asked  int `json:"asked,omitempty"`  // how many times a person was asked
	Ended  int `json:"ended,omitempty"`  // the turn after which no person was asked again
}

// remembered returns the rungs taken since the run began or was resumed from
// its end.
func remembered(s *pawl.State) (r rungs) {
	note, ok := s.Note(noteBy, noteName)
	if !ok || json.Unmarshal(note, &r) != nil || r.Ended > 0 && r.Ended <= s.ResetIterations() {
		return rungs{}
	}
	return r
}

func (r rungs) note() pawl.Event {
	value, err := json.Marshal(r)
	if err != nil {
		value = json.RawMessage("{}") // two numbers always marshal
	}
	return pawl.Noted{By: noteBy, Name: noteName, Value: value}
}

// climb takes the next rung when the run is stuck, and gives the model a hint
// when its last turn made the goal's measure worse.
func (p noProgress) climb(s *pawl.State, step pawl.Step) pawl.Step {
	_, measured := s.Metric()
	if !measured && moves(s) {
		return step
	}
	return p.rung(s, step, measured)
}

// moves reports whether a look at the last few turns shows that the run gets on,
// which it mostly does: a step then costs little.
func moves(s *pawl.State) bool {
	var room [Period + 1]turn
	t := follow(s, room[:], len(room), false)
	return t.moves()
}

// rung is the next one, if the run is stuck.
func (p noProgress) rung(s *pawl.State, step pawl.Step, measured bool) pawl.Step {
	patience := Patience(p.window)
	most := Period * (p.window + 1)
	if measured {
		most = max(most, 2*patience)
	}
	t := follow(s, make([]turn, 0, most), most, false)
	past := remembered(s)
	judged, _ := s.Judged()

	var facts []pawl.Event
	told := func(turn int) bool { return judged.Judgement == pawl.JudgedRegressed && judged.Streak == turn }
	if e, worse := regression(s); worse && !told(e.Streak) {
		facts = append(facts, e)
	}
	f := t.look(p.window, patience, func(from, to int) bool { return samePlace(s, from, to) })
	if f.pattern == none {
		if facts == nil {
			return step
		}
		return pawl.Record{Events: facts}
	}
	at := t.turns[0].iteration
	if past.Hinted == at {
		return step // the model has not had a turn with the hint
	}
	detail := f.detail(s, &t)
	stuck := pawl.ProgressJudged{Judgement: pawl.JudgedRepeating, Detail: detail, Streak: f.times}
	switch {
	case p.hints() && past.Hinted <= s.ResetIterations():
		past.Hinted = at
		stuck.Judgement, stuck.Hint = pawl.JudgedHinted, p.hint
		if stuck.Hint == "" {
			stuck.Hint = "You are not getting anywhere: " + detail + ". " + f.pattern.advice()
		}
		return pawl.Record{Events: append(facts, stuck, past.note())}
	case p.then == Escalate && past.Asked < Asks:
		past.Asked++
		return pawl.Record{Events: []pawl.Event{stuck, past.note(), pawl.InputRequested{
			Call: fmt.Sprintf("q_%d", s.Seq()), Question: detail + ". How should it go on?"}}}
	case judged.Judgement == pawl.JudgedRepeating && judged.Detail == detail:
		leaf := f.leaf(p.window, patience)
		return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusNoProgress, Condition: leaf, Leaf: leaf, Detail: detail}}
	case past.Asked > 0:
		past.Ended = at
		return pawl.Record{Events: []pawl.Event{stuck, past.note()}}
	}
	return pawl.Record{Events: []pawl.Event{stuck}}
}

// hints reports whether the first rung is a hint to the model.
func (p noProgress) hints() bool { return p.then == Hint || p.hint != "" }
