package pawl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// An Event is a fact in the past tense. The set is closed; third-party loops
// and policies record their own facts as [Noted].
type Event interface {
	event() string // its name in the log
}

// An Entry is an event with its place in a run's log. Seq starts at 1 and has
// no gaps. At is the Seq of the last entry that was folded when the machine
// decided the step; it is lower than Seq. Time is never before that of the
// previous entry. Iteration is the model turn that the entry belongs to, from
// 1; zero before the first turn. A live [ModelDelta] or [ToolProgressed] has no
// Seq, because it is in no log.
type Entry struct {
	Run       string
	Seq       uint64
	At        uint64
	Time      time.Time
	Iteration int
	Event     Event
}

// Type returns the frozen name of the entry's event in the log, such as
// tool.started.
func (e Entry) Type() string { return e.Event.event() }

// Noted is the private memory of a third-party loop or policy, or a fact from a
// hook or a program. By names the party, Name the fact, and Value is any JSON.
// [State.Note] returns the latest Value. Names of parties that begin with __
// belong to the machine (__board__: changes of a board), with "hook " to hooks.
type Noted struct {
	By     string          `json:"by"`
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Signal int64           `json:"signal,omitzero"`
}

// ModelDelta is a piece of a reply that the model is still writing. It reaches
// streams but never the log. A ModelFailed of the same attempt withdraws it.
type ModelDelta struct {
	Text     string `json:"text,omitzero"`
	Thinking string `json:"thinking,omitzero"`
	Tool     string `json:"tool,omitzero"`  // a call of this tool has begun
	From     int    `json:"from,omitzero"`  // bytes of the reply's text before Text
	Agent    string `json:"agent,omitzero"` // whose it is, if the run is a child of the watched one
}

// ToolProgressed says how far a running call is. It reaches streams but never the log. What a
// call that was cut short said last is in the Error of its [ToolFinished], or in the Why of its
// [ToolDoubted].
type ToolProgressed struct {
	Call     string  `json:"call"`
	Tool     string  `json:"tool"`
	Fraction float64 `json:"fraction,omitzero"` // of the work, at most 1; it never decreases; zero: unknown, or none
	Text     string  `json:"text,omitzero"`     // one line of at most 200 bytes
	Agent    string  `json:"agent,omitzero"`    // whose it is, if the run is a child of the watched one
}

// types are the types of events, by their names in the log.
var types = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, e := range []Event{
		RunStarted{}, RunPaused{}, RunResumed{}, RunExtended{}, RunForked{}, RunStopped{}, Observed{}, Measured{},
		ModelCalled{}, ModelReplied{}, ModelFailed{}, PlanRejected{}, ToolStarted{}, ToolFinished{}, ToolReused{},
		ToolRefused{}, ToolDoubted{}, ToolSettled{}, ApprovalRequested{}, ApprovalDecided{}, ApprovalExpired{},
		ApprovalInvalidated{}, InputRequested{}, InputGiven{}, ClientToolRequested{}, ClientToolReturned{}, Reflected{},
		Grounded{}, CausesFound{}, ProgressJudged{}, ProgressLogged{}, CancelRequested{}, ContextCompacted{},
		MemoryStored{}, ChildStarted{}, ChildStopped{}, HookDirected{}, InstructionsGiven{}, NoticeGiven{}, Noted{}, ModelDelta{}, ToolProgressed{},
	} {
		all[e.event()] = reflect.TypeOf(e)
	}
	return all
}()

