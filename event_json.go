package pawl

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// This file has the JSON of the types whose fields are not what a log has of them.

// replied is a [ModelReplied] as the log has it: with a reply's text, thinking
// and calls, which others may rely on. The order of its parts stands beside them
// only where it is not the usual one, text and then calls: provider parts must go
// back exactly as they came.
type replied struct {
	Purpose   Purpose      `json:"purpose,omitzero"`
	Text      string       `json:"text"`
	Thinking  string       `json:"thinking"`
	Calls     []Call       `json:"calls"`
	Hosted    []HostedCall `json:"hosted,omitzero"`
	Parts     []layout     `json:"parts,omitzero"`
	Stop      StopReason   `json:"stop_reason,omitzero"`
	Filter    string       `json:"filter,omitzero"`
	Repaired  bool         `json:"repaired,omitzero"`
	Usage     Usage        `json:"usage"`
	Cost      *float64     `json:"cost_usd"` // nil: unknown
	Malformed string       `json:"malformed,omitzero"`
	Estimated bool         `json:"estimated,omitzero"`
}

// A layout is a part of a reply in its place. It names a call.
type layout struct {
	Call     string          `json:"call,omitzero"`
	Thinking bool            `json:"thinking,omitzero"`
	Text     string          `json:"text,omitzero"`
	Opaque   json.RawMessage `json:"opaque,omitzero"`
	Model    string          `json:"model,omitzero"`
	Account  string          `json:"account,omitzero"`
	Source   *citedSource    `json:"source,omitzero"`
}

// A citedSource is what a citation names.
type citedSource struct {
	Title string `json:"title,omitzero"`
	URL   string `json:"url,omitzero"`
	Quote string `json:"quote,omitzero"`
}

// MarshalJSON writes the event as the log has it.
func (e ModelReplied) MarshalJSON() ([]byte, error) {
	r := &e.Reply
	f := replied{Purpose: e.Purpose, Text: r.Text(), Calls: []Call{}, Hosted: r.Hosted, Stop: r.Stop, Filter: r.Filter, Repaired: r.Repaired, Usage: r.Usage,
		Malformed: e.Malformed, Estimated: e.Estimated}
	if e.Priced {
		f.Cost = &e.Cost
	}
	usual := true
	for i, p := range r.Parts {
		var part layout
		switch p := p.(type) {
		case Text:
			usual = usual && i == 0 && p.Text != ""
			part.Text = p.Text
		case Thinking:
			f.Thinking += p.Text
			usual = false
			part = layout{Thinking: true, Text: p.Text, Opaque: p.Opaque, Model: p.Model, Account: p.Account}
		case Citation:
			usual = false
			part = layout{Source: &citedSource{p.Title, p.URL, p.Quote}, Opaque: p.Opaque, Model: p.Model}
		case Call:
			f.Calls = append(f.Calls, p)
			part.Call = p.ID
		}
		f.Parts = append(f.Parts, part)
	}
	if usual {
		f.Parts = nil
	}
	return wire.Marshal(f)
}

// exact reports whether UnmarshalJSON makes the same of what MarshalJSON writes, as far as
// [wire.Exact] does not see it: of the parts, which are interfaces, and of what is left out.
func (e *ModelReplied) exact() bool {
	r := &e.Reply
	if r.Notes != nil || r.Parts != nil && len(r.Parts) == 0 || r.Hosted != nil && len(r.Hosted) == 0 || !e.Priced && e.Cost != 0 {
		return false
	}
	usual, named := true, true
	for i, p := range r.Parts {
		ok := true
		switch p := p.(type) {
		case Text:
			usual = usual && i == 0 && p.Text != ""
		case Thinking:
			usual, ok = false, !p.Moved
		case Citation:
			usual = false
		case Call:
			named = named && p.ID != ""
		default:
			ok = false
		}
		if !ok || !wire.Exact(p, 3) {
			return false
		}
	}
	return usual || named
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ModelReplied) UnmarshalJSON(data []byte) error {
	var f replied
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*e = ModelReplied{Purpose: f.Purpose, Reply: Reply{Hosted: f.Hosted, Stop: f.Stop, Filter: f.Filter, Repaired: f.Repaired, Usage: f.Usage},
		Malformed: f.Malformed, Estimated: f.Estimated}
	if f.Cost != nil {
		e.Cost, e.Priced = *f.Cost, true
	}
	r := &e.Reply
	if n := max(len(f.Parts), len(f.Calls)+min(1, len(f.Text))); n > 0 {
		r.Parts = make([]Part, 0, n)
	}
	if len(f.Parts) == 0 {
		if f.Text != "" {
			r.Parts = append(r.Parts, Text{f.Text})
		}
		for _, call := range f.Calls {
			r.Parts = append(r.Parts, call)
		}
		return nil
	}
	next := 0
	for _, p := range f.Parts {
		switch {
		case p.Call != "": // the list has it whole, and almost always next
			if next == len(f.Calls) || f.Calls[next].ID != p.Call {
				next = slices.IndexFunc(f.Calls, func(c Call) bool { return c.ID == p.Call })
			}
			if next < 0 {
				return fmt.Errorf("call %q is not among calls", p.Call)
			}
			r.Parts = append(r.Parts, f.Calls[next])
			next++
		case p.Thinking:
			r.Parts = append(r.Parts, Thinking{Text: p.Text, Opaque: p.Opaque, Model: p.Model, Account: p.Account})
		case p.Source != nil:
			r.Parts = append(r.Parts, Citation{p.Source.Title, p.Source.URL, p.Source.Quote, p.Opaque, p.Model})
		default:
			r.Parts = append(r.Parts, Text{p.Text})
		}
	}
	return nil
}

