package pawl

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// A Tool does something for the model.
//
// Info is called once, when the run is prepared, and must always return the
// same. Run is called in a goroutine of its own, possibly at the same time as
// other calls, with arguments that were validated against Info().Input. The
// model reads its error as text and can act on it; an error or a panic of a
// tool never ends the run.
//
// An error with a method Unknown() bool that returns true says of a Write that
// its outcome is unknown. An error with a method NotRun() bool that returns
// true says that the call did nothing, whatever the state of ctx.
//
// When ctx ends, Run must return soon. The run goes on without a call that does
// not return, and the log says so.
type Tool interface {
	Info() ToolInfo
	Run(ctx context.Context, inv Invocation) (Output, error)
}

// A Reconciler is a tool that can find out whether a call took place whose run
// lost its owner while the call ran, or whose outcome is unknown. The engine
// asks it before it applies the tool's [OnDoubt], once for each owner that
// resumes the run. Reconcile first stops or waits for what still runs of the
// call.
//
// If the call took place, happened is true and out is its result; with an error the call failed with that
// error, or timed out if the error is [context.DeadlineExceeded]. If the call did not take place, happened is
// false and err is nil, and the engine runs it again. An error with happened false means that the tool cannot
// know.
//
// A tool whose attempts run in a process that outlives this one, and that records
// their outcomes, may say where with a method Supervised(Invocation) string. The
// engine calls it just before an attempt, writes what it returns to the log before
// the attempt runs, and passes it to Run and Reconcile. Run must then act only in
// such a process, so that Reconcile can rely on the absence of a record.
type Reconciler interface {
	Reconcile(ctx context.Context, inv Invocation) (out Output, happened bool, err error)
}

// An Invocation is one attempt at one call. Key is the idempotency key. It is
// the same for every attempt and, for an [Idempotent] tool, for equal arguments
// within the run, so that the service behind the tool can recognise a repeated
// call.
type Invocation struct {
	Run     string
	Call    string
	Tool    string
	Args    json.RawMessage
	Key     string
	Attempt int // from 1

	Supervised string            // where this attempt is recorded, as the tool said before it; see [Reconciler]
	Answers    map[string]string // what a person answered earlier attempts, by the keys of [AskPerson]
}

// A Recaller is a [Tool] that answers from the results of earlier calls of its
// run. The engine calls Recall instead of Run. earlier returns the result of a
// call as text and its files, in full where the journal kept them, and whether
// there is one; only the goroutine of Recall may call it.
type Recaller interface {
	Recall(ctx context.Context, inv Invocation, earlier func(call string) (string, []File, bool)) (Output, error)
}

// A Waiter is a [Tool] that suspends the run until a time instead of running. Until is pure: it returns
// the request of a call that is made now, with WakeAt, what it waits for as the Question, and the signal
// that it Awaits, if any. Its error refuses the call. An answer to the call ends it before its time, and
// is its result.
type Waiter interface {
	Tool
	Until(args json.RawMessage, now time.Time) (InputRequested, error)
}

// AskPerson is the error of a tool that needs a person before it can go on: the
// run waits, and the answer becomes the call's result. With a Key the tool runs
// again instead, and finds the answer under it in [Invocation.Answers]. Either
// way it should return AskPerson before it does anything.
type AskPerson struct{ Question, Key string } //nolint:errname // it is a request, and only by its way an error

// Error returns the question.
func (a AskPerson) Error() string { return a.Question }

// Output is what a tool returns. JSON is any JSON value; nil stands for null.
// Truncated says that the tool itself shortened it to its MaxOutput. Of a file in Files the tool
// sets Data (Bytes if it leaves it out), and Name and Type where it knows them: pictures stand in
// the result that the model reads, other files follow it, and the run keeps all of them.
type Output struct {
	JSON      json.RawMessage
	Files     []File
	Truncated bool
	Untrusted bool // it is from an untrusted party, whatever the label of the tool
}

