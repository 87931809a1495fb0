package pawl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// A Result is the outcome of a run so far, as the command line and the server print it. Its
// JSON always has every key, except legs and the uses of hosted tools.
type Result struct {
	Run       string            `json:"run"`
	Agent     string            `json:"agent"`
	Labels    map[string]string `json:"labels"`
	Thread    *string           `json:"thread"`
	Legs      []string          `json:"legs,omitempty"` // of the conversation, oldest first: the last has it now; nil: no agent handed over
	Status    Status            `json:"status"`
	Answer    string            `json:"answer"`
	Output    json.RawMessage   `json:"output"`
	Citations []Source          `json:"citations"` // what the answer cites, in its order
	Reason    struct {          // the condition that ended the run
		Condition string `json:"condition"`
		Leaf      string `json:"leaf"`
		Detail    string `json:"detail"`
	} `json:"reason"`
	Iterations int       `json:"iterations"`
	Steps      []Summary `json:"steps"`
	ToolCalls  int       `json:"tool_calls"`
	Confidence *float64  `json:"confidence"`
	Usage      struct {  // what model calls have used
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
		Searches   int `json:"web_searches,omitempty"`
		Sessions   int `json:"code_sessions,omitempty"`
		ModelCalls int `json:"model_calls"`
	} `json:"usage"`
	CostUSD   *Decimal  `json:"cost_usd"`
	Price     *string   `json:"price"` // where the price is from: table, list (of the model's own provider, though it runs elsewhere) or spec; nil: there is none
	ElapsedMS int64     `json:"elapsed_ms"`
	Resumable bool      `json:"resumable"`
	Action    string    `json:"recommended_action"` // a command, where pawl prints the result; else words that hold wherever the run is driven
	Pending   []Pending `json:"pending"`
	Verdict   Verdict   `json:"-"` // Reason and Status together, for Go
}

// Err returns nil if the run succeeded. Otherwise the error gives the status, the
// reason and what to do, and errors.As gets the [Verdict] from it.
func (r Result) Err() error {
	if r.Status == StatusSuccess {
		return nil
	}
	if r.Status == 0 {
		return errors.New("there is no run: the result is empty")
	}
	return fmt.Errorf("run %s: %w; %s", r.Run, Verdict{true, r.Status, r.Reason.Condition, r.Reason.Leaf, r.Reason.Detail, r.Verdict.Explicit}, r.Action)
}

// Summary is one turn of a run with its calls. The Status of a call is ok, error,
// timeout, cancelled, unknown, reused, refused or not_run once it is answered, and
// its phase before.
type Summary struct {
	Iteration int       `json:"iteration"`
	Thought   string    `json:"thought"`
	Calls     []outcome `json:"calls"`
}

// Source is what an answer cites.
type Source struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Quote string `json:"quote"` // the cited passage
}

// String names the source by its title and address, or else by the passage.
func (s Source) String() string {
	if s.Title != "" && s.URL != "" {
		return s.Title + ": " + s.URL
	}
	return cmp.Or(s.Title, s.URL, s.Quote)
}

type outcome = struct {
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Status string `json:"status"`
}

// Pending is something a run waits for.
type Pending struct {
	Run        string          `json:"run"`
	Kind       string          `json:"kind"` // approval, input, client_tool or doubt
	Call       string          `json:"call"`
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Reason     string          `json:"reason"`
	Token      string          `json:"token"`
	ExpiresAt  *time.Time      `json:"expires_at"`
	AnsweredAt *time.Time      `json:"answered_at,omitempty"` // by a signal that the run has not read; nil: it has none
	AnsweredBy string          `json:"answered_by,omitempty"`
	Awaits     string          `json:"awaits,omitempty"` // the name of the signal that ends the wait; see [Waiter]
}

// Result is what the run has come to so far. It costs O(entries).
func (s *State) Result() Result {
	v := s.Verdict()
	r := Result{
		Run: s.run, Agent: s.declared().Agent, Status: s.Status(), Answer: s.Answer(), Verdict: v,
		Citations: s.cited(), Iterations: s.iterations(), Steps: []Summary{}, ToolCalls: s.ToolCalls(),
		ElapsedMS: s.elapsed.Milliseconds(), Resumable: s.Status().Resumable() && s.impeded() == "", Pending: s.pendings(), Labels: map[string]string{},
	}
	r.Reason.Condition, r.Reason.Leaf, r.Reason.Detail = v.Condition, v.Leaf, v.Detail
	r.Usage.Input, r.Usage.Output, r.Usage.ModelCalls = s.usage.Input, s.usage.Output, s.modelCalls
	r.Usage.CacheRead, r.Usage.CacheWrite, r.Usage.Searches, r.Usage.Sessions = s.usage.CacheRead, s.usage.CacheWrite, s.usage.Searches, s.usage.Sessions
	maps.Copy(r.Labels, s.first().Labels)
	if thread := &s.first().Thread; *thread != "" {
		r.Thread = thread
	}
	if c := s.first().Continues; c != nil && len(c.Legs) > 0 {
		r.Legs = append(slices.Clone(c.Legs), s.run)
	}
	if s.priced {
		cost, _ := s.Cost() // of its own: the result is kept when the state is not
		r.CostUSD = new(Decimal(cost))
		r.Price = new(cmp.Or(s.declared().ModelInfo.PriceFrom, "spec"))
	}
	if confidence, said := s.Confidence(); said {
		r.Confidence = &confidence
	}
	if s.paused != nil && s.Status() == s.paused.Status {
		r.Reason.Detail = s.paused.Reason
	}
	r.Action, r.Output = s.advise(r.Pending), s.output(r.Answer)
	if s.declared().Loop != (SingleCall{}).Name() {
		r.Steps = s.summaries()
	}
	return r
}

