package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/naming"
)

// A Model turns a conversation into the next reply.
//
// The engine calls Stream once for each attempt, from one goroutine, and ranges over the sequence once. Every
// [Chunk] but the last is something to show while the reply is made; the last one, and only it, carries the
// whole Reply. A sequence that ends without a Reply is an incomplete stream and counts as a failed attempt,
// whatever it streamed before. An error ends the sequence; a [*ModelError] says of which class it is, any
// other error is of class [ClassUnknown]. A reply without text and calls is an error of [ClassEmpty]. A Model
// does not retry: the machine does, in the log. When ctx ends, the sequence must end soon; one that does not
// is abandoned. The request is shared and must not be changed or kept. Stream may be called for many runs at
// once.
type Model interface {
	Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error]
}

// A Describer is a [Model] that describes itself. Any other model is called
// "func" and has no price.
type Describer interface {
	Describe() ModelInfo
}

// ModelInfo is what a run records of its model.
type ModelInfo struct {
	Name     string `json:"model"`             // provider/name, as in anthropic/claude-sonnet-5-5
	Endpoint string `json:"endpoint,omitzero"` // where requests go; empty: they stay in this process
	Price    *Price `json:"price,omitzero"`    // nil: unknown; a run with a dollar limit needs one
	Wire     Wire   `json:"wire,omitzero"`     // what its requests have in addition to their texts

	PriceFrom string `json:"price_from,omitzero"` // where the price comes from: "table", "list" (a known name at another host), "spec" or "unknown" (it costs nothing here, and an unknown amount elsewhere); empty: it has none
	Reply     int    `json:"reply,omitzero"`      // the most tokens of a reply, thinking included; 0: unknown
	Effort    string `json:"effort,omitzero"`     // what it thinks with where no effort is asked for; empty: it does not think then
	Bound     bool   `json:"bound,omitzero"`      // it takes its thinking back only behind the prompt, tools and messages that it saw when it thought
}

// Wire is an upper bound of what a model's requests contain in addition to their texts, so that
// the limits hold from the first request on. The zero Wire is unknown: requests are then
// estimated by their texts alone.
type Wire struct {
	Frame   int `json:"frame,omitzero"`         // bytes around all
	Message int `json:"message,omitzero"`       // bytes around a message, a call or a result
	Tool    int `json:"tool,omitzero"`          // bytes around a tool or an output schema
	Prompt  int `json:"prompt_tokens,omitzero"` // tokens that the provider bills for offering tools, in addition to the tools
}

// A Request is what one attempt sends. Messages is materialised from the log;
// every call in it is paired with its result.
type Request struct {
	Run     string
	Purpose Purpose
	Attempt int
	Turn    int    // of the run, from 1: the iteration it belongs to
	Step    string // the label of the loop's step that it is; empty: it is none

	System   string
	Messages []Message
	Marks    []int // for the cache: the numbers of leading messages that other requests probably have too, ascending, at most two
	Tools    []ToolInfo
	// ToolChoice says what the reply must do with Tools: "required" (call one), "none" (call none,
	// though the earlier messages and the cache need them), or the name of the tool to call. Empty:
	// as the model likes. A model that cannot be forced is asked without it; the run checks the reply.
	ToolChoice string
	Output     json.RawMessage // JSON Schema the reply's text should follow; nil: free text
	MaxTokens  int             // the most the reply may spend, thinking included
	Sampling   Sampling
	Long       bool // the provider is to keep what it caches for the longer of its lifetimes; see [Price]
}

// Sampling are the knobs of a model. The zero value leaves all to the provider.
type Sampling struct {
	Temperature float64                    `json:"temperature,omitzero" zero:"-1" such:"0.2" usual:"the provider's" about:"randomness of replies"` // negative: exactly zero
	MaxTokens   int                        `json:"max_tokens,omitzero" such:"16384" usual:"what the model and the limits allow" about:"most tokens of one reply, including thinking"`
	Effort      string                     `json:"effort,omitzero" enum:"none,minimal,low,medium,high,xhigh,max" usual:"the provider's" about:"amount of thinking; a model without this level gets the nearest one"`
	Options     map[string]json.RawMessage `json:"options,omitzero" key:"-"` // further provider options, by the provider's own names
	ToolChoice  string                     `json:"tool_choice,omitzero" usual:"as the model likes" about:"of the first turn: 'required' (call a tool), 'none', or the name of the tool to call; a reply that does not is rejected"`
	Cache       string                     `json:"cache,omitzero" enum:"auto,5m,1h,off" usual:"auto" about:"how long the provider keeps requests in its [cache](context.md#how-long-the-provider-keeps-it); 'auto' takes the cheapest"`
}

