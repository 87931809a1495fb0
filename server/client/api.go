package client

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/runs"
)

// An Agent is an agent that can be started by name.
type Agent struct {
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description"`
	Model       string   `json:"model"`
	Loop        string   `json:"loop"`
	Tools       []string `json:"tools"`
	Team        []string `json:"team,omitempty"` // the agents that may get the conversation from it
	Input       string   `json:"input"`          // the default input; empty: an input is required
	Spec        string   `json:"spec,omitempty"` // the SHA-256 of its spec as JSON; empty: it has no spec
}

// Agents are all agents that can be started.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// Session says whether a browser is logged in, and the name of its token.
type Session struct {
	LoggedIn bool   `json:"logged_in"`
	Name     string `json:"name,omitempty"` // empty: the token has none, and a decision should say who decides
}

// Limits are limits by the names of pawl.Limits in JSON. Values are as on the command line: a number, a text such as "30m" or, for a resumed run, "+5"
// for that many more.
type Limits map[string]json.RawMessage

// StartRun starts a run. Exactly one of Agent and Spec must be set.
type StartRun struct {
	// Agent is the name of an agent, whose newest version runs, or NAME@VERSION.
	Agent string `json:"agent,omitempty"`
	// Spec is an agent's spec as JSON, or a string that is YAML, if the server allows specs.
	Spec   json.RawMessage   `json:"spec,omitempty"`
	Input  string            `json:"input,omitempty"`
	Limits Limits            `json:"limits,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Thread string            `json:"thread,omitempty"`
	// IdempotencyKey: reuse returns the existing run.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Queue leaves the run, as queued, to a worker or server of its agent. Labels tenant
	// and priority say when it is taken.
	Queue bool `json:"queue,omitempty"`
	// Files are attached to the input. The request is then a form of the type
	// multipart/form-data: run has everything else as JSON, and each file is a file.
	Files []pawl.File `json:"-"`
}

// ResumeRun resumes a run.
type ResumeRun struct {
	Limits Limits `json:"limits,omitempty"`
}

// SayRun is a message to a run. The model reads it before its next call or, with After, when
// it would be done.
type SayRun struct {
	Text  string `json:"text"`
	After bool   `json:"after,omitempty"`
	By    string `json:"by,omitempty"`
}

// CancelRun cancels a run.
type CancelRun struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// CancelCall ends one call of a run.
type CancelCall struct {
	Reason string `json:"reason,omitempty"` // for the model
	By     string `json:"by,omitempty"`
}

// ForkRun starts a run that shares another's log up to entry At.
type ForkRun struct {
	At     uint64            `json:"at"`
	Input  string            `json:"input,omitempty"`
	Limits Limits            `json:"limits,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // in addition to those of the other run
	Prompt string            `json:"prompt,omitempty"` // replaces the agent's
	Model  string            `json:"model,omitempty"`  // replaces the agent's: that of another agent, or PROVIDER/NAME
	By     string            `json:"by,omitempty"`
}

// Decisions is a page of decisions, newest first. It has those of the newest runs; Next is
// the cursor of the page with those of older runs, and empty if there are none.
type Decisions struct {
	Decisions []runs.Decision `json:"decisions"`
	Next      string          `json:"next"`
}

// Approve approves a call that waits for approval.
type Approve struct {
	Token string          `json:"token,omitempty"` // of the request; empty: the scope decide is enough
	Args  json.RawMessage `json:"args,omitempty"`  // replace the call's
	approval.Reach
	By string `json:"by,omitempty"`
}

// Deny denies a call that waits for approval.
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

// Submit returns the result of a call that the client runs.
type Submit struct {
	Result json.RawMessage `json:"result"`
	By     string          `json:"by,omitempty"`
}

// Settle resolves an unknown outcome. Exactly one of Happened and DidNotHappen must be set.
type Settle struct {
	Happened     json.RawMessage `json:"happened,omitempty"` // it took place, with this result
	DidNotHappen bool            `json:"did_not_happen,omitempty"`
	By           string          `json:"by,omitempty"`
}

// A RunLine is a run in a list, in the form of pawl runs --json.
type RunLine struct {
	Run        string            `json:"run"`
	Agent      string            `json:"agent"`
	Status     pawl.Status       `json:"status"`
	CreatedAt  time.Time         `json:"created_at"`
	Iterations int               `json:"iterations"`
	CostUSD    *pawl.Decimal     `json:"cost_usd"`
	Labels     map[string]string `json:"labels"`
	Position   int               `json:"position,omitempty"` // in the queue, from 1, if the run is queued
	// The following are set only in a list with Query.Brief.
	Input  string         `json:"input,omitempty"`  // the beginning of it
	Answer string         `json:"answer,omitempty"` // the beginning of it
	Waits  []pawl.Pending `json:"waits,omitempty"`  // what the run waits for
}

// LineOf makes the list form of a run from its head.
func LineOf(h pawl.Head) RunLine {
	line := RunLine{Run: h.Run, Agent: h.Agent, Status: h.Status, CreatedAt: h.Created, Iterations: h.Iterations, Labels: h.Labels}
	if h.Priced {
		line.CostUSD = new(pawl.Decimal(h.Cost))
	}
	if line.Labels == nil {
		line.Labels = map[string]string{}
	}
	return line
}

// Runs is a page of a list, newest first. Next is the cursor of the next page; empty:
// this is the last.
type Runs struct {
	Runs []RunLine `json:"runs"`
	Next string    `json:"next"`
}

// Files are the files of a run.
type Files struct {
	Files []runs.File `json:"files"`
}

// Stats are counts and costs of runs over time. Runs count at the time of their creation;
// child runs count with their parents.
type Stats struct {
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Seconds int       `json:"seconds"` // the length of a span
	Spans   []Span    `json:"spans"`   // those with runs, by time and group
}

// A Span is what the runs of one group come to that were created in a span of time.
type Span struct {
	At       time.Time      `json:"at"` // when the span begins
	Group    string         `json:"group"`
	Runs     int            `json:"runs"`
	Statuses map[string]int `json:"statuses"` // runs by status
	CostUSD  pawl.Decimal   `json:"cost_usd"`
	Unpriced int            `json:"unpriced"` // runs whose cost is unknown
}

// Triggered is what became of a webhook: it started a run, or signalled one, or was ignored.
type Triggered struct {
	Run       string `json:"run,omitempty"`
	Found     bool   `json:"found,omitempty"`     // the run existed already
	Ignored   string `json:"ignored,omitempty"`   // why nothing was done
	Challenge string `json:"challenge,omitempty"` // of Slack, which verifies the address
}

// Entries is a page of a run's log. Next is the cursor of the following entries, including
// future ones; empty: the run has ended with this page. A cursor of a log is the seq of
// the first entry of the page.
type Entries struct {
	Entries []json.RawMessage `json:"entries"`
	Next    string            `json:"next"`
}

// A Problem says why a request was refused (RFC 9457).
type Problem struct { //nolint:errname // as the standard calls it
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Error returns the detail, or else the title.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}
