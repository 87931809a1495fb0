package pawl

import (
	"encoding/json"

	"github.com/pawl-run/pawl/internal/names"
	"github.com/pawl-run/pawl/internal/wire"
)

// Reflected is a judgement of how the run is going. Confidence is 0 to 1.
// Hint, when not empty, is told to the model before its next turn.
type Reflected struct {
	Text       string
	Confidence float64
	By         string
	Hint       string
}

// Grounded says whether an answer is accepted, given what the run was told and
// found. A rejected one counts as no answer: the model goes on, and is told the
// Hint. An accepted one may come with a Hint, to look at the Claims once more.
type Grounded struct {
	OK     bool
	Claims []string // what is not supported
	By     string
	Hint   string
}

// CausesFound is what led to what, as a graph over the tool calls.
type CausesFound struct{ Graph json.RawMessage }

// Judgement is what a [ProgressJudged] found.
type Judgement int

// The judgements.
const (
	Refuted   Judgement = 1 + iota // the model called it done, the goal says it is not
	Repeating                      // it gets nowhere: its latest turns follow a pattern
	Hinted                         // a hint was put before the model
	Regressed                      // the last turn made the goal's measure worse
)

var judgements = names.Make[Judgement]("judgement", []string{"refuted", "repeating", "hinted", "regressed"})

// String returns the judgement's name in the log.
func (j Judgement) String() string { return judgements.String(j) }

// ProgressJudged says how the run gets on. Streak is how often what makes the
// pattern happened; of a regression, the turn that did it. Hint, when not empty,
// is told to the model before its next turn.
type ProgressJudged struct {
	Judgement Judgement
	Detail    string
	Streak    int
	Hint      string
}

// ProgressLogged is a message of the model's about its own progress.
type ProgressLogged struct {
	Call    string
	Message string
}

// MemoryStored keeps a value of the model's under a key, for the run.
type MemoryStored struct {
	Call  string
	Key   string
	Value json.RawMessage
}

// Type returns "reflected".
func (Reflected) Type() string { return "reflected" }

// Type returns "grounded".
func (Grounded) Type() string { return "grounded" }

// Type returns "causes.found".
func (CausesFound) Type() string { return "causes.found" }

// Type returns "progress.judged".
func (ProgressJudged) Type() string { return "progress.judged" }

// Type returns "progress.logged".
func (ProgressLogged) Type() string { return "progress.logged" }

// Type returns "memory.stored".
func (MemoryStored) Type() string { return "memory.stored" }

func (e *Reflected) code(c *wire.Coder) {
	c.String("text", &e.Text)
	c.Float("confidence", &e.Confidence)
	c.OptString("by", &e.By)
	c.OptString("hint", &e.Hint)
}

func (e *Grounded) code(c *wire.Coder) {
	c.Bool("ok", &e.OK)
	c.OptStrings("claims", &e.Claims)
	c.OptString("by", &e.By)
	c.OptString("hint", &e.Hint)
}

func (e *CausesFound) code(c *wire.Coder) { c.Raw("graph", &e.Graph) }

func (e *ProgressJudged) code(c *wire.Coder) {
	wire.Enum(c, "judgement", &e.Judgement, judgements)
	c.String("detail", &e.Detail)
	c.OptInt("streak", &e.Streak)
	c.OptString("hint", &e.Hint)
}

func (e *ProgressLogged) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("message", &e.Message)
}

func (e *MemoryStored) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("key", &e.Key)
	c.Raw("value", &e.Value)
}