// summaries are the turns with their calls.
func (s *State) summaries() []Summary {
	steps := make([]Summary, 0, len(s.turns))
	if c := s.call(callID(1)); c != nil && c.Iteration == 0 { // the loop's, before any turn
		steps = append(steps, Summary{Calls: []outcome{}})
	}
	for t := range s.Turns() {
		steps = append(steps, Summary{Iteration: t.Iteration, Thought: t.said(s.declared().Strategy), Calls: []outcome{}})
	}
	if n := len(s.turns); s.end().Withheld && n > 0 && s.turns[n-1].Answer { // whose thought is the answer
		steps[len(steps)-1].Thought = ""
	}
	i := 0
	outcomes := make([]outcome, 0, len(s.calls)+len(s.open)) // those of a turn stand together
	for _, list := range [...][]*call{s.calls, s.open} {
		for _, c := range list {
			for i < len(steps)-1 && steps[i].Iteration < c.Iteration {
				i++
			}
			if i < len(steps) && steps[i].Iteration == c.Iteration {
				outcomes = append(outcomes, outcome{c.ID, c.Tool, c.outcome()})
				n := len(outcomes)
				steps[i].Calls = outcomes[n-1-len(steps[i].Calls) : n : n]
			}
		}
	}
	return steps
}

// cited lists what the answer cites, each source and passage once.
func (s *State) cited() []Source {
	sources, reply := []Source{}, s.replied.Reply
	switch {
	case s.end().Withheld, s.end().Answer != "" && s.end().Answer != s.LastText(): // composed by the loop
		return sources
	case s.end().Answer == "" && s.complete == nil && !s.Done():
		reply = s.repliedFor(PurposeFinal).Reply
	}
	for _, p := range reply.Parts {
		if c, ok := p.(Citation); ok && !slices.Contains(sources, Source{c.Title, c.URL, c.Quote}) {
			sources = append(sources, Source{c.Title, c.URL, c.Quote})
		}
	}
	return sources
}

// output is the structured answer: the value that follows the declared schema, or what the model
// handed in where none is declared.
func (s *State) output(answer string) json.RawMessage {
	var given json.RawMessage
	for _, done := range [...]*wire.Completion{s.final.completion(), s.complete} {
		if !s.end().Withheld && done != nil && done.Given != nil && done.Answer == answer {
			given = done.Given
		}
	}
	schema := s.declared().Output
	text := given == nil || given[0] == '"'
	if given == nil && answer == "" || schema == nil && text {
		return nil
	}
	value, why := jsonschema.Settle(schema, answer, given)
	if why != nil {
		return nil
	}
	return value
}

func (c *call) outcome() string {
	switch {
	case c.Phase == PhaseUndecided && c.Error != "": // denied, which ended the run
		return "refused"
	case c.Phase != PhaseAnswered:
		return c.Phase.String()
	case c.Of != "":
		return "reused"
	case c.NotRun:
		return "not_run"
	case !c.Ran && c.Status == ToolFailed:
		return "refused"
	}
	return c.Status.String()
}

func (s *State) pendings() []Pending {
	list := []Pending{}
	for _, c := range s.open {
		p := Pending{Run: s.run, Kind: waiting[c.Phase].kind, Call: c.ID, Tool: c.Tool, Args: c.args(), Reason: c.Reason, Awaits: c.Awaits}
		if p.Kind == "" || s.Status() == StatusDenied && c.Phase != PhaseInDoubt { // what it would ask for once it is resumed
			continue
		}
		if c.Phase == PhaseInDoubt && !c.Started.IsZero() { // what a person needs to look for it elsewhere
			p.Reason += fmt.Sprintf(" (attempt %d, begun at %s, key %s)", c.Attempt, c.Started.UTC().Format(time.RFC3339), c.Key)
		}
		list = append(list, p.until(c.Expires))
	}
	if q := s.question; q != nil {
		list = append(list, Pending{Run: s.run, Kind: "input", Call: q.Call, Args: json.RawMessage("{}"), Reason: q.Question}.until(q.Expires))
	}
	return list
}

func (p Pending) until(at time.Time) Pending {
	if !at.IsZero() {
		p.ExpiresAt = &at
	}
	return p
}

