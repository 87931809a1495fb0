package client

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl"
)

// An Agent is what can be started under its name.
type Agent struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Model       string   `json:"model"`
	Loop        string   `json:"loop"`
	Tools       []string `json:"tools"`
	Input       string   `json:"input"`          // what a run is asked that is given none; empty: it must be given
	Spec        string   `json:"spec,omitempty"` // the SHA-256 of its spec, as pawl has it in JSON; empty: it was made otherwise
}

// Agents are all that can be started.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// Session says whether a browser is logged in.
type Session struct {
	LoggedIn bool `json:"logged_in"`
}

// Limits are ceilings by name: iterations, tokens, time, cost, tool_errors,
// depth. A value is as on the command line: a number, or a text such as "30m"
// or, where a run goes on, "+5" for that many more.
type Limits map[string]json.RawMessage

// StartRun asks for a run of an agent. Exactly one of Agent and Spec is given.
type StartRun struct {
	Agent string `json:"agent,omitempty"`
	// Spec is an agent's spec as JSON, where the server allows them.
	Spec   json.RawMessage   `json:"spec,omitempty"`
	Input  string            `json:"input,omitempty"`
	Limits Limits            `json:"limits,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Thread string            `json:"thread,omitempty"`
	// IdempotencyKey makes asking again harmless: it gives the run there is.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// ResumeRun asks for going on with a run.
type ResumeRun struct {
	Limits Limits `json:"limits,omitempty"`
}

// CancelRun asks a run to end.
type CancelRun struct {
	Reason string `json:"reason,omitempty"`
}

// ForkRun asks for a new run that shares another's log up to entry At.
type ForkRun struct {
	At     uint64            `json:"at"`
	Input  string            `json:"input,omitempty"`
	Limits Limits            `json:"limits,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // beside those of the other run
}

// Approve lets a held call run.
type Approve struct {
	Token string          `json:"token,omitempty"` // of the request; empty: the right to decide is enough
	Args  json.RawMessage `json:"args,omitempty"`  // in place of the call's
	Scope string          `json:"scope,omitempty"` // call, or run for every call of the run with equal arguments
	By    string          `json:"by,omitempty"`
}

// Deny refuses a held call.
type Deny struct {
	Token  string `json:"token,omitempty"`
	Reason string `json:"reason,omitempty"` // for the model
	By     string `json:"by,omitempty"`
}

// Answer answers a question.
type Answer struct {
	Text string `json:"text"`
	By   string `json:"by,omitempty"`
}

// Submit hands in the result of a call that the client runs.
type Submit struct {
	Result json.RawMessage `json:"result"`
	By     string          `json:"by,omitempty"`
}

// Settle settles a doubt. Exactly one of Happened and DidNotHappen is given.
type Settle struct {
	Happened     json.RawMessage `json:"happened,omitempty"` // it took place, with this result
	DidNotHappen bool            `json:"did_not_happen,omitempty"`
	By           string          `json:"by,omitempty"`
}

// A RunLine is a run in a list, as pawl runs --json prints it.
type RunLine struct {
	Run        string            `json:"run"`
	Agent      string            `json:"agent"`
	Status     pawl.Status       `json:"status"`
	CreatedAt  time.Time         `json:"created_at"`
	Iterations int               `json:"iterations"`
	CostUSD    *pawl.Decimal     `json:"cost_usd"`
	Labels     map[string]string `json:"labels"`
}

// Runs is a page of a list, newest first. Next is the cursor of the page that
// follows; empty: this is the last.
type Runs struct {
	Runs []RunLine `json:"runs"`
	Next string    `json:"next"`
}

// Entries is a page of a run's log. Next is the cursor of what follows, also of
// what is still to come; empty: the run has ended and this is all. A cursor of a
// log is the seq of the entry that the page begins with.
type Entries struct {
	Entries []json.RawMessage `json:"entries"`
	Next    string            `json:"next"`
}

// A Problem says why a request was refused, as RFC 9457 has it.
type Problem struct { //nolint:errname // as the standard calls it
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Error is the detail, or else the title.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}
