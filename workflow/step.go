package workflow

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
)

// A Step is one of the steps of a workflow: [Single], [Call], [Run], [Switch],
// [Parallel], [ForEach] or [While]. Its ID, of letters, digits, - and _, names it
// in the log and to the steps after it, which find what came of it as
// steps.ID.output. If is a condition; a step whose condition does not hold is
// left out, and its output is null.
type Step interface{ step() }

// Single asks the model once. It is shown the agent's prompt and this one, and
// nothing of what went before but what the prompt refers to. What comes of it is
// the reply: a text or, under a schema, the document that follows it. A reply
// that does not follow it is asked for again, twice at most.
type Single struct {
	ID, If string
	Prompt string          // in which {{REFERENCE}} stands for what it refers to
	Output json.RawMessage // JSON Schema; nil: text
}

// Call runs a tool of the agent's. A string among Args that is nothing but one
// {{REFERENCE}} stands for the value itself, be it a number, a list or an object.
type Call struct {
	ID, If string
	Tool   string
	Args   map[string]any
}

// Run asks another agent, which may be a workflow of its own, in a child run.
type Run struct {
	ID, If string
	Agent  pawl.Agent
	Input  any // text, or what becomes a JSON text; nil: what this workflow was asked
}

// Switch goes on with the case named by what On says. Where none is, it goes on
// with Default or, where that is nil, fails. What comes of it is what came of
// the last step it took.
type Switch struct {
	ID, If  string
	On      string
	Cases   map[string][]Step
	Default []Step
}

// Parallel takes all branches at once, each in a child run. What comes of it is
// the list of what came of them. Steps of one are not known to the others, nor
// to what follows.
type Parallel struct {
	ID, If   string
	Branches [][]Step
}

// ForEach takes the same steps for every item of the list that In says, each in
// a child run, Width of them at once. What comes of it is the list of what came
// of each, null where an item failed; steps.ID.errors then says why.
type ForEach struct {
	ID, If   string
	In       string
	As       string // what the steps call their item; empty: item
	Width    int    // zero: 4
	Continue bool   // with the other items when one fails; else the workflow fails
	Do       []Step
}

// While takes its steps again as long as the condition holds, Max times at
// most. What comes of it is what came of the last step it took, and
// steps.ID.rounds how often it took them. Within, a reference to a step that has
// not been taken in this round is to that of the round before.
type While struct {
	ID, If string
	Cond   string
	Max    int
	Do     []Step
}

func (Single) step()   {}
func (Call) step()     {}
func (Run) step()      {}
func (Switch) step()   {}
func (Parallel) step() {}
func (ForEach) step()  {}
func (While) step()    {}

// Bounds on what a workflow may ask for. They keep one that is wrong from
// being noticed by its bill.
const (
	MaxRounds = 1000  // of a While
	MaxWidth  = 64    // of a ForEach
	MaxItems  = 10000 // of a ForEach
)

// An Error is something wrong with a step, and where: Key is the name that the
// field at fault has in a spec, such as prompt or if.
type Error struct {
	Step, Key string
	Column    int // within the text under Key, from 1; zero: the whole of it
	Message   string
}

// Error names the step.
func (e *Error) Error() string {
	if e.Step == "" {
		return "steps: " + e.Message
	}
	return "step " + e.Step + ": " + e.Key + ": " + e.Message
}
