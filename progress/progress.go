// Package progress watches whether a run gets on, and says what to do when it
// does not: a hint to the model, a person, or the end. It also says how the
// goal of a run moved, turn by turn; see [Of].
//
// A run is stuck when its latest turns follow one of these patterns, where w is
// the window of the policy. Calls and what came of them are compared by digest,
// arguments whatever their spelling. Turns that only call tools declared exempt
// do not count, and no turn counts twice: a person who has the run go on has it
// start afresh.
//
//	stalled(w)       a turn made the same calls as the one before, and saw the
//	                 same, w times after the first
//	cycle(k)         2, 3 or 4 turns come round, w times after the first
//	same_fault(w)    the same tools failed in the same way, w times after the
//	                 first, whatever their arguments; nothing new came between
//	monologue(w)     the model called nothing w times after the first, and the
//	                 run did not end by it, since a goal refutes what it said.
//	                 Under a loop other than ReAct, which may ask for text turn
//	                 by turn, only if it said the same each time
//	same_thought(w)  the model thought the same, w times after the first, and
//	                 found nothing that was not there the first time, whatever
//	                 it wrote
//	metric_worse(w)  the goal's measure got worse, w times after the first
//	metric_flat(n)   the goal's measure got no better by n turns that changed
//	                 something; see [Patience]
//
// What makes the goal's measure better than it was when the pattern began is
// progress, whatever the calls. So is a call that is repeated because something
// else comes of it each time, as when it waits for a job.
package progress

import (
	"errors"
	"fmt"

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

const (
	// Window is how many repetitions a run may make before it counts as stuck,
	// unless the agent says otherwise: what Hyphen's on_stuck has by default,
	// and the NoProgress policy of tightloop.
	Window = 3

	// Period is the longest cycle that is looked for. Two turns that alternate
	// are the common one (edit and test, list and read); with four a cycle can
	// still be found within the twenty turns a run has by default.
	Period = 4

	// Asks is how often a person is asked about one run before it ends after
	// all: as often as a reply is asked for. Who has answered three times has
	// said what they know.
	Asks = 3
)

// Patience is how many turns may change something without making the goal's
// measure any better, in a window: as many as it takes to find the longest
// cycle, which is 16 by default. A window itself would be too short: a change
// that spans several files makes nothing better before its last edit. Turns
// that only read do not count, since to look for a cause can take any time.
func Patience(window int) int { return Period * (window + 1) }

type noProgress struct {
	window   int
	then     Then
	hint     string
	full     bool // all rungs
	asks     int
	patience int
}

// NoProgress ends or corrects a run that is stuck. A window of zero switches it
// off. The zero Then is Fail. Under Hint, and wherever hint is not empty, the
// model is first told once, in those words or, when hint is empty, in general
// ones. Under Escalate a person is asked, at most [Asks] times.
func NoProgress(window int, then Then, hint string) pawl.Policy {
	if then == 0 {
		then = Fail
	}
	return noProgress{window: window, then: then, hint: hint, asks: Asks}
}

// Options are the finer points of a [Ladder]. The zero value is right.
type Options struct {
	Hint     string // what the model is told; empty: what the pattern suggests
	Asks     int    // how often a person is asked in a run; zero: as the constant Asks
	Patience int    // turns that may change something in vain; zero: as the function Patience
}

// Ladder is [NoProgress] with every rung: a hint into the next turn; if the run
// is stuck all the same, a person, whose answer the model hears and after which
// the counts and the hint begin afresh; and the end, once a person has been
// asked as often as o says. A run that is resumed from its end begins at the
// first rung.
func Ladder(window int, o *Options) pawl.Policy {
	p := noProgress{window: window, then: Escalate, full: true, asks: Asks}
	if o != nil {
		p.hint, p.patience = o.Hint, o.Patience
		if o.Asks != 0 {
			p.asks = o.Asks
		}
	}
	return p
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
	then := p.then.String()
	if p.full {
		then = "ladder"
		if p.asks != Asks {
			then += fmt.Sprintf(", asks %d", p.asks)
		}
		if p.patience != 0 {
			then += fmt.Sprintf(", patience %d", p.patience)
		}
	}
	if p.hint != "" {
		return fmt.Sprintf("no_progress(%d, %s, %q)", p.window, then, p.hint)
	}
	return fmt.Sprintf("no_progress(%d, %s)", p.window, then)
}

// Check refuses parameters that make no sense.
func (p noProgress) Check(pawl.Agent) error {
	if p.window < 0 || p.then < Fail || p.then > Hint {
		return errors.New(p.String() + ": the window may not be negative, and then is fail, escalate or hint")
	}
	if p.asks < 0 || p.patience < 0 {
		return errors.New(p.String() + ": Asks and Patience may not be negative")
	}
	return nil
}

// Waits reports whether the policy may park the run for a person.
func (p noProgress) Waits() bool { return p.then == Escalate }

// LeavesActs reports that calls are let through unseen.
func (noProgress) LeavesActs() bool { return true }

// Review lets a stuck run make no further turn.
func (p noProgress) Review(s *pawl.State, step pawl.Step) pawl.Step {
	think, ok := step.(pawl.Think)
	switch {
	case !ok || think.Purpose != pawl.PurposeTurn || p.window == 0:
		return step
	case s.Machine() < 2:
		return p.first(s, step)
	}
	return p.climb(s, step)
}