// advise says what can be done about a run that stands where this one does and waits
// for that. Commands are a matter of package explain.
func (s *State) advise(waits []Pending) string {
	if why := s.impeded(); why != "" && s.Status() != StatusSuccess {
		return why
	}
	first := ""
	if len(waits) > 0 {
		first = waits[0].Call
	}
	for _, c := range s.open {
		if c.Phase == PhaseAwaitingChild && first == "" {
			first = "what run " + c.Child + " waits for"
		}
	}
	return display.Advice(s.Status().String(), s.Verdict().Leaf, first)
}

// Head is the small view of the state that a journal keeps for lists.
func (s *State) Head() Head {
	d := s.declared()
	h := Head{
		Run: s.run, Agent: d.Agent, Loop: d.Loop, Status: s.Status(), Seq: s.seq, Iterations: s.iterations(),
		Cost: meter.Dollars(s.cost), Priced: s.priced, Created: s.created, Updated: s.time, WakeAt: s.WakeAt(), Origin: s.lease.Owner,
		Labels: maps.Clone(s.first().Labels), Thread: s.first().Thread, Parent: s.first().Parent,
	}
	if h.Status != StatusPaused && !h.Status.Waiting() {
		h.WakeAt = time.Time{}
	}
	return h
}

// Status is where a run stands or how it ended.
type Status int

// The statuses. From Success to Paused a run does not run; of these, only Success
// cannot be resumed.
const (
	StatusSuccess Status = 1 + iota
	StatusExhausted
	StatusNoProgress
	StatusWaitingApproval
	StatusWaitingInput
	StatusWaitingClientTool
	StatusWaitingDoubt
	StatusExpired
	StatusDenied
	StatusPlanFailed
	StatusFailed
	StatusCancelled
	StatusPaused
	StatusInterrupted // derived: running, but its owner is gone
	StatusRunning
	StatusQueued
)

var statuses = naming.NewEnum[Status]("status", []string{
	"success", "exhausted", "no_progress", "waiting_approval", "waiting_input", "waiting_client_tool", "waiting_doubt",
	"expired", "denied", "plan_failed", "failed", "cancelled", "paused", "interrupted", "running", "queued",
})

// String returns the status's name, as in the result and the log. The zero Status is of no run.
func (s Status) String() string {
	if s == 0 {
		return "no run"
	}
	return statuses.String(s)
}

func (s Status) MarshalText() ([]byte, error)  { return statuses.Marshal(s) }
func (s *Status) UnmarshalText(b []byte) error { return statuses.Unmarshal(s, b) }

// Waiting reports whether the run is suspended until someone outside answers.
func (s Status) Waiting() bool { return s >= StatusWaitingApproval && s <= StatusExpired }

// Ended reports whether the run is over: it neither runs nor waits for an
// answer.
func (s Status) Ended() bool { return s > 0 && s < StatusPaused && !s.Waiting() }

// Resumable reports whether resuming can go on from here.
func (s Status) Resumable() bool { return s != 0 && s < StatusRunning && s != StatusSuccess }

// A Verdict says whether a condition holds, what that makes of the run, and
// which part of the condition decided. The zero Verdict does not hold.
type Verdict struct { //nolint:errname // it is the end of a run first, and an error where a caller wants one
	Holds     bool
	Status    Status // zero: it holds but has no outcome of its own
	Condition string // the satisfied branch of the outermost ||, as source
	Leaf      string // the leaf that decided, as source
	Detail    string // for people, such as "20 of 20 iterations are used"

	// Explicit says that the condition names the outcome, as failed(…) does. A
	// complete answer goes before an end that is neither explicit nor a success.
	Explicit bool
}

// verdict is one that a single leaf decided.
func verdict(status Status, leaf, detail string) Verdict {
	return Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf, Detail: detail}
}

// String reads like "success: tool_called("submit_po") && confidence >= 0.9".
func (v Verdict) String() string {
	switch {
	case v.Status == 0 && !v.Holds:
		return "undecided"
	case v.Status == StatusCancelled && strings.HasPrefix(v.Detail, "cancelled"):
		return v.Detail
	case v.Status >= StatusDenied && v.Status <= StatusCancelled && v.Detail != "":
		return v.Status.String() + ": " + v.Detail // the condition is only the kind of the end
	case v.Condition+v.Detail != "":
		return fmt.Sprintf("%v: %s", v.Status, cmp.Or(v.Condition, v.Detail))
	}
	return v.Status.String()
}

// Error is String: the verdict is what [Result.Err] wraps.
func (v Verdict) Error() string { return v.String() }

// A Condition decides whether a run should end. Eval is pure: no clock, no
// randomness, no I/O, and the same State always gives the same Verdict. The
// machine calls it before every step, so it must be cheap. The State belongs to
// the caller, as in [Loop]. String returns source that stop.Parse reads back.
type Condition interface {
	Eval(*State) Verdict
	String() string
}
