package pawl

import (
	"encoding/json"

	"github.com/pawl-run/pawl/internal/naming"
)

// Reflected is a judgement of how the run is going. Confidence is between 0 and
// 1. If Hint is not empty, the model reads it before its next turn.
type Reflected struct {
	Text       string  `wire:"text"`
	Confidence float64 `wire:"confidence"`
	By         string  `wire:"by,omit"`
	Hint       string  `wire:"hint,omit"`
}

// Grounded says whether an answer is supported by the run's inputs and results. A rejected
// answer does not end the run: the model reads Hint and goes on. An accepted answer may also
// have a Hint, which asks the model to check the Claims once more.
type Grounded struct {
	OK     bool     `wire:"ok"`
	Claims []string `wire:"claims,omit"` // what is not supported
	By     string   `wire:"by,omit"`
	Hint   string   `wire:"hint,omit"`
}

// CausesFound is a graph of the tool calls that says which led to which.
type CausesFound struct {
	Graph json.RawMessage `wire:"graph"`
}

// Judgement is what a [ProgressJudged] found.
type Judgement int

// The judgements.
const (
	JudgedRefuted   Judgement = 1 + iota // the model called it done, the goal says it is not
	JudgedRepeating                      // the run is stuck: its latest turns follow a pattern
	JudgedHinted                         // a hint was put before the model
	JudgedRegressed                      // the last turn made the goal's measure worse
)

var judgements = naming.NewEnum[Judgement]("judgement", []string{"refuted", "repeating", "hinted", "regressed"})

// String returns the judgement's name in the log.
func (j Judgement) String() string                { return judgements.String(j) }
func (j Judgement) MarshalText() ([]byte, error)  { return judgements.Marshal(j) }
func (j *Judgement) UnmarshalText(b []byte) error { return judgements.Unmarshal(j, b) }

// ProgressJudged says whether the run makes progress. Streak is how often the
// pattern repeated or, for a regression, the turn that caused it. If Hint is
// not empty, the model reads it before its next turn.
type ProgressJudged struct {
	Judgement Judgement `wire:"judgement,omit"`
	Detail    string    `wire:"detail"`
	Streak    int       `wire:"streak,omit"`
	Hint      string    `wire:"hint,omit"`
}

// ProgressLogged is a message by the model about its own progress.
type ProgressLogged struct {
	Call    string `wire:"call"`
	Message string `wire:"message"`
}

// MemoryStored keeps a value under a key until the end of the run.
type MemoryStored struct {
	Call  string          `wire:"call"`
	Key   string          `wire:"key"`
	Value json.RawMessage `wire:"value"`
}