// MarshalJSON writes the event as the log has it.
func (e ModelCalled) MarshalJSON() ([]byte, error) {
	type plain ModelCalled
	return wire.Marshal(struct {
		plain
		Waited wire.Millis `json:"waited_ms,omitzero"`
	}{plain(e), wire.Millis(e.Waited)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ModelCalled) UnmarshalJSON(data []byte) error {
	type plain ModelCalled
	var f struct {
		plain
		Waited wire.Millis `json:"waited_ms"`
	}
	err := json.Unmarshal(data, &f)
	*e = ModelCalled(f.plain)
	e.Waited = time.Duration(f.Waited)
	return err
}

// MarshalJSON writes the event as the log has it.
func (e ModelFailed) MarshalJSON() ([]byte, error) {
	type plain ModelFailed
	return wire.Marshal(struct {
		plain
		RetryAt *time.Time `json:"retry_at"`
	}{plain(e), wire.OrNull(e.RetryAt)})
}

// MarshalJSON writes the event as the log has it.
func (e ToolFinished) MarshalJSON() ([]byte, error) {
	type plain ToolFinished
	return wire.Marshal(struct {
		plain
		Result   json.RawMessage `json:"result"`
		Duration wire.Millis     `json:"duration_ms"`
	}{plain(e), e.Result, wire.Millis(e.Duration)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ToolFinished) UnmarshalJSON(data []byte) error {
	type plain ToolFinished
	var f struct {
		plain
		Duration wire.Millis `json:"duration_ms"`
	}
	err := json.Unmarshal(data, &f)
	*e = ToolFinished(f.plain)
	e.Result, e.Duration = wire.NotNull(e.Result), time.Duration(f.Duration)
	return err
}

// MarshalJSON writes the event as the log has it.
func (e ApprovalRequested) MarshalJSON() ([]byte, error) {
	type plain ApprovalRequested
	if e.Preconditions == nil {
		e.Preconditions = map[string]string{}
	}
	return wire.Marshal(struct {
		plain
		Expires *time.Time `json:"expires_at"`
	}{plain(e), wire.OrNull(e.Expires)})
}

// MarshalJSON writes the event as the log has it.
func (e ApprovalDecided) MarshalJSON() ([]byte, error) {
	f := decided{plainDecided: plainDecided(e), Decision: "deny", Scope: "call", Args: e.Args}
	if e.Approved {
		f.Decision = "approve"
	}
	if e.ForRun {
		f.Scope = "run"
	}
	return wire.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ApprovalDecided) UnmarshalJSON(data []byte) error {
	var f decided
	err := json.Unmarshal(data, &f)
	*e = ApprovalDecided(f.plainDecided)
	e.Approved, e.ForRun, e.Args = f.Decision == "approve", f.Scope == "run", wire.NotNull(f.Args)
	return err
}

type plainDecided ApprovalDecided

// decided is an [ApprovalDecided] as a log has it.
type decided struct {
	plainDecided
	Decision string          `json:"decision"`
	Scope    string          `json:"scope"`
	Args     json.RawMessage `json:"args"`
}

// MarshalJSON writes the time as a text, such as 30m0s.
func (l Limits) MarshalJSON() ([]byte, error) {
	type plain Limits
	return wire.Marshal(struct {
		plain
		Time wire.Period `json:"time,omitzero"`
	}{plain(l), wire.Period(l.Time)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Limits) UnmarshalJSON(data []byte) error {
	type plain Limits
	var f struct {
		plain
		Time wire.Period `json:"time"`
	}
	err := json.Unmarshal(data, &f)
	*l = Limits(f.plain)
	l.Time = time.Duration(f.Time)
	return err
}

// MarshalJSON writes the TTL as a text, such as 24h0m0s.
func (a Approvals) MarshalJSON() ([]byte, error) {
	type plain Approvals
	return wire.Marshal(struct {
		plain
		TTL wire.Period `json:"ttl,omitzero"`
	}{plain(a), wire.Period(a.TTL)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Approvals) UnmarshalJSON(data []byte) error {
	type plain Approvals
	var f struct {
		plain
		TTL wire.Period `json:"ttl"`
	}
	err := json.Unmarshal(data, &f)
	*a = Approvals(f.plain)
	a.TTL = time.Duration(f.TTL)
	return err
}

// MarshalJSON writes the time-out as a text, such as 1m0s.
func (t ToolInfo) MarshalJSON() ([]byte, error) {
	type plain ToolInfo
	return wire.Marshal(struct {
		plain
		Timeout wire.Period `json:"timeout,omitzero"`
	}{plain(t), wire.Period(t.Timeout)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *ToolInfo) UnmarshalJSON(data []byte) error {
	type plain ToolInfo
	var f struct {
		plain
		Timeout wire.Period `json:"timeout"`
	}
	err := json.Unmarshal(data, &f)
	*t = ToolInfo(f.plain)
	t.Timeout = time.Duration(f.Timeout)
	return err
}
