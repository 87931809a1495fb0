// Package progress watches whether a run gets on, and says what to do when it
// does not: a hint to the model, a person, or the end.
package progress

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// Then is what happens when a run is stuck.
type Then int

// The rungs of the ladder.
const (
	Fail     Then = 1 + iota // the run ends with no_progress
	Escalate                 // a person is asked, by ending the run as waiting for input
	Hint                     // the model is told once; if that does not help, the run ends
)

// String returns the rung's name in specs.
func (t Then) String() string {
	switch t {
	case Fail:
		return "fail"
	case Escalate:
		return "escalate"
	case Hint:
		return "hint"
	}
	return fmt.Sprintf("then(%d)", int(t))
}

// Window is how many repetitions a run may make before it counts as stuck,
// unless the agent says otherwise.
const Window = 3

const defaultHint = "You have made the same calls with the same results several times. Do something different: another tool, other arguments, or answer with what you have."

type noProgress struct {
	window int
	then   Then
	hint   string
}

// NoProgress ends or corrects a run whose turns repeat: the same calls, with
// the same arguments, and the same coming of it, window times after the first.
// A window of zero switches it off. The zero Then is Fail; hint is what the
// model is told under Hint, empty for a general one.
func NoProgress(window int, then Then, hint string) pawl.Policy {
	if then == 0 {
		then = Fail
	}
	return noProgress{window, then, hint}
}

// Guard returns the agent with the default NoProgress policy added, unless it
// has one of its own.
func Guard(a pawl.Agent) pawl.Agent {
	for _, p := range a.Policies {
		if _, ok := p.(noProgress); ok {
			return a
		}
	}
	policies := a.Policies
	a.Policies = append(policies[:len(policies):len(policies)], NoProgress(Window, Fail, ""))
	return a
}

// String prints the policy as it stands in the log.
func (p noProgress) String() string {
	if p.hint != "" {
		return fmt.Sprintf("no_progress(%d, %v, %q)", p.window, p.then, p.hint)
	}
	return fmt.Sprintf("no_progress(%d, %v)", p.window, p.then)
}

// Check refuses parameters that make no sense.
func (p noProgress) Check(pawl.Agent) error {
	if p.window < 0 || p.then < Fail || p.then > Hint {
		return errors.New(p.String() + ": the window may not be negative, and then is fail, escalate or hint")
	}
	return nil
}

// Waits reports whether the policy may park the run for a person.
func (p noProgress) Waits() bool { return p.then == Escalate }

// Review lets a stuck run make no further turn.
func (p noProgress) Review(s pawl.State, step pawl.Step) pawl.Step {
	think, ok := step.(pawl.Think)
	if !ok || think.Purpose != pawl.PurposeTurn || p.window == 0 || s.Stalled() < p.window {
		return step
	}
	judged, _ := s.Judged()
	found := judged.Judgement == pawl.Repeating && judged.Streak == s.Stalled()
	switch {
	case p.then == Hint && judged.Judgement != pawl.Hinted && !found:
		hint := p.hint
		if hint == "" {
			hint = defaultHint
		}
		return pawl.Record{Events: []pawl.Event{pawl.ProgressJudged{
			Judgement: pawl.Hinted, Detail: p.detail(s), Streak: s.Stalled(), Hint: hint}}}
	case p.then == Hint && judged.Judgement == pawl.Hinted && judged.Streak == s.Stalled():
		return step // the hint has not been tried yet
	case !found:
		return pawl.Record{Events: []pawl.Event{pawl.ProgressJudged{
			Judgement: pawl.Repeating, Detail: p.detail(s), Streak: s.Stalled()}}}
	case p.then == Escalate:
		return pawl.Record{Events: []pawl.Event{pawl.InputRequested{
			Call: fmt.Sprintf("q_%d", s.Seq()), Question: p.detail(s) + ". How should it go on?"}}}
	}
	leaf := fmt.Sprintf("stalled(%d)", p.window)
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.NoProgress, Condition: leaf, Leaf: leaf, Detail: p.detail(s)}}
}

func (p noProgress) detail(s pawl.State) string {
	what := "the last turn"
	var last pawl.CallState
	for c := range s.Calls() {
		last = c
	}
	if last.ID != "" {
		what = last.Tool + compact(last.Args)
	}
	return fmt.Sprintf("%s was repeated %d times with the same outcome", what, s.Stalled())
}

func compact(args json.RawMessage) string {
	const most = 120
	if len(args) > most {
		return "(" + strings.ToValidUTF8(string(args[:most]), "") + "…)"
	}
	return "(" + string(args) + ")"
}