// A Chunk is a piece of a reply that is being streamed. Text and Thinking are increments; Call
// is the name of a tool whose call has just begun. Reply is set on the last
// chunk only. An empty chunk says that the provider is still working: a stream without chunks
// times out.
type Chunk struct {
	Text     string
	Thinking string
	Call     string
	Reply    *Reply
}

// A Reply is a model's whole answer to one request, its parts in the order they
// came: [Text], [Citation], [Thinking] and [Call].
type Reply struct {
	Parts    []Part
	Stop     StopReason `json:",omitzero"` // zero: StopEnd, or StopCalls when there are calls
	Filter   string     // the provider's word for the filter that stopped the reply, such as RECITATION; empty: none did
	Usage    Usage      // zero: not reported, so the engine books its estimate
	Repaired bool       // bytes of it were not UTF-8 and are U+FFFD now; a call whose arguments have that does not run
	Hosted   []HostedCall
	Notes    []string // what the adapter changed in the request so that the model takes it, such as "temperature was left out: the server refuses it"; the run records each text once
}

// A HostedCall is a call of a [ToolInfo.Hosted] tool, which the provider ran while it made the
// reply, so that it could not be held or refused. What has to be sent back to the provider is
// in Parts.
type HostedCall struct {
	Call
	Result json.RawMessage `json:"result,omitzero"`
	Error  string          `json:"error,omitzero"` // why there is no result
}

// Say makes the simplest reply: some text, which ends the turn.
func Say(text string) Reply { return Reply{Parts: []Part{Text{text}}} }

// Do makes a reply that calls tools.
func Do(calls ...Call) Reply {
	parts := make([]Part, len(calls))
	for i, c := range calls {
		parts[i] = c
	}
	return Reply{Parts: parts}
}

// Text returns the reply's text.
func (r Reply) Text() string { return joinText(r.Parts, "") }

// ModelFunc makes a model of a function that returns the whole reply at once.
type ModelFunc func(context.Context, Request) (Reply, error)

// Stream calls f and yields its reply as the only chunk.
func (f ModelFunc) Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		reply, err := f(ctx, r)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		yield(Chunk{Reply: &reply}, nil)
	}
}

// Usage is what one reply cost in tokens. Input counts all input, cached or
// not; CacheRead and CacheWrite are parts of it, and CacheLong is the part of
// CacheWrite that the provider keeps for long. Reasoning is part of Output.
// Searches and Sessions are the uses of hosted tools that have a price of their own.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens,omitzero"`
	CacheWrite int `json:"cache_write_tokens,omitzero"`
	Reasoning  int `json:"reasoning_tokens,omitzero"`
	CacheLong  int `json:"cache_long_tokens,omitzero"`
	Searches   int `json:"web_searches,omitzero"`
	Sessions   int `json:"code_sessions,omitzero"`
}

// Total is the tokens a token limit counts.
func (u Usage) Total() int { return u.Input + u.Output }

// Add sums two usages.
func (u Usage) Add(v Usage) Usage { return Usage(meter.Use(u).Plus(meter.Use(v), 1)) }

// Purpose says what a model call is for. A loop may use a tag of its own: each reply under it
// counts as an iteration.
type Purpose string

// The purposes the machine knows.
const (
	PurposeTurn    Purpose = "turn"    // a turn of the conversation
	PurposeJudge   Purpose = "judge"   // judges the run, as any purpose that begins with "judge." does; see [State.Missed]
	PurposeSummary Purpose = "summary" // shortens the conversation
	PurposeFinal   Purpose = "landing" // the final answer, without tools, of a run that reached a limit
)

// judges reports whether the call is one the run can go on without, a summary included.
func (p Purpose) judges() bool {
	return p == PurposeJudge || p == PurposeSummary || strings.HasPrefix(string(p), string(PurposeJudge)+".")
}

// own reports whether a loop made up the purpose.
func (p Purpose) own() bool { return p != PurposeTurn && p != PurposeFinal && !p.judges() }

// StopReason is why a model stopped writing.
type StopReason int

// The stop reasons. A reply cut off at its token limit runs none of its calls.
const (
	StopEnd     StopReason = 1 + iota // the turn is over
	StopCalls                         // it wants tools run
	StopLength                        // it met MaxTokens
	StopRefusal                       // it will not answer
	StopPause                         // the provider wants the turn sent again to go on
)

var stopReasons = naming.NewEnum[StopReason]("stop reason", []string{"end", "calls", "length", "refusal", "pause"})

// String returns the reason's name in the log.
func (r StopReason) String() string                { return stopReasons.String(r) }
func (r StopReason) MarshalText() ([]byte, error)  { return stopReasons.Marshal(r) }
func (r *StopReason) UnmarshalText(b []byte) error { return stopReasons.Unmarshal(r, b) }

// Class classifies the failures of a model call by what helps.
type Class int

