package pawl

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/names"
)

// A Tool does something for the model.
//
// Info is asked once, when the run is prepared, and must not change. Run is
// called from a goroutine of its own, possibly beside other calls, with
// arguments that were validated against Info().Input. Its error is told to the
// model as text it can act on; it never ends the run. A panic counts as an error.
// An error with a method Unknown() bool that reports true says of a Write that
// nobody knows whether it took place; one with a method NotRun() bool that reports
// true says that nothing of the call was done, whatever ctx is. When ctx ends, Run
// must return soon: one that does not is abandoned, the run goes on, and the log
// says so.
type Tool interface {
	Info() ToolInfo
	Run(ctx context.Context, inv Invocation) (Output, error)
}

// A Reconciler is a tool that can find out what came of a call that was running
// when its run lost its owner, or that is in doubt. It is asked before the
// [OnDoubt] of the tool counts, once by everybody who takes the run up, and it
// first ends or waits for what still runs of the call. A call that took place
// has the output as its result or, when there is an error too, failed with that,
// or timed out if the error is [context.DeadlineExceeded]; one that did not take
// place is driven again. An error with happened false says that it cannot tell.
//
// A tool that has its attempts watched by somebody who survives this process may
// say so with a method Supervised() string. It is asked just before an attempt is
// begun; what it says is in the log before the attempt runs, and comes back to Run
// and Reconcile. Run must then not act unless it is watched as it was said, so
// that Reconcile can take the absence of a record for what it is.
type Reconciler interface {
	Reconcile(ctx context.Context, inv Invocation) (out Output, happened bool, err error)
}

// An Invocation is one attempt at one call. Key is the idempotency key: the
// same for every attempt, and for an [Idempotent] tool the same for equal
// arguments within the run, so that the far side can tell a repeat.
type Invocation struct {
	Run     string
	Call    string
	Tool    string
	Args    json.RawMessage
	Key     string
	Attempt int // from 1

	Supervised string // what the tool said of this attempt, see [Reconciler]
}

// A Recaller is a [Tool] that answers from what earlier calls of its run brought.
// The engine calls Recall in place of Run. earlier is the result of a call as
// text, what was cut off it included where the journal has that, and whether
// there is one; it may be called from the goroutine of Recall only.
type Recaller interface {
	Recall(ctx context.Context, inv Invocation, earlier func(call string) (string, bool)) (Output, error)
}

// AskPerson is the error of a tool that needs a person before it can go on: the
// run waits, and the answer becomes the call's result. The tool is not run
// again, so it should not have done anything yet.
type AskPerson struct{ Question string } //nolint:errname // it is a request, and only by its way an error

// Error returns the question.
func (a AskPerson) Error() string { return a.Question }

// Output is what a tool gives back. JSON is any JSON value; nil stands for null.
// Truncated says that the tool itself shortened it to its MaxOutput.
type Output struct {
	JSON      json.RawMessage
	Images    []Image
	Truncated bool
}