func (RunStarted) event() string          { return "run.started" }
func (RunPaused) event() string           { return "run.paused" }
func (RunResumed) event() string          { return "run.resumed" }
func (RunExtended) event() string         { return "run.extended" }
func (RunForked) event() string           { return "run.forked" }
func (RunStopped) event() string          { return "run.stopped" }
func (Observed) event() string            { return "observed" }
func (Measured) event() string            { return "measured" }
func (ModelCalled) event() string         { return "model.called" }
func (ModelReplied) event() string        { return "model.replied" }
func (ModelFailed) event() string         { return "model.failed" }
func (PlanRejected) event() string        { return "plan.rejected" }
func (ToolStarted) event() string         { return "tool.started" }
func (ToolFinished) event() string        { return "tool.finished" }
func (ToolReused) event() string          { return "tool.reused" }
func (ToolRefused) event() string         { return "tool.refused" }
func (ToolDoubted) event() string         { return "tool.doubted" }
func (ToolSettled) event() string         { return "tool.settled" }
func (ApprovalRequested) event() string   { return "approval.requested" }
func (ApprovalDecided) event() string     { return "approval.decided" }
func (ApprovalExpired) event() string     { return "approval.expired" }
func (ApprovalInvalidated) event() string { return "approval.invalidated" }
func (InputRequested) event() string      { return "input.requested" }
func (InputGiven) event() string          { return "input.given" }
func (ClientToolRequested) event() string { return "client_tool.requested" }
func (ClientToolReturned) event() string  { return "client_tool.returned" }
func (Reflected) event() string           { return "reflected" }
func (Grounded) event() string            { return "grounded" }
func (CausesFound) event() string         { return "causes.found" }
func (ProgressJudged) event() string      { return "progress.judged" }
func (ProgressLogged) event() string      { return "progress.logged" }
func (CancelRequested) event() string     { return "cancel.requested" }
func (ContextCompacted) event() string    { return "context.compacted" }
func (MemoryStored) event() string        { return "memory.stored" }
func (ChildStarted) event() string        { return "child.started" }
func (ChildStopped) event() string        { return "child.stopped" }
func (HookDirected) event() string        { return "hook.directed" }
func (InstructionsGiven) event() string   { return "instructions.given" }
func (NoticeGiven) event() string         { return "notice.given" }
func (Noted) event() string               { return "noted" }
func (ModelDelta) event() string          { return "model.delta" }
func (ToolProgressed) event() string      { return "tool.progressed" }

// A line is an entry as the log has it. One without a Seq is in no log and has no At.
type line struct {
	Run       string    `json:"run"`
	Seq       uint64    `json:"seq,omitzero"`
	At        *uint64   `json:"at,omitzero"`
	Time      time.Time `json:"time"`
	Iteration int       `json:"iteration"`
	Type      string    `json:"type"`
	Data      any       `json:"data"`
}

// AppendJSON appends the entry as one line of the log, without a line break. It
// cannot fail after [Entry.Normalise] has succeeded.
func (e Entry) AppendJSON(dst []byte) ([]byte, error) {
	if e.Event == nil {
		return dst, errors.New("an entry without an event cannot be written")
	}
	l := line{Run: e.Run, Seq: e.Seq, Time: e.Time.UTC(), Iteration: e.Iteration, Type: e.Event.event(), Data: e.Event}
	if e.Seq != 0 {
		l.At = &e.At
	}
	raw, err := wire.Marshal(l)
	if err != nil {
		return dst, fmt.Errorf("%s cannot be written: %w", l.Type, err)
	}
	return append(dst, raw...), nil
}

// Normalise changes the event and the time to what a reader of the log would get: JSON loses
// its white space, text its invalid UTF-8, and a time what the log does not store of it. It does not write to memory that the event refers to. An event that cannot be
// written, such as one with an infinite number, is an error.
func (e *Entry) Normalise() error {
	if e.Event == nil {
		return errors.New("an entry without an event cannot be written")
	}
	e.Time = e.Time.UTC() // without the monotonic clock
	if y := e.Time.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the time of an entry must be in the years 0 to 9999, not %d", y)
	}
	if exact(e.Event) {
		return nil
	}
	name := e.Event.event()
	raw, err := wire.Marshal(e.Event)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	if err := wire.Check(raw, 1); err != nil {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	if e.Event, err = decode(name, raw); err != nil {
		return fmt.Errorf("%s cannot be read back: %w", name, err)
	}
	return nil
}

// exact reports whether the event is what is read of what is written of it.
func exact(event Event) bool {
	same := true
	switch e := event.(type) {
	case ModelReplied:
		same = e.exact() && (e.Priced || e.Cost == 0)
	case ModelCalled:
		same = e.Waited%time.Millisecond == 0
	case ToolFinished:
		same = e.Duration%time.Millisecond == 0 && string(e.Result) != "null"
	case ApprovalRequested:
		same = e.Preconditions != nil // the log has an empty object
	case ApprovalDecided:
		same = string(e.Args) != "null" && e.Scope != ""
	}
	return same && wire.Exact(event, 1)
}

// decode reads the data of an event whose type has a name.
func decode(name string, data []byte) (Event, error) {
	t := types[name]
	if t == nil {
		return nil, fmt.Errorf("event type %q is unknown to this build (machine %d)", name, MachineNumber)
	}
	v := reflect.New(t)
	if err := wire.ReadValid(data, v.Interface()); err != nil {
		return nil, misfit(err, name)
	}
	return v.Elem().Interface().(Event), nil
}

// misfit names what in a document has a value of the wrong kind, if that is the error.
func misfit(err error, document string) error {
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s cannot be a JSON %s", cmp.Or(strings.Trim(document+"."+bad.Field, "."), "it"), bad.Value)
	}
	return err
}

