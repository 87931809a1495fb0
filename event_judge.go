package pawl

import (
	"encoding/json"

	"github.com/pawl-run/pawl/internal/names"
)

// Reflected is a judgement of how the run is going. Confidence is 0 to 1.
// Hint, when not empty, is told to the model before its next turn.
type Reflected struct {
	Text       string  `wire:"text"`
	Confidence float64 `wire:"confidence"`
	By         string  `wire:"by,omit"`
	Hint       string  `wire:"hint,omit"`
}

// Grounded says whether an answer is accepted, given what the run was told and
// found. A rejected one counts as no answer: the model goes on, and is told the
// Hint. An accepted one may come with a Hint, to look at the Claims once more.
type Grounded struct {
	OK     bool     `wire:"ok"`
	Claims []string `wire:"claims,omit"` // what is not supported
	By     string   `wire:"by,omit"`
	Hint   string   `wire:"hint,omit"`
}

// CausesFound is what led to what, as a graph over the tool calls.
type CausesFound struct {
	Graph json.RawMessage `wire:"graph"`
}

// Judgement is what a [ProgressJudged] found.
type Judgement int

// The judgements.
const (
	JudgedRefuted   Judgement = 1 + iota // the model called it done, the goal says it is not
	JudgedRepeating                      // it gets nowhere: its latest turns follow a pattern
	JudgedHinted                         // a hint was put before the model
	JudgedRegressed                      // the last turn made the goal's measure worse
)

var judgements = names.Make[Judgement]("judgement", []string{"refuted", "repeating", "hinted", "regressed"})

// String returns the judgement's name in the log.
func (j Judgement) String() string                { return judgements.String(j) }
func (j Judgement) MarshalText() ([]byte, error)  { return judgements.Marshal(j) }
func (j *Judgement) UnmarshalText(b []byte) error { return judgements.Unmarshal(j, b) }

// ProgressJudged says how the run gets on. Streak is how often what makes the
// pattern happened; of a regression, the turn that did it. Hint, when not empty,
// is told to the model before its next turn.
type ProgressJudged struct {
	Judgement Judgement `wire:"judgement,omit"`
	Detail    string    `wire:"detail"`
	Streak    int       `wire:"streak,omit"`
	Hint      string    `wire:"hint,omit"`
}

// ProgressLogged is a message of the model's about its own progress.
type ProgressLogged struct {
	Call    string `wire:"call"`
	Message string `wire:"message"`
}

// MemoryStored keeps a value of the model's under a key, for the run.
type MemoryStored struct {
	Call  string          `wire:"call"`
	Key   string          `wire:"key"`
	Value json.RawMessage `wire:"value"`
}
