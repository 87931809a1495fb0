package pawl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// types are the types of events, by their names in the log.
var types = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, e := range []Event{
		RunStarted{}, RunPaused{}, RunResumed{}, RunExtended{}, RunForked{}, RunStopped{}, Observed{}, Measured{},
		ModelCalled{}, ModelReplied{}, ModelFailed{}, PlanRejected{}, ToolStarted{}, ToolFinished{}, ToolReused{},
		ToolRefused{}, ToolDoubted{}, ToolSettled{}, ApprovalRequested{}, ApprovalDecided{}, ApprovalExpired{},
		ApprovalInvalidated{}, InputRequested{}, InputGiven{}, ClientToolRequested{}, ClientToolReturned{}, Reflected{},
		Grounded{}, CausesFound{}, ProgressJudged{}, ProgressLogged{}, CancelRequested{}, ContextCompacted{},
		MemoryStored{}, ChildStarted{}, ChildStopped{}, HookDirected{}, Noted{}, ModelDelta{},
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
func (Noted) event() string               { return "noted" }
func (ModelDelta) event() string          { return "model.delta" }

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
	switch e := event.(type) {
	case ModelReplied:
		if !e.exact() {
			return false
		}
	case ModelCalled:
		if e.Waited%time.Millisecond != 0 {
			return false
		}
	case ToolFinished:
		if e.Duration%time.Millisecond != 0 || string(e.Result) == "null" {
			return false
		}
	case ApprovalRequested:
		if e.Preconditions == nil { // the log has an empty object
			return false
		}
	case ApprovalDecided:
		if string(e.Args) == "null" {
			return false
		}
	}
	return wire.Exact(event, 1)
}

// decode reads the data of an event whose type has a name.
func decode(name string, data []byte) (Event, error) {
	t := types[name]
	if t == nil {
		return nil, fmt.Errorf("event type %q is unknown to this build (machine %d)", name, MachineNumber)
	}
	v := reflect.New(t)
	if err := json.Unmarshal(data, v.Interface()); err != nil {
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
