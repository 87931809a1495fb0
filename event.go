package pawl

import (
	"encoding/json"
	"time"
)

// An Event is a fact in the past tense. The set is closed; what a third-party
// loop or policy wants to remember goes into [Noted].
type Event interface {
	event() string // its name in the log
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

// Type returns the frozen name of the entry's event in the log, such as
// tool.started.
func (e Entry) Type() string { return e.Event.event() }

// Noted is the private memory of a third-party loop or policy: By is who
// notes, Name what, Value any JSON. [State.Note] reads the latest back.
type Noted struct {
	By    string          `wire:"by"`
	Name  string          `wire:"name"`
	Value json.RawMessage `wire:"value"`
}

// ModelDelta is a piece of a reply while it is being made. It reaches streams,
// never the log, and is withdrawn by a ModelFailed of the same attempt.
type ModelDelta struct {
	Text     string `wire:"text,omit"`
	Thinking string `wire:"thinking,omit"`
	Tool     string `wire:"tool,omit"` // a call of this tool has begun
}
