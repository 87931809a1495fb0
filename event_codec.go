package pawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl/internal/wire"
)

// kinds are the events there are, each with its codec, by their names in the log. They
// are made when they are first asked for: a codec needs the names of enums, and those
// are variables that a build without inlining, as a debugger's, sets after this one.
var kinds = wire.Table(func() map[string]*wire.Codec {
	all := map[string]*wire.Codec{ModelReplied{}.event(): wire.Formed[ModelReplied, replied]()}
	for _, c := range []*wire.Codec{
		wire.Of(RunStarted{}), wire.Of(RunPaused{}), wire.Of(RunResumed{}), wire.Of(RunExtended{}),
		wire.Of(RunForked{}), wire.Of(RunStopped{}), wire.Of(Observed{}), wire.Of(Measured{}),
		wire.Of(ModelCalled{}), wire.Of(ModelFailed{}), wire.Of(PlanRejected{}), wire.Of(ToolStarted{}),
		wire.Of(ToolFinished{}), wire.Of(ToolReused{}), wire.Of(ToolRefused{}), wire.Of(ToolDoubted{}),
		wire.Of(ToolSettled{}), wire.Of(ApprovalRequested{}), wire.Of(ApprovalDecided{}), wire.Of(ApprovalExpired{}),
		wire.Of(ApprovalInvalidated{}), wire.Of(InputRequested{}), wire.Of(InputGiven{}), wire.Of(ClientToolRequested{}),
		wire.Of(ClientToolReturned{}), wire.Of(Reflected{}), wire.Of(Grounded{}), wire.Of(CausesFound{}),
		wire.Of(ProgressJudged{}), wire.Of(ProgressLogged{}), wire.Of(CancelRequested{}), wire.Of(ContextCompacted{}),
		wire.Of(MemoryStored{}), wire.Of(ChildStarted{}), wire.Of(ChildStopped{}), wire.Of(HookDirected{}),
		wire.Of(Noted{}), wire.Of(ModelDelta{}),
	} {
		all[c.Zero().(Event).event()] = c
	}
	return all
})

// codec returns the codec of an event and its name.
func codec(event Event) (*wire.Codec, string, error) {
	if event == nil {
		return nil, "", errors.New("an entry without an event cannot be written")
	}
	name := event.event()
	if c := kinds()[name]; c != nil {
		return c, name, nil
	}
	return nil, name, fmt.Errorf("event type %q is unknown to this build", name)
}

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
func (Noted) event() string               { return "noted" }
func (ModelDelta) event() string          { return "model.delta" }

// replied is a [ModelReplied] as the log has it: with a reply's text, thinking
// and calls, which others may rely on. The order of its parts stands beside them
// only where it is not the usual one, text and then calls: provider parts must go
// back exactly as they came.
type replied struct {
	Purpose   Purpose      `wire:"purpose,omit"`
	Text      string       `wire:"text"`
	Thinking  string       `wire:"thinking"`
	Calls     []Call       `wire:"calls"`
	Hosted    []HostedCall `wire:"hosted,omit"`
	Parts     []layout     `wire:"parts,omit"`
	Stop      StopReason   `wire:"stop_reason,omit"`
	Filter    string       `wire:"filter,omit"`
	Repaired  bool         `wire:"repaired,omit"`
	Usage     Usage        `wire:"usage"`
	Cost      float64      `wire:"cost_usd,known=Priced"`
	Priced    bool         `wire:"-"`
	Malformed string       `wire:"malformed,omit"`
	Estimated bool         `wire:"estimated,omit"`
	Room      []layout     `wire:"-"` // for Parts, where the order is the usual one
}

// A layout is a part of a reply in its place. It names a call.
type layout struct {
	Call     string          `wire:"call,omit"`
	Thinking bool            `wire:"thinking,omit"`
	Text     string          `wire:"text,omit"`
	Opaque   json.RawMessage `wire:"opaque,omit"`
	Model    string          `wire:"model,omit"`
	Account  string          `wire:"account,omit"`
	Source   *citedSource    `wire:"source,omit"`
}

// A citedSource is what a citation names.
type citedSource struct {
	Title string `wire:"title,omit"`
	URL   string `wire:"url,omit"`
	Quote string `wire:"quote,omit"`
}

