// Package explain turns a run's log into a report: why it stopped, what it did
// and why, what it cost, and what to do next. It reads nothing but the log, so
// a report can be had from any journal, of any run, at any time.
//
// A report shows what models, tools and people said. What must not leave the
// house (secrets, personal data) is to be taken out of the entries before they
// get here; control sequences are taken out here, and in Markdown all such text
// stands in code spans and fences, so that it can forge neither a heading nor a
// command.
package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
)

// Options are what a log does not say. The zero value is right for a log alone.
type Options struct {
	// Status is where the run stands, when the caller knows better than the
	// log: pawl.Interrupted, when it says running and the owner is gone.
	Status pawl.Status
	// Continued is the run that goes on with the conversation of this one, which can
	// then be forked and not resumed; empty: none does.
	Continued string
	// Waits is what the run and its children wait for, with what of that has been
	// answered by letters that the log knows nothing of yet. Nil: nothing has.
	Waits []pawl.Pending
	// Root is the run that the run is a child of, by whatever others, and goes on
	// with; empty: it is nobody's. Orphan says that a run it descends from is gone.
	Root   string
	Orphan bool
	// Place is where the commands of Next are typed.
	Place Place
	// Now is the time to reckon expiry and waiting by. Zero: that of the last entry.
	Now time.Time
	// Full leaves nothing out of the Markdown: every iteration, every call.
	Full bool
}

// A Report says what a run has come to and how. Its JSON is the run's result,
// with what explains it beside.
type Report struct {
	Result

	Decisions []Decision      `json:"decisions"`
	Ceilings  Ceilings        `json:"ceilings"`
	Cost      map[string]Part `json:"cost"` // by purpose of the model call; children under "children"
	Spending  Spending        `json:"spending"`
	Forecast  *Forecast       `json:"forecast"` // of ten more iterations; nil: the run has not said enough
	Failures  []Failure       `json:"failures"`
	Next      []Action        `json:"next"`
	Goal      *Goal           `json:"goal,omitempty"`     // nil: it has none
	Attempts  []Attempt       `json:"attempts,omitempty"` // of a run with a goal
	Flaky     []string        `json:"flaky,omitempty"`    // tests that fail by chance, and are no part of the goal
	Causes    json.RawMessage `json:"causes,omitempty"`   // what led to what, if the run looked for it
	Landing   bool            `json:"landing"`            // the answer is the one given when a limit was met

	opt     Options
	origin  origin
	rules   bool // its model is a set of rules
	begun   pawl.RunStarted
	fork    pawl.RunForked // its From is empty where the run is no fork
	price   *pawl.Price
	created time.Time
	updated time.Time
	seq     uint64
	quiet   uint64 // the last entry that the run can be forked at
	flight  []phrase
	now     time.Time
	wakeAt  time.Time
}

// A Decision is one step of a run, or something that came from outside: start,
// resume, extend, fork, pause, hook, letter. Iteration is the turn it belongs
// to, zero before the first.
type Decision struct {
	Seq       uint64    `json:"seq"` // its first entry
	Iteration int       `json:"iteration"`
	Time      time.Time `json:"time"`
	Step      string    `json:"step"`    // observe, think, act, record, await or finish, or one of the above
	Subject   string    `json:"subject"` // what was observed, asked, run, recorded or awaited
	Why       string    `json:"why"`
	Outcome   []string  `json:"outcome"` // what came of it, one line each

	subject, why phrase
	outcome      []phrase
	last         uint64
	tally        tally
}

// A Part is what model calls for one purpose came to. CostUSD is nil when the
// model has no price. Lost and failed attempts count at what was booked for them.
type Part struct {
	ModelCalls   int           `json:"model_calls"`
	Failed       int           `json:"failed"`
	InputTokens  int           `json:"input_tokens"`
	OutputTokens int           `json:"output_tokens"`
	CostUSD      *pawl.Decimal `json:"cost_usd"`

	dollars float64
}

// A Failure is one attempt at a model call that brought no reply.
type Failure struct {
	Seq       uint64       `json:"seq"`
	Iteration int          `json:"iteration"`
	Purpose   pawl.Purpose `json:"purpose"`
	Attempt   int          `json:"attempt"`
	Class     string       `json:"class"`
	Message   string       `json:"message"`
	RetryAt   *time.Time   `json:"retry_at"` // nil: not tried again
}

// An Action is something to do next. Command works as it stands, with words in
// capitals to be replaced.
type Action struct {
	Command string `json:"command"`
	Why     string `json:"why"`

	why phrase
}

func action(command string, why phrase) Action { return Action{command, why.plain(), why} }

// Of folds a log and explains it. It costs O(entries). Entries that cannot be
// read, or that do not follow each other, are an error, which comes with the
// report of those before; so is a log without any.
func Of(entries iter.Seq2[pawl.Entry, error], o *Options) (Report, error) {
	f := newFold(o)
	for e, err := range entries {
		if err == nil && e.Seq == 0 {
			continue // a piece of a reply, when a live run is watched
		}
		if err == nil {
			err = pawl.CheckEntry(f.state, e)
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
