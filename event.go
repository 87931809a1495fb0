package pawl

import (
	"encoding/json"
	"fmt"
	"strconv"
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
	data, typ, err := appendData(nil, e.Event)
	if err != nil {
		return dst, err
	}
	return e.appendLine(dst, typ, data), nil
}

// Seal makes event the entry's, appends the entry to line as AppendJSON does,
// and replaces the event by what the written bytes say, so that folding it is
// folding the log. keep is asked for memory that lasts as long as the event: it
// is read from there. The event handed in is not kept and may live on a stack.
// The entry is read into room, if there is one.
func (e *Entry) Seal(event Event, line []byte, keep func(data []byte) []byte, room *Room) ([]byte, error) {
	begin := len(line)
	scratch, typ, err := appendData(line, event) // where the line will stand
	if err != nil {
		return line, fmt.Errorf("%s cannot be written: %w", typ, err)
	}
	data := keep(scratch[begin:])
	line = scratch[:begin]
	if e.Event, err = readData(data, typ, room); err != nil {
		return line, fmt.Errorf("%s cannot be read back: %w", typ, err)
	}
	e.Time = e.Time.UTC().Round(0) // as it is read: without the monotonic clock
	return e.appendLine(line, typ, data), nil
}

func appendData(dst []byte, e Event) (data []byte, typ string, err error) {
	c := wire.NewEncoder(dst)
	typ = encodeEvent(c, e)
	data, err = c.Done()
	return data, typ, err
}

func readData(data []byte, typ string, room *Room) (e Event, err error) {
	err = wire.Decode(data, func(c *wire.Coder) { e = room.decode(c, typ) })
	return e, err
}

// appendLine writes the envelope by hand, since five of its seven members are
// the same few kinds of text in every entry there is.
func (e *Entry) appendLine(b []byte, typ string, data []byte) []byte {
	b = append(b, `{"run":`...)
	b = wire.AppendString(b, e.Run)
	if e.Seq != 0 {
		b = append(b, `,"seq":`...)
		b = strconv.AppendUint(b, e.Seq, 10)
		b = append(b, `,"at":`...)
		b = strconv.AppendUint(b, e.At, 10)
	}
	b = append(b, `,"time":"`...)
	b = e.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","iteration":`...)
	b = strconv.AppendInt(b, int64(e.Iteration), 10)
	b = append(b, `,"type":"`...)
	b = append(b, typ...)
	b = append(b, `","data":`...)
	return append(append(b, data...), '}')
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
func DecodeEntry(data []byte) (Entry, error) { return (*Room)(nil).DecodeEntry(data) }

// DecodeEntry is [DecodeEntry] for an entry that is only folded; see [Room].
func (r *Room) DecodeEntry(data []byte) (Entry, error) {
	var e Entry
	err := wire.Decode(data, func(c *wire.Coder) {
		var typ string
		e = Entry{}
		c.String("run", &e.Run)
		c.OptUint64("seq", &e.Seq)
		c.OptUint64("at", &e.At)
		c.Time("time", &e.Time)
		c.OptInt("iteration", &e.Iteration)
		c.String("type", &typ)
		c.Object("data", func(c *wire.Coder) {
			if e.Event = r.decode(c, typ); e.Event == nil {
				c.Fail("type", fmt.Errorf("event type %q is unknown to this build (machine %d)", typ, MachineNumber))
			}
		})
	})
	if err != nil {
		return Entry{}, fmt.Errorf("entry: %w", err)
	}
	if e.Seq == 0 {
		e.At = 0 // what is in no log was decided on nothing
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