// The classes. The first six are transient: another attempt may succeed.
const (
	ClassRateLimit  Class = 1 + iota // too many requests; RetryAfter may say when
	ClassOverloaded                  // the provider is busy or broken (5xx, 529)
	ClassNetwork                     // connection refused, reset, timed out
	ClassEmpty                       // a reply with neither text nor calls
	ClassTruncated                   // the stream broke off before its end
	ClassUnknown                     // any other error; tried again like the above
	ClassQuota                       // credit or quota used up
	ClassAuth                        // key missing or refused
	ClassInvalid                     // the provider calls the request invalid
	ClassNotFound                    // no such model or endpoint
	ClassRefused                     // the provider refused the content
	ClassTooLong                     // the request exceeds the context window
	ClassCancelled                   // the call was cut short by us: cancel, pause or shutdown
	ClassLost                        // the process died while the call was in flight
	ClassPanic                       // the model's Go code panicked
	ClassCut                         // the reply met its limit; asked again with a higher one
)

var classes = naming.NewEnum[Class]("class", []string{
	"rate_limit", "overloaded", "network", "empty", "truncated", "unknown", "quota", "auth",
	"invalid", "not_found", "refused", "too_long", "cancelled", "lost", "panic", "cut",
})

// String returns the class's name in the log.
func (c Class) String() string                { return classes.String(c) }
func (c Class) MarshalText() ([]byte, error)  { return classes.Marshal(c) }
func (c *Class) UnmarshalText(b []byte) error { return classes.Unmarshal(c, b) }

// Transient reports whether the same request may succeed when sent again.
func (c Class) Transient() bool { return c >= ClassRateLimit && c <= ClassUnknown }

// Elsewhere reports whether another model may succeed where this one failed, so that the run
// asks its next fallback without another attempt at this one.
func (c Class) Elsewhere() bool {
	return c == ClassQuota || c == ClassAuth || c == ClassNotFound || c == ClassRefused
}

// A ModelError is a failed model call. Adapters return it, so that the machine
// can tell what another attempt would help. Usage is what the attempt is known
// to have cost.
type ModelError struct {
	Class      Class
	Message    string
	RetryAfter time.Duration // the provider's wish; zero: none
	Usage      Usage
	Billed     bool  // the provider said that Usage is all it bills, zero included
	Err        error // the cause, if any
}

// Error names the class and says what happened.
func (e *ModelError) Error() string {
	if e.Message == "" && e.Err != nil {
		return fmt.Sprintf("model: %v: %v", e.Class, e.Err)
	}
	return fmt.Sprintf("model: %v: %s", e.Class, e.Message)
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// asModelError turns any error into a ModelError.
func asModelError(err error) *ModelError {
	var me *ModelError
	switch {
	case errors.As(err, &me):
		return me
	case errors.Is(err, context.DeadlineExceeded):
		return &ModelError{Class: ClassNetwork, Message: "no answer before the deadline", Err: err}
	case errors.Is(err, context.Canceled):
		return &ModelError{Class: ClassCancelled, Message: "cut short", Err: err}
	}
	return &ModelError{Class: ClassUnknown, Message: err.Error(), Err: err}
}

// A Decimal is a number that prints, also as JSON, without an exponent and with at most nine
// digits after the point.
type Decimal = meter.Decimal

func (i *ModelInfo) priced() bool { return i.Price != nil && i.PriceFrom != "unknown" }

// Price is what a model costs, in dollars per million tokens. A zero CacheRead
// or CacheWrite is charged as Input, so that an incomplete row overstates
// rather than understates.
type Price struct {
	Input      float64 `json:"input" such:"1.0" about:"input"`
	Output     float64 `json:"output" such:"4.0" about:"output"`
	CacheRead  float64 `json:"cache_read,omitzero" usual:"as input" about:"input from the provider's cache"`
	CacheWrite float64 `json:"cache_write,omitzero" usual:"as input" about:"input written to the cache"`
	CacheLong  float64 `json:"cache_long,omitzero" usual:"nothing is kept" about:"input written to the cache for an hour"`
	Long       Tier    `json:"long,omitzero" usual:"no other prices" about:"prices of requests with long input"`
	Search     float64 `json:"web_search,omitzero" usual:"unknown" about:"dollars per [search by the provider](tools.md#hosted-tools)"`
	Session    float64 `json:"code_session,omitzero" usual:"nothing" about:"dollars per session in which the [provider runs code](tools.md#hosted-tools)"`
}

// Tier is what a request costs, all of it, whose input has more than From
// tokens, cached or not. Its other fields, Input to CacheLong, read as those of [Price] do.
type Tier = meter.Tier

// Cost returns the dollars of one request that used u. The usage must not be the sum of several
// requests, because a tier depends on the length of each.
func (p Price) Cost(u Usage) float64 { return meter.Rates(p).Cost(meter.Use(u)) }

// Efforts are the values of [Sampling.Effort], ascending. A model that does not take one gets the
// nearest that it takes.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
