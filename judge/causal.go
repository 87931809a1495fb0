package judge

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
)

// causal is the policy's name in the log.
const causal = "judge.causal"

// leastReply is the smallest reply limit the machine sets, in tokens.
const leastReply = 16

type causes struct{}

// Causal records [Causes] as the last fact before the run ends, for reports of
// the run. It does no work earlier and asks no model.
func Causal() pawl.Policy { return causes{} }

// String returns the policy as recorded in the log.
func (causes) String() string { return "causal()" }

// Check implements [pawl.Checker].
func (causes) Check(a pawl.Agent) error {
	return alone[causes](a, "judge.Causal")
}

// Review adds the graph before the end of a run. A run that continues after
// that, because its answer was rejected or it was resumed, gets another graph
// at its next end.
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
	reply, _ := json.Marshal(s.RepliedAt(pawl.PurposeTurn)) // a number always marshals
	return pawl.Record{Events: []pawl.Event{pawl.CausesFound{Graph: graph}, pawl.Noted{By: causal, Name: "reply", Value: reply}}}
}

// ends reports whether the step ends the run, or exceeds a limit that will.
func ends(s *pawl.State, step pawl.Step) bool {
	if s.Status().Ended() {
		return false // it has ended
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
