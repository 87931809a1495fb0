// Package progress detects when a run is stuck, and then gives the model a
// hint, asks a person, or ends the run.
//
// A run is stuck when its latest turns follow one of these patterns, where w is
// the window of the policy. Calls and results are compared by digest, with
// normalised arguments. Turns that only call tools declared exempt do not
// count. Resuming a run resets all counts.
//
//	stalled(w)       a turn made the same calls as the one before, and saw the
//	                 same, w times after the first
//	cycle(k)         a sequence of k turns (2, 3 or 4) repeated w times
//	same_fault(w)    the same tools failed in the same way, w times after the
//	                 first, whatever their arguments; nothing new came between
//	monologue(w)     the model answered without a call, and did so w more times;
//	                 the run did not end because its goal refutes the answers.
//	                 Under a loop other than ReAct, which may ask for text turn
//	                 by turn, only if it said the same each time
//	same_thought(w)  the model thought the same, w times after the first, and
//	                 found nothing that was not there the first time, whatever
//	                 it wrote
//	metric_worse(w)  the goal's measure got worse, w times after the first
//	metric_flat(n)   the goal's measure got no better by n turns that changed
//	                 something; see [Patience]
//
// A turn is progress if the goal's measure is better than at the start of the
// pattern, whatever the turn calls. A repeated call whose result is new each
// time, such as polling a job, is progress too.
package progress

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/usercode"
)

// Then is what a policy does with a stuck run.
type Then int

// The rungs of the ladder.
const (
	Fail     Then = 1 + iota // the run ends with no_progress
	Escalate                 // a person is asked, by ending the run as waiting for input
	Hint                     // the model gets one hint; if that does not help, the run ends
)

var thenNames = naming.NewEnum[Then]("then", []string{"fail", "escalate", "hint"})

// String returns the rung's name in specs.
func (t Then) String() string { return thenNames.String(t) }

const (
	// Window is how many repetitions a run may make before it counts as stuck,
	// by default. Hyphen's on_stuck and tightloop's NoProgress use the same.
	Window = 3

	// Period is the longest detected cycle, in turns. Cycles of two are the
	// common ones (edit and test, list and read); a cycle of four can still be
	// detected within the default limit of twenty turns.
	Period = 4

	// Asks is how often a person is asked about one run before it ends: as
	// often as a rejected reply is asked for again.
	Asks = 3
)

// Patience returns how many turns may change something without improving the
// goal's measure: as many as it takes to detect the longest cycle, 16 for the
// default window. The window itself would be too short: a change of several
// files improves nothing before its last edit. Turns that only read do not
// count.
func Patience(window int) int { return Period * (window + 1) }

type noProgress struct {
	usercode.Reader
	window int
	then   Then
	hint   string
}

// NoProgress ends or corrects a stuck run. A window of zero turns it off. The
// zero Then is Fail. Under Hint, and whenever hint is not empty, the model
// first gets one hint: that text, or a general one if it is empty. Under
// Escalate a person is asked, at most [Asks] times; the answer goes to the model
// and resets the counts and the hint.
func NoProgress(window int, then Then, hint string) pawl.Policy {
	return noProgress{window: window, then: cmp.Or(then, Fail), hint: hint}
}

// Guard returns the agent with the default NoProgress policy, unless it has a
// policy of that kind.
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

// String returns the policy as recorded in the log.
func (p noProgress) String() string {
	if p.hint != "" {
		return fmt.Sprintf("no_progress(%d, %s, %q)", p.window, p.then, p.hint)
	}
	return fmt.Sprintf("no_progress(%d, %s)", p.window, p.then)
}

// Check reports invalid parameters.
func (p noProgress) Check(pawl.Agent) error {
	if p.window < 0 || p.then < Fail || p.then > Hint {
		return errors.New(p.String() + ": the window may not be negative, and then is fail, escalate or hint")
	}
	return nil
}

// Waits reports whether the policy may suspend the run for a person.
func (p noProgress) Waits() bool { return p.then == Escalate }

// Review keeps a stuck run from making another turn.
func (p noProgress) Review(s *pawl.State, step pawl.Step) pawl.Step {
	think, ok := step.(pawl.Think)
	if !ok || think.Purpose != pawl.PurposeTurn || p.window == 0 {
		return step
	}
	return p.climb(s, step)
}
