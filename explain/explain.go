// Package explain turns a run's log into a report: why the run stopped, what it did
// and why, what it cost, and what to do next. It reads only the log, so it works
// with any journal, for any run, at any time. The command pawl explain prints the
// report; for traces and metrics, use package telemetry.
//
// A report shows text from models, tools and people. Redact the entries first if
// secrets or personal data must not be shown. The package itself removes control
// sequences, and in Markdown puts all such text in code spans and fences, so that
// it cannot forge a heading or a command.
package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// Options are facts that are not in the log. The zero value is right for a log
// alone.
type Options struct {
	// Status is the run's status if the caller knows better than the log:
	// pawl.StatusInterrupted if the log says running and the owner is gone.
	Status pawl.Status
	// Continued is the run that continues this one's conversation, the last one after handoffs. Then this
	// run can be forked but not resumed; empty: none does.
	Continued string
	// Waits is what the run and its children wait for, including answers that
	// are recorded as signals but not in the log yet. Nil: nothing was
	// answered.
	Waits []pawl.Pending
	// Root is the outermost ancestor of a child run, which must be resumed to
	// continue this run; empty: the run is not a child. Orphan reports that an
	// ancestor was deleted.
	Root   string
	Orphan bool
	// Place is where the commands of Next will be typed.
	Place Place
	// Now is the time for computing expiry and waiting. Zero: the time of the
	// last entry.
	Now time.Time
}

// A Report describes the state of a run and how it got there. Its JSON is the
// run's result plus the explanation.
type Report struct {
	Result

	Decisions []Decision      `json:"decisions"`
	Ceilings  Ceilings        `json:"ceilings"`
	Cost      map[string]Part `json:"cost"` // by purpose of the model call; children under "children"
	Spending  Spending        `json:"spending"`
	Failures  []Failure       `json:"failures"`
	Next      []Action        `json:"next"`             // at most three, the most likely first
	Goal      *Goal           `json:"goal,omitempty"`   // nil: the run has no goal
	Causes    json.RawMessage `json:"causes,omitempty"` // the graph of causes, if the run recorded one
	Landing   bool            `json:"landing"`          // the answer was given when a limit was reached

	// Conversation has the legs of the conversation that the run is one of, in order; nil: no run
	// handed over. [Of] leaves it nil, since it is in several logs.
	Conversation []Leg `json:"conversation,omitempty"`

	opt    Options
	state  *pawl.State // at the end of the log
	quiet  uint64      // the last entry at which the run can be forked
	fork   pawl.RunForked
	flight []Phrase // what had not ended at the end of the log
	now    time.Time
}

// A Decision is one step of a run, or an external event: start, resume, extend,
// fork, pause, hook, signal. Iteration is its turn, zero before the
// first.
type Decision struct {
	Seq       uint64    `json:"seq"` // its first entry
	Iteration int       `json:"iteration"`
	Time      time.Time `json:"time"`
	Step      string    `json:"step"`    // observe, think, act, record, await or finish, or one of the above
	Subject   Phrase    `json:"subject"` // what was observed, asked, run, recorded or awaited
	Why       Phrase    `json:"why"`
	Outcome   []Phrase  `json:"outcome"` // the results, one line each
}

// A Leg is one of the runs that one message of a person led to: the agent of the leg before
// handed the conversation over.
type Leg struct {
	Run        string        `json:"run"`
	Agent      string        `json:"agent"`
	Status     pawl.Status   `json:"status"`
	By         string        `json:"by"` // the agent that handed over; empty for the first leg
	Reason     string        `json:"reason"`
	Iterations int           `json:"iterations"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
}

// String is a leg in one line.
func (l Leg) String() string {
	text := l.Run + " " + l.Agent + ": " + l.Status.String() + ", " + display.Count(l.Iterations, "iteration")
	if l.CostUSD != nil {
		text += ", " + dollars(*l.CostUSD)
	}
	if l.By != "" {
		text += "; " + l.By + " handed over: " + l.Reason
	}
	return text
}

// A Failure is an attempt at a model call without a reply.
type Failure struct {
	Seq       uint64       `json:"seq"`
	Iteration int          `json:"iteration"`
	Purpose   pawl.Purpose `json:"purpose"`
	Attempt   int          `json:"attempt"`
	Class     string       `json:"class"`
	Message   string       `json:"message"`
	RetryAt   *time.Time   `json:"retry_at"` // nil: not retried
}

// Of explains a log. It costs O(entries). It returns an error for an empty log,
// and for entries that cannot be read or are out of order, together with the
// report of those before.
func Of(entries iter.Seq2[pawl.Entry, error], o *Options) (Report, error) {
	f := newFold(o)
	for e, err := range entries {
		if err == nil && e.Seq == 0 {
			continue // streamed text of a live run
		}
		if err == nil {
			err = f.state.Internals().CheckNext(e)
		}
		if err != nil {
			return f.report(), fmt.Errorf("explain: %w", err)
		}
		f.add(e)
	}
	if f.state.Seq() == 0 {
		return f.report(), errors.New("explain: the log has no entries; a run begins with run.started")
	}
	return f.report(), nil
}
