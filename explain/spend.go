package explain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// Ceilings are a run's limits, and how much of each it has used.
type Ceilings struct {
	Iterations Ceiling `json:"iterations"`
	Tokens     Ceiling `json:"tokens"`
	Time       Ceiling `json:"time"` // seconds while running
	Cost       Ceiling `json:"cost"` // dollars
	ToolErrors Ceiling `json:"tool_errors"`
}

// A Ceiling is one limit. Limit is nil if there is none. Refused reports that
// the limit refused the run's next step.
type Ceiling struct {
	Used    pawl.Decimal  `json:"used"`
	Limit   *pawl.Decimal `json:"limit"`
	Unit    string        `json:"unit"`
	Refused bool          `json:"refused"`
}

func ceilings(s *pawl.State) Ceilings {
	l := s.Limits()
	spent, _ := s.Cost()
	refused := refusal(s)
	bound := func(kind, unit string, used, limit float64) Ceiling {
		c := Ceiling{Used: pawl.Decimal(used), Unit: unit, Refused: refused == kind}
		if limit > 0 {
			c.Limit = new(pawl.Decimal(limit))
		}
		return c
	}
	return Ceilings{
		Iterations: bound("iterations", "iterations", float64(s.Iteration()), float64(l.Iterations)),
		Tokens:     bound("tokens", "tokens", float64(s.Tokens()), float64(l.Tokens)),
		Time:       bound("elapsed", "s", s.Elapsed().Seconds(), l.Time.Seconds()),
		Cost:       bound("cost", "USD", spent, l.Cost),
		ToolErrors: bound("tool_errors", "turns", float64(s.ToolErrors()), float64(l.ToolErrors)),
	}
}

// refusal returns the limit that ended the run, empty if none did.
func refusal(s *pawl.State) string {
	v, l := s.Verdict(), s.Limits()
	if v.Status != pawl.StatusExhausted && v.Status != pawl.StatusNoProgress {
		return ""
	}
	word, bound, _ := strings.Cut(v.Leaf, " >= ")
	reached := false
	switch word {
	case "iterations":
		reached = bound == fmt.Sprint(l.Iterations) && s.Iteration() >= l.Iterations
	case "tokens":
		reached = bound == fmt.Sprint(l.Tokens)
	case "cost":
		reached = l.Cost > 0 && sameNumber(bound, l.Cost)
	case "elapsed":
		d, err := time.ParseDuration(bound)
		reached = err == nil && d == l.Time && s.Elapsed() >= l.Time
	case "rounds": // of a graph
		reached = bound == fmt.Sprint(l.Rounds)
	case "tool_errors":
		reached = bound == fmt.Sprint(l.ToolErrors) && s.ToolErrors() >= l.ToolErrors
	}
	if !reached {
		return ""
	}
	return word
}

// account adds the cost of an entry to its part. It uses the difference of the
// state's totals, so that the parts always add up.
func (f *fold) account(e pawl.Entry, was spent) {
	part := ""
	calls, failed := f.state.ModelCalls()-was.calls, 0
	var called *pawl.ModelCalled
	var sent time.Time
	switch e.Event.(type) {
	case pawl.ModelReplied, pawl.ModelFailed, pawl.RunResumed:
		called, sent = f.called()
	}
	f.money.add(&e, f.state, called, sent)
	switch ev := e.Event.(type) {
	case pawl.ModelCalled:
		f.flight = &e
	case pawl.ModelReplied:
		f.flight, part = nil, string(ev.Purpose)
		if called == nil { // the log lacks the call's entry
			f.money.Tokens.Asides.add(ev.Reply.Usage.Input, 0)
			f.money.Tokens.Output.add(ev.Reply.Usage.Output, ev.Cost)
		}
	case pawl.ModelFailed:
		f.flight, part, failed = nil, string(ev.Purpose), 1
		f.fail(e, ev)
	case pawl.RunResumed:
		if f.flight != nil {
			if called != nil {
				part, failed = string(called.Purpose), 1
			}
			f.flight = nil
		}
	case pawl.ChildStopped:
		part = "children"
	}
	if part == "" {
		return
	}
	now := spentBy(f.state)
	p := f.cost[part]
	p.ModelCalls += calls
	p.Failed += failed
	p.InputTokens += now.usage.Input - was.usage.Input
	p.OutputTokens += now.usage.Output - was.usage.Output
	p.dollars += now.cost - was.cost
	f.cost[part] = p
	switch e.Event.(type) {
	case pawl.ModelReplied: // recorded separately
	case pawl.ChildStopped:
		f.money.Tokens.Children.add(now.usage.Total()-was.usage.Total(), now.cost-was.cost)
	default:
		f.money.fail(called, now.usage.Total()-was.usage.Total(), now.cost-was.cost)
	}
}

// spent is what a run has used.
type spent struct {
	calls int
	usage pawl.Usage
	cost  float64
}

func spentBy(s *pawl.State) spent {
	cost, _ := s.Cost()
	return spent{s.ModelCalls(), s.Usage(), cost}
}

// called returns the model call in flight, and when it was sent.
func (f *fold) called() (*pawl.ModelCalled, time.Time) {
	if f.flight == nil {
		return nil, time.Time{}
	}
	called, ok := f.flight.Event.(pawl.ModelCalled)
	if !ok {
		return nil, time.Time{}
	}
	return &called, f.flight.Time
}

func (f *fold) fail(e pawl.Entry, ev pawl.ModelFailed) {
	failure := Failure{Seq: e.Seq, Iteration: e.Iteration, Purpose: ev.Purpose, Attempt: ev.Attempt, Class: ev.Class.String(), Message: oneLine(ev.Message)}
	if !ev.RetryAt.IsZero() {
		failure.RetryAt = &ev.RetryAt
	}
	f.failures = append(f.failures, failure)
}

// person formats an owner for people. An owner is opaque text; JSON with a
// user, a host and a process id is formatted nicely.
func person(owner string) string {
	var o struct {
		User, Host string
		PID        int
	}
	if json.Unmarshal([]byte(owner), &o) != nil || o.User == "" && o.Host == "" && o.PID == 0 {
		if owner == "" {
			return "unknown"
		}
		return owner
	}
	who := o.User
	if o.Host != "" {
		who = strings.TrimPrefix(who+" on "+o.Host, " ")
	}
	if o.PID != 0 {
		who += fmt.Sprintf(" (process %d)", o.PID)
	}
	return strings.TrimSpace(who)
}

// sameNumber reports whether a text is the number n, in any notation.
func sameNumber(text string, n float64) bool {
	is, err := strconv.ParseFloat(text, 64)
	return err == nil && pawl.Decimal(is).String() == pawl.Decimal(n).String()
}