// MarshalJSON writes the entry as in the log.
func (e Entry) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(data []byte) (err error) {
	*e, err = DecodeEntry(data)
	return err
}

// DecodeEntry reads one line of a log. An event of an unknown type is an error: a
// log is never read half.
func DecodeEntry(data []byte) (Entry, error) {
	var raw json.RawMessage
	l := line{Data: &raw}
	if err := wire.Check(data, 0); err != nil {
		return Entry{}, fmt.Errorf("entry: %w", err)
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return Entry{}, fmt.Errorf("entry: %w", misfit(err, ""))
	}
	if raw = wire.NotNull(raw); raw == nil {
		return Entry{}, fmt.Errorf("entry %d of run %s has no data", l.Seq, l.Run)
	}
	e := Entry{Run: l.Run, Seq: l.Seq, Time: l.Time.UTC(), Iteration: l.Iteration}
	if l.Seq != 0 && l.At != nil {
		e.At = *l.At
	}
	var err error
	if e.Event, err = decode(l.Type, raw); err != nil {
		return Entry{}, fmt.Errorf("entry: %w", err)
	}
	return e, nil
}

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
	for _, p := range r.Parts {
		var part layout
		switch p := p.(type) {
		case Text:
			part.Text = p.Text
		case Thinking:
			f.Thinking += p.Text
			part = layout{Thinking: true, Text: p.Text, Opaque: p.Opaque, Model: p.Model, Account: p.Account}
		case Citation:
			part = layout{Source: &citedSource{p.Title, p.URL, p.Quote}, Opaque: p.Opaque, Model: p.Model}
		case Call:
			f.Calls = append(f.Calls, p)
			part.Call = p.ID
		}
		f.Parts = append(f.Parts, part)
	}
	if r.usual() {
		f.Parts = nil
	}
	return wire.Marshal(f)
}

// usual reports whether a reply is a text, if any, and calls, whose layout the log need not have.
func (r *Reply) usual() bool {
	for i, p := range r.Parts {
		text, is := p.(Text)
		if _, calls := p.(Call); !calls && (!is || i > 0 || text.Text == "") {
			return false
		}
	}
	return true
}

// exact reports whether UnmarshalJSON makes the same of what MarshalJSON writes, as far as
// [wire.Exact] does not see it: of the parts, which are interfaces, and of what is left out.
func (e *ModelReplied) exact() bool {
	r := &e.Reply
	empty := r.Parts != nil && len(r.Parts) == 0 || r.Hosted != nil && len(r.Hosted) == 0
	if empty || r.Notes != nil {
		return false
	}
	named := true
	for _, p := range r.Parts {
		ok := wire.Exact(p, 3)
		switch p := p.(type) {
		case Text, Citation:
		case Thinking:
			ok = ok && !p.Moved
		case Call:
			named = named && p.ID != ""
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return named || r.usual()
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
	*e = ModelCalled{}
	return json.Unmarshal(data, &struct {
		*plain
		Waited *wire.Millis `json:"waited_ms"`
	}{(*plain)(e), (*wire.Millis)(&e.Waited)})
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
	*e = ToolFinished{}
	err := json.Unmarshal(data, &struct {
		*plain
		Duration *wire.Millis `json:"duration_ms"`
	}{(*plain)(e), (*wire.Millis)(&e.Duration)})
	e.Result = wire.NotNull(e.Result)
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
	f := decided{plainDecided: plainDecided(e), Decision: "deny", Scope: cmp.Or(e.Scope, "call"), Args: e.Args}
	if e.Approved {
		f.Decision = "approve"
	}
	return wire.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ApprovalDecided) UnmarshalJSON(data []byte) error {
	var f decided
	err := json.Unmarshal(data, &f)
	*e = ApprovalDecided(f.plainDecided)
	e.Approved, e.Scope, e.Args = f.Decision == "approve", f.Scope, wire.NotNull(f.Args)
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
	*l = Limits{}
	return json.Unmarshal(data, &struct {
		*plain
		Time *wire.Period `json:"time"`
	}{(*plain)(l), (*wire.Period)(&l.Time)})
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
	*a = Approvals{}
	return json.Unmarshal(data, &struct {
		*plain
		TTL *wire.Period `json:"ttl"`
	}{(*plain)(a), (*wire.Period)(&a.TTL)})
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
	*t = ToolInfo{}
	return json.Unmarshal(data, &struct {
		*plain
		Timeout *wire.Period `json:"timeout"`
	}{(*plain)(t), (*wire.Period)(&t.Timeout)})
}
