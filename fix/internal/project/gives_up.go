package project

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// GivesUp ends a run whose model has answered twice in a row without an action between,
// although the goal is not met. After the first answer the machine has listed what still
// fails; asking again would only use up the limits.
type GivesUp struct {
	By string // who notes it
}

const mostAnswers = 2

// String returns "gives_up(2)".
func (GivesUp) String() string { return fmt.Sprintf("gives_up(%d)", mostAnswers) }

// Review lets a model that gave up make no further turn.
func (g GivesUp) Review(s *pawl.State, step pawl.Step) pawl.Step {
	think, ok := step.(pawl.Think)
	judged, _ := s.Judged()
	if !ok || think.Purpose != pawl.PurposeTurn || judged.Judgement != pawl.JudgedRefuted {
		return step
	}
	answers := 0
	for t := range s.Turns() {
		if answers++; !t.Answer {
			answers = 0
		}
	}
	if answers < mostAnswers {
		return step
	}
	// A run that is resumed after it gave up gets one more turn: the note says which
	// owner of the run has seen how many answers.
	var seen gaveUp
	if note, ok := s.Note(g.By, noteName); ok && json.Unmarshal(note, &seen) != nil {
		seen = gaveUp{}
	}
	now := gaveUp{Answers: answers, Epoch: s.Epoch()}
	switch {
	case seen.Answers < answers:
		value, err := json.Marshal(now)
		if err != nil {
			return step // two numbers always marshal
		}
		return pawl.Record{Events: []pawl.Event{pawl.Noted{By: g.By, Name: noteName, Value: value}}}
	case seen.Epoch != now.Epoch:
		return step
	}
	return pawl.Finish{Verdict: pawl.Verdict{
		Holds: true, Status: pawl.StatusNoProgress, Condition: "gives_up", Leaf: "gives_up",
		Detail: "it gave up: " + strings.TrimSpace(s.LastText()),
	}}
}

const noteName = "gave_up"

type gaveUp struct {
	Answers int    `json:"answers"`
	Epoch   uint64 `json:"epoch"`
}