// ToolInfo declares a tool. It is data: it goes into the log, its digest guards
// resuming, and the first three fields are shown to the model.
type ToolInfo struct {
	Name        string          `wire:"name"`
	Description string          `wire:"description,omit"`
	Input       json.RawMessage `wire:"input,omit"` // JSON Schema of the arguments, an object; nil: no arguments

	Effect    Effect        `wire:"effect,omit"`     // zero: Write
	Timeout   time.Duration `wire:"timeout,omit"`    // one attempt's deadline; zero: 60 s
	MaxOutput int           `wire:"max_output,omit"` // bytes of result kept; zero: 16 KiB
	MaxCalls  int           `wire:"max_calls,omit"`  // the most calls of it that may run in a run; zero: no limit
	Alone     bool          `wire:"alone,omit"`      // runs while nothing else does; a Write always does
	Exempt    bool          `wire:"exempt,omit"`     // its calls never count as repetition, for polling
	Client    bool          `wire:"client,omit"`     // run by the client, not by us
	OnDoubt   OnDoubt       `wire:"on_doubt,omit"`   // what to do when a Write's outcome is unknown; zero: ask
	Version   string        `wire:"version,omit"`    // raise it when the function behind the same declaration changes; lines such as "part: 3" name what differs
	Agent     string        `wire:"agent,omit"`      // the agent whose runs its calls are, set by the machine; see [Delegate]
	Cage      string        `wire:"cage,omit"`       // what the kernel holds it to, and how; empty: to nothing
	Trust     Trust         `wire:"trust,omit"`      // whose words its results are; zero: Trusted
	// External says that a call starts a process or leaves this one, as a request
	// to a server does: by default fewer such calls are in flight at once.
	External bool `wire:"external,omit"`
	// MaxParallel is how many calls of the tool may be in flight at once in a run;
	// zero: as many as the agent allows. See [Agent.MaxParallel].
	MaxParallel int `wire:"max_parallel,omit"`

	// Foreign says that the name, the description and the schema are the words of
	// somebody who is not trusted, as those of an MCP server are: a run that offers
	// the tool is tainted from its start. A label [Trusted] holds for them, too.
	Foreign bool `wire:"foreign,omit"`
	// Reaches names the arguments that say where a call goes or whom it reaches, and
	// Content those that are prose for a reader, for the data-flow guard.
	Reaches []string `wire:"reaches,omit"`
	Content []string `wire:"content,omit"`
}

// Effect says what repeating a call would do to the world.
type Effect int

// The effects. An undeclared effect is Write, the one that is never repeated.
const (
	Read       Effect = 1 + iota // changes nothing; may be repeated
	Idempotent                   // one effect for one tool and arguments in a run
	Write                        // at most once
)

var effects = names.Make[Effect]("effect", []string{"read", "idempotent", "write"})

// String returns the effect's name.
func (e Effect) String() string                { return effects.String(e) }
func (e Effect) MarshalText() ([]byte, error)  { return effects.Marshal(e) }
func (e *Effect) UnmarshalText(b []byte) error { return effects.Unmarshal(e, b) }

// OnDoubt says what becomes of a Write whose outcome nobody knows.
type OnDoubt int

// The choices.
const (
	DoubtAsk  OnDoubt = 1 + iota // the run waits until somebody settles it
	DoubtFail                    // the run fails
	DoubtTell                    // the model is told that the outcome is unknown
)

var onDoubts = names.Make[OnDoubt]("on_doubt", []string{"ask", "fail", "tell"})

// String returns the choice's name.
func (o OnDoubt) String() string                { return onDoubts.String(o) }
func (o OnDoubt) MarshalText() ([]byte, error)  { return onDoubts.Marshal(o) }
func (o *OnDoubt) UnmarshalText(b []byte) error { return onDoubts.Unmarshal(o, b) }

// Trust says whose words the results of a tool are. Its errors go with them.
type Trust int

// The labels.
const (
	Trusted   Trust = 1 + iota // those of somebody who may tell the agent what to do
	Untrusted                  // anybody's: a page of the web, a mail
)

var trusts = names.Make[Trust]("trust", []string{"trusted", "untrusted"})

// String returns the label's name.
func (t Trust) String() string                { return trusts.String(t) }
func (t Trust) MarshalText() ([]byte, error)  { return trusts.Marshal(t) }
func (t *Trust) UnmarshalText(b []byte) error { return trusts.Unmarshal(t, b) }

const (
	defaultTimeout   = 60 * time.Second
	defaultMaxOutput = 16 << 10
)

// withDefaults fills what a declaration left out, so that the log says what held.
func (i ToolInfo) withDefaults() ToolInfo {
	if i.Effect == 0 {
		i.Effect = Write
	}
	if i.Timeout == 0 {
		i.Timeout = defaultTimeout
	}
	if i.MaxOutput == 0 {
		i.MaxOutput = defaultMaxOutput
	}
	if i.OnDoubt == 0 {
		i.OnDoubt = DoubtAsk
	}
	return i
}