// ToolInfo declares a tool. It is data: it goes into the log, its digest guards
// resuming, and the first three fields are shown to the model.
type ToolInfo struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Input       json.RawMessage `json:"input,omitzero"` // JSON Schema of the arguments, an object; nil: no arguments

	Effect    Effect        `json:"effect,omitzero"`     // zero: Write
	Timeout   time.Duration `json:"timeout,omitzero"`    // one attempt's deadline; zero: 60 s
	MaxOutput int           `json:"max_output,omitzero"` // bytes of result kept; zero: 16 KiB
	MaxCalls  int           `json:"max_calls,omitzero"`  // the most calls of it that may run in a run; zero: no limit
	Alone     bool          `json:"alone,omitzero"`      // runs while nothing else does; a Write always does
	Exempt    bool          `json:"exempt,omitzero"`     // its calls never count as repetition, for polling
	Client    bool          `json:"client,omitzero"`     // run by the client, not by us
	Hosted    Usage         `json:"hosted,omitzero"`     // not zero: run by the model's provider, MaxCalls times in a reply, which adds this at most; see [HostedCall]
	OnDoubt   OnDoubt       `json:"on_doubt,omitzero"`   // what to do when a Write's outcome is unknown; zero: ask
	Version   string        `json:"version,omitzero"`    // change it when the function behind the same declaration changes; lines such as "part: 3" name what differs
	Agent     string        `json:"agent,omitzero"`      // the agent whose runs its calls are, set by the machine; see [Delegate]
	Deferred  bool          `json:"deferred,omitzero"`   // the model looks for it first, set by the machine; see [Agent.Core]
	Cage      string        `json:"cage,omitzero"`       // how the operating system confines it; empty: not at all
	Trust     Trust         `json:"trust,omitzero"`      // who writes its results; zero: Trusted
	// External says that a call starts a process or leaves this one, as a request
	// to a server does: by default fewer such calls are in flight at once.
	External bool `json:"external,omitzero"`
	// MaxParallel is how many calls of the tool may be in flight at once in a run;
	// zero: as many as the agent allows. See [Agent.MaxParallel].
	MaxParallel int `json:"max_parallel,omitzero"`
	// Weight, of an agent, is how many of the equal shares of the limits a call gets; zero: 1.
	Weight int `json:"weight,omitzero"`
	// Follows names a tool that is an agent, such as this one: a call's run goes on with the
	// conversation of the latest run of that tool. Empty: it begins a conversation, or
	// goes on with that of its caller if Carry says so. Carry is what it sees of it: all,
	// summary or last; empty: all that Follows says.
	Follows string `json:"follows,omitzero"`
	Carry   string `json:"carry,omitzero"`

	// Foreign says that an untrusted party, such as an MCP server, wrote the name,
	// the description and the schema: a run that offers the tool is tainted from its
	// start. The label [Trusted] overrides it.
	Foreign bool `json:"foreign,omitzero"`
	// For the data-flow guard, Reaches names the arguments that say where a call
	// goes or whom it reaches, and Content the arguments that are text for a reader.
	Reaches []string `json:"reaches,omitzero"`
	Content []string `json:"content,omitzero"`
}

// Effect says what repeating a call would do to the world.
type Effect int

// The effects. An undeclared effect is Write, the one that is never repeated.
const (
	Read       Effect = 1 + iota // changes nothing; may be repeated
	Idempotent                   // one effect for one tool and arguments in a run
	Write                        // at most once
)

var effects = naming.NewEnum[Effect]("effect", []string{"read", "idempotent", "write"})

// String returns the effect's name.
func (e Effect) String() string                { return effects.String(e) }
func (e Effect) MarshalText() ([]byte, error)  { return effects.Marshal(e) }
func (e *Effect) UnmarshalText(b []byte) error { return effects.Unmarshal(e, b) }

// OnDoubt says what happens to a Write whose outcome is unknown.
type OnDoubt int

// The choices.
const (
	DoubtAsk  OnDoubt = 1 + iota // the run waits until a person resolves it
	DoubtFail                    // the run fails
	DoubtTell                    // the model reads that the outcome is unknown
)

var onDoubts = naming.NewEnum[OnDoubt]("on_doubt", []string{"ask", "fail", "tell"})

// String returns the choice's name.
func (o OnDoubt) String() string                { return onDoubts.String(o) }
func (o OnDoubt) MarshalText() ([]byte, error)  { return onDoubts.Marshal(o) }
func (o *OnDoubt) UnmarshalText(b []byte) error { return onDoubts.Unmarshal(o, b) }

// Trust says who writes the results of a tool, its errors included.
type Trust int

// The labels.
const (
	Trusted   Trust = 1 + iota // a party that may instruct the agent
	Untrusted                  // anyone, as with a web page or an e-mail
)

var trusts = naming.NewEnum[Trust]("trust", []string{"trusted", "untrusted"})

// String returns the label's name.
func (t Trust) String() string                { return trusts.String(t) }
func (t Trust) MarshalText() ([]byte, error)  { return trusts.Marshal(t) }
func (t *Trust) UnmarshalText(b []byte) error { return trusts.Unmarshal(t, b) }

// withDefaults fills in the fields that a declaration left out, so that the log
// says which values applied.
func (i ToolInfo) withDefaults() ToolInfo {
	i.Effect, i.OnDoubt = cmp.Or(i.Effect, Write), cmp.Or(i.OnDoubt, DoubtAsk)
	i.Timeout, i.MaxOutput = cmp.Or(i.Timeout, time.Minute), cmp.Or(i.MaxOutput, display.DefaultLimit)
	return i
}
