package workflow

import (
	"cmp"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
)

// A Step is one of the steps of a workflow: [Single], [Call], [Run], [Switch],
// [Parallel], [ForEach] or [While]. Its ID, of letters, digits, - and _, names
// it in the log and for later steps, which refer to its output as
// steps.ID.output. If is a condition; a step whose condition does not hold is
// skipped, and its output is null. Suspend has a person confirm the step. Weight is how many
// of the equal shares of what is left of the limits it gets, if it runs beside others: as
// the node of a graph, or in a branch of a Parallel, which has the largest weight of its
// steps; zero: 1.
type Step interface{ step() common }

// common are the fields that all steps have.
type common struct {
	id, when string
	suspend  Suspend
	weight   int
}

// Suspend says when a step waits for a person, who approves, denies or edits what
// it is given, or its output. A step that is denied has failed.
type Suspend int

// When a step waits. The zero value is not at all.
const (
	Before Suspend = 1 + iota // it runs; a person sees its prompt, arguments or input
	After                     // it ran; a person sees its output
)

var suspends = naming.NewEnum[Suspend]("suspend", []string{"before", "after"})

// String returns before or after.
func (s Suspend) String() string { return suspends.String(s) }

// Single asks the model once, with the agent's prompt and this one and without
// any earlier conversation. Its output is the reply: a text or, with a schema,
// a document that matches it. A reply that does not match is rejected at most
// twice. With Continues and Carry, which are those of [Run], the model sees the conversation
// of an earlier Single or Run; both are then child runs.
type Single struct {
	ID, If    string
	Suspend   Suspend
	Weight    int
	Prompt    string          // may contain {{REFERENCE}}
	Output    json.RawMessage // JSON Schema; nil: text
	Continues string
	Carry     string
}

// Call runs one of the agent's tools. A string in Args that consists of one
// {{REFERENCE}} is replaced by the value itself, such as a number, a list or an
// object.
type Call struct {
	ID, If  string
	Suspend Suspend
	Weight  int
	Tool    string
	Args    map[string]any
}

// Run runs another agent, which may be a workflow, as a child run.
type Run struct {
	ID, If  string
	Suspend Suspend
	Weight  int
	Agent   pawl.Agent
	Input   any // a text, or a value sent as JSON; nil: this workflow's input

	// Continues names a step that runs an agent, such as this one in a loop: the agent goes on
	// with the conversation of the latest run of that step. Empty: it begins one.
	Continues string
	// Carry is what it sees of it: "all", "summary", which is what that run was asked and what
	// it answered, or "last", what it was asked. Empty: all.
	Carry string
}

// Switch continues with the case that the value of On names, or with Default if
// there is no such case; if Default is nil, it fails. Its output is that of the
// last step it ran.
type Switch struct {
	ID, If  string
	Suspend Suspend
	Weight  int
	On      string
	Cases   map[string][]Step
	Default []Step
}

// Parallel runs all branches at once, each as a child run. Its output is the
// list of their outputs. Steps of one branch cannot be referred to outside it.
type Parallel struct {
	ID, If   string
	Suspend  Suspend
	Weight   int
	Branches [][]Step
}

// ForEach runs the same steps for every item of the list In, each as a child
// run, Width of them at once. Its output is the list of their outputs, with
// null for a failed item; steps.ID.errors holds the errors.
type ForEach struct {
	ID, If   string
	Suspend  Suspend
	Weight   int
	In       string
	As       string // the item's name in the steps; empty: item
	Width    int    // zero: 4
	Continue bool   // with the other items if one fails; else the workflow fails
	Do       []Step
}

// While repeats its steps while the condition holds, at most Max times. Its
// output is that of the last step it ran, and steps.ID.rounds the number of
// rounds. Within it, a reference to a step that has not run in this round
// yields the output of the previous round.
type While struct {
	ID, If  string
	Suspend Suspend
	Weight  int
	Cond    string
	Max     int
	Do      []Step
}

func (s Single) step() common   { return common{s.ID, s.If, s.Suspend, s.Weight} }
func (s Call) step() common     { return common{s.ID, s.If, s.Suspend, s.Weight} }
func (s Run) step() common      { return common{s.ID, s.If, s.Suspend, s.Weight} }
func (s Switch) step() common   { return common{s.ID, s.If, s.Suspend, s.Weight} }
func (s Parallel) step() common { return common{s.ID, s.If, s.Suspend, s.Weight} }
func (s ForEach) step() common  { return common{s.ID, s.If, s.Suspend, s.Weight} }
func (s While) step() common    { return common{s.ID, s.If, s.Suspend, s.Weight} }

// commonOf returns the common fields of a step, also of one that is nil.
func commonOf(s Step) common {
	if s == nil {
		return common{}
	}
	return s.step()
}

// Limits of a workflow, to stop a mistake before it becomes expensive.
const (
	MaxRounds = 1000  // of a While
	MaxWidth  = 64    // of a ForEach
	MaxItems  = 10000 // of a ForEach
)

// An Error is a problem in a step. Key is the name of the field in a spec, such
// as prompt or if.
type Error struct {
	Step, Key string
	Edge      int    // of a graph, from 1; zero: it is in a step
	Column    int    // within the text under Key, in characters from 1; zero: all of it
	Text      string // of a template or an expression under Key, which tells steps with the same id apart; else empty
	Message   string
}

// Error returns the problem with the step's id.
func (e *Error) Error() string {
	switch {
	case e.Edge > 0:
		return "edge " + e.Step + ": " + e.Key + ": " + e.Message
	case e.Step == "":
		return cmp.Or(e.Key, "steps") + ": " + e.Message
	}
	return "step " + e.Step + ": " + e.Key + ": " + e.Message
}
