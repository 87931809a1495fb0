package pawl

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// An Event is a fact in the past tense. The set is closed; what a third-party
// loop or policy wants to remember goes into [Noted].
type Event interface {
	// Type is the event's frozen name in the log, such as tool.started.
	Type() string
	event()
}

// An Entry is an event with its place in a run's log. Seq starts at 1 without
// gaps. At is the seq of the state its step was decided on. Time is never
// earlier than the entry before. Iteration is the model turn it belongs to,
// from 1; zero before the first. A live [ModelDelta] has no Seq: it is in no log.
type Entry struct {
	Run       string
	Seq       uint64
	At        uint64
	Time      time.Time
	Iteration int
	Event     Event
}

// AppendJSON appends the entry as one line of the log, without a line break.
func (e Entry) AppendJSON(dst []byte) ([]byte, error) {
	c := wire.NewEncoder(dst)
	typ := e.Event.Type()
	c.String("run", &e.Run)
	if e.Seq != 0 {
		c.Uint64("seq", &e.Seq)
		c.Uint64("at", &e.At)
	}
	c.Time("time", &e.Time)
	c.Int("iteration", &e.Iteration)
	c.String("type", &typ)
	c.Object("data", func(c *wire.Coder) { encodeEvent(c, e.Event) })
	return c.Done()
}

// MarshalJSON writes the entry as in the log.
func (e Entry) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(data []byte) error {
	d, err := DecodeEntry(append([]byte(nil), data...))
	if err == nil {
		*e = d
	}
	return err
}

// DecodeEntry reads one line of a log. The entry may keep parts of data, which
// must not be changed afterwards. An event of an unknown type is an error: a
// log is never read half.
func DecodeEntry(data []byte) (Entry, error) {
	var e Entry
	var typ string
	c := wire.NewDecoder(data)
	c.String("run", &e.Run)
	c.OptUint64("seq", &e.Seq)
	c.OptUint64("at", &e.At)
	c.Time("time", &e.Time)
	c.OptInt("iteration", &e.Iteration)
	c.String("type", &typ)
	c.Object("data", func(c *wire.Coder) {
		if e.Event = decodeEvent(c, typ); e.Event == nil {
			c.Fail("type", fmt.Errorf("event type %q is unknown to this build (machine %d)", typ, MachineNumber))
		}
	})
	if _, err := c.Done(); err != nil {
		return Entry{}, fmt.Errorf("entry: %w", err)
	}
	if e.Event == nil {
		return Entry{}, fmt.Errorf("entry %d of run %s has no data", e.Seq, e.Run)
	}
	return e, nil
}

// Noted is the private memory of a third-party loop or policy: By is who
// notes, Name what, Value any JSON. [State.Note] reads the latest back.
type Noted struct {
	By    string
	Name  string
	Value json.RawMessage
}

// ModelDelta is a piece of a reply while it is being made. It reaches streams,
// never the log, and is withdrawn by a ModelFailed of the same attempt.
type ModelDelta struct {
	Text     string
	Thinking string
	Tool     string // a call of this tool has begun
}

// Type returns "noted".
func (Noted) Type() string { return "noted" }

// Type returns "model.delta".
func (ModelDelta) Type() string { return "model.delta" }

func (e *Noted) code(c *wire.Coder) {
	c.String("by", &e.By)
	c.String("name", &e.Name)
	c.Raw("value", &e.Value)
}

func (e *ModelDelta) code(c *wire.Coder) {
	c.OptString("text", &e.Text)
	c.OptString("thinking", &e.Thinking)
	c.OptString("tool", &e.Tool)
}

// enum codes a closed set by its name; zero is left out.
func enum[T ~int](c *wire.Coder, name string, p *T, n names[T]) {
	var s string
	if !c.Decoding() && *p != 0 {
		s = n.string(*p)
	}
	c.OptString(name, &s)
	if c.Decoding() && s != "" {
		if err := n.unmarshal(p, []byte(s)); err != nil {
			c.Fail(name, err)
		}
	}
}
