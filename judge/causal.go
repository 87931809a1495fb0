package judge

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
)

// causal is the policy's name in the log.
const causal = "judge.causal"

// leastReply is the shortest reply the machine asks for, in tokens.
const leastReply = 16

type causes struct{}

// Causal records what led to what ([Causes]) as the run's last fact before it
// ends, so that a report of the run can show it. It looks at nothing while the
// run goes on, and asks no model.
func Causal() pawl.Policy { return causes{} }

// String prints the policy as it stands in the log.
func (causes) String() string { return "causal()" }

// Check implements [pawl.Checker].
func (causes) Check(a pawl.Agent) error {
	return alone(a, "judge.Causal", func(p pawl.Policy) bool { _, ok := p.(causes); return ok })
}

// Review puts the graph before the end of a run. A run that went on all the
// same, since the answer did not stand or somebody resumed it, gets another.
func (causes) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if !ends(s, step) {
		return step
	}
	var noted uint64
	if raw, ok := s.Note(causal, "reply"); ok && json.Unmarshal(raw, &noted) != nil || noted == s.RepliedAt(pawl.PurposeTurn) || !acted(s) {
		return step
	}
	graph, err := json.Marshal(Causes(s))
	if err != nil {
		return step // strings and numbers always marshal
	}
	reply, _ := json.Marshal(s.RepliedAt(pawl.PurposeTurn)) // so does a number
	return pawl.Record{Events: []pawl.Event{pawl.CausesFound{Graph: graph}, pawl.Noted{By: causal, Name: "reply", Value: reply}}}
}

// ends reports whether the run ends with the step: it says so, or a ceiling will.
func ends(s *pawl.State, step pawl.Step) bool {
	if s.Status().Ended() {
		return false // it has
	}
	limits := s.Limits()
	switch step := step.(type) {
	case pawl.Finish:
		return true
	case pawl.Think:
		return s.Elapsed() >= limits.Time || step.MaxTokens < leastReply || step.Purpose == pawl.PurposeTurn && step.Iteration > limits.Iterations
	case pawl.Act, pawl.Observe:
		return s.Elapsed() >= limits.Time
	}
	return false
}