// Clear empties the form and keeps its room for calls and parts.
func (f *replied) Clear() {
	clear(f.Calls)
	clear(f.Room)
	*f = replied{Calls: f.Calls[:0], Room: f.Room[:0]}
}

// Take fills the form, and reports whether Give makes the same of it.
func (f *replied) Take(e *ModelReplied) (exact bool) {
	r := &e.Reply
	calls, parts := f.Calls[:0], f.Room[:0]
	*f = replied{Purpose: e.Purpose, Text: joinText(r.Parts), Hosted: r.Hosted, Stop: r.Stop, Filter: r.Filter, Repaired: r.Repaired, Usage: r.Usage,
		Cost: e.Cost, Priced: e.Priced, Malformed: e.Malformed, Estimated: e.Estimated}
	usual, named := true, true
	exact = (r.Parts == nil || len(r.Parts) > 0) && r.Notes == nil
	for i, p := range r.Parts {
		var part layout
		switch p := p.(type) {
		case Text:
			usual = usual && i == 0 && p.Text != ""
			part.Text = p.Text
		case Thinking:
			f.Thinking += p.Text
			usual = false
			exact = exact && !p.Moved
			part = layout{Thinking: true, Text: p.Text, Opaque: p.Opaque, Model: p.Model, Account: p.Account}
		case Citation:
			usual = false
			part = layout{Source: &citedSource{p.Title, p.URL, p.Quote}, Opaque: p.Opaque, Model: p.Model}
		case Call:
			calls = append(calls, p)
			named = named && p.ID != ""
			part.Call = p.ID
		default:
			exact = false
		}
		parts = append(parts, part)
	}
	if len(calls) > 0 {
		f.Calls = calls
	}
	if f.Room = parts; usual {
		return exact
	}
	f.Parts = parts
	return exact && named
}

// Give makes the event that the form says.
func (f *replied) Give(e *ModelReplied) error {
	*e = ModelReplied{Purpose: f.Purpose, Reply: Reply{Hosted: f.Hosted, Stop: f.Stop, Filter: f.Filter, Repaired: f.Repaired, Usage: f.Usage},
		Cost: f.Cost, Priced: f.Priced, Malformed: f.Malformed, Estimated: f.Estimated}
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

// AppendJSON appends the entry as one line of the log, without a line break. It
// cannot fail after [Entry.Normalise] has succeeded.
func (e Entry) AppendJSON(dst []byte) ([]byte, error) {
	c, name, err := codec(e.Event)
	if err != nil {
		return dst, err
	}
	line := wire.Line{Run: e.Run, Seq: e.Seq, At: e.At, Time: e.Time, Iteration: e.Iteration}
	return line.Append(dst, name, c, e.Event)
}

// Normalise changes the event and the time to what a reader of the log would get: JSON loses
// its white space, text its invalid UTF-8, a time its location and the digits that the log does
// not store, and empty values take one form. It does not write to memory that the event refers
// to. An event that cannot be written, such as one with an infinite number, is an error.
func (e *Entry) Normalise() error {
	c, name, err := codec(e.Event)
	if err != nil {
		return err
	}
	e.Time = e.Time.UTC() // without the monotonic clock
	if y := e.Time.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the time of an entry must be in the years 0 to 9999, not %d", y)
	}
	v, err := c.Normal(e.Event, 1)
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	e.Event = v.(Event)
	return nil
}

// MarshalJSON writes the entry as in the log.
func (e Entry) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(data []byte) (err error) {
	*e, err = DecodeEntry(append([]byte(nil), data...))
	return err
}

// DecodeEntry reads one line of a log. The entry may keep parts of data, which
// must not be changed afterwards. An event of an unknown type is an error: a
// log is never read half.
func DecodeEntry(data []byte) (Entry, error) {
	l, event, err := wire.ReadLine(data, func(name string) (*wire.Codec, error) {
		if c := kinds()[name]; c != nil {
			return c, nil
		}
		return nil, fmt.Errorf("event type %q is unknown to this build (machine %d)", name, MachineNumber)
	})
	if err != nil {
		return Entry{}, fmt.Errorf("entry: %w", err)
	}
	e, ok := event.(Event)
	if !ok {
		return Entry{}, fmt.Errorf("entry %d of run %s has no data", l.Seq, l.Run)
	}
	return Entry{l.Run, l.Seq, l.At, l.Time, l.Iteration, e}, nil
}
