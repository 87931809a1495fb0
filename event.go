package pawl

import (
	"encoding/json"
	"time"
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
// 1; zero before the first turn. A live [ModelDelta] has no Seq, because it is
// in no log.
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
