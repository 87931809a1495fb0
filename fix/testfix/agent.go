package testfix

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

const prompt = `You fix a project whose tests fail. You work in a copy of it; your edits are applied to the original only when every test passes.

How to go about it:
- Each observation is a run of the tests: what is open, what the tests said and where and, after an edit, what it fixed and broke. Read the messages, then the tests, then the code they are about, and find the cause before you edit anything.
- Fix the cause in the code under test. Do not weaken, skip or work around a test, and do not write code for a test's own inputs.
- Make one small edit at a time. The tests run by themselves after each turn that edits; run_tests is for a closer look. What passed before and fails now, your last edit broke: revert or fix it.
- An observation lists what was tried without success. Do not try that again: the cause is elsewhere.
- Read a file before you edit it, and copy the text to replace exactly, white space included. Use write_file for new files only.
- Tests named as no part of the goal are not your task.
- When you are sure that it cannot be done, answer without calling a tool and say why. Do not report that every test passes: the run observes that.`

// Agent returns the agent. Its observer and tools work in the copy, so it can
// have one run at a time.
func (f *Fix) Agent() pawl.Agent {
	var limits pawl.Limits
	if m, ok := f.model.(interface{ Limits() pawl.Limits }); ok {
		limits = m.Limits() // a model that sets its own limits
	}
	return pawl.Agent{
		Name:        "fix",
		Description: "fixes the failing tests of a project",
		Prompt:      f.prompt(),
		Model:       f.model,
		Tools:       f.tools(),
		Observer:    pawl.ObserverFunc(f.observe),
		Goal:        &pawl.Goal{Metric: pawl.MetricFunc(measure), Success: stop.Metric(">=", 0)},
		Policies:    []pawl.Policy{givesUp{}},
		Limits:      limits.Merge(f.limits),
		Source:      f.source.String(),
	}
}

func (f *Fix) prompt() string {
	if f.source.AllowTestEdits {
		return prompt + "\nYou may edit tests, where a test itself is wrong."
	}
	return prompt + "\nTest files and test data are read-only."
}

// givesUp ends a run whose model has answered twice in a row without an action between,
// although the goal is not met. After the first answer the machine has listed what still
// fails; asking again would only use up the limits.
type givesUp struct{}

const mostAnswers = 2

// String returns "gives_up(2)".
func (givesUp) String() string { return fmt.Sprintf("gives_up(%d)", mostAnswers) }

// Review lets a model that gave up make no further turn.
func (givesUp) Review(s *pawl.State, step pawl.Step) pawl.Step {
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
	if note, ok := s.Note(noteBy, noteName); ok && json.Unmarshal(note, &seen) != nil {
		seen = gaveUp{}
	}
	now := gaveUp{Answers: answers, Epoch: s.Epoch()}
	switch {
	case seen.Answers < answers:
		value, err := json.Marshal(now)
		if err != nil {
			return step // two numbers always marshal
		}
		return pawl.Record{Events: []pawl.Event{pawl.Noted{By: noteBy, Name: noteName, Value: value}}}
	case seen.Epoch != now.Epoch:
		return step
	}
	return pawl.Finish{Verdict: pawl.Verdict{
		Holds: true, Status: pawl.StatusNoProgress, Condition: "gives_up", Leaf: "gives_up",
		Detail: "the model gave up: " + strings.TrimSpace(s.LastText()),
	}}
}

const noteBy, noteName = "testfix", "gave_up"

type gaveUp struct {
	Answers int    `json:"answers"`
	Epoch   uint64 `json:"epoch"`
}
