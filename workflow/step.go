package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Step is one step of a workflow, or one node of a graph. It does exactly one of Single, Tool,
// Agent, Switch, Parallel, ForEach and While; the fields below each of these belong to it. Its
// JSON is that of a spec, and part of the declaration of a run.
type Step struct {
	ID      string  `json:"id" such:"ask" about:"name in the log and in later steps, as in '{{steps.ID.output}}'"`                                                 // letters, digits, - and _; later steps refer to steps.ID.output
	If      string  `json:"if,omitempty" format:"expression" usual:"always" about:"[expression](workflow.md#data); the step is skipped unless it holds"`           // a condition; if it does not hold, the step is skipped and its output is null
	Suspend Suspend `json:"suspend,omitempty" enum:"before,after" about:"a person approves, denies or [edits](workflow.md#suspending) the step's input or output"` // a person confirms the step
	// Weight is the number of equal shares of the remaining limits that the step gets when it runs
	// beside others: as a node of a graph, or in a branch, which has the largest weight of its
	// steps. Zero means 1.
	Weight int `json:"weight,omitempty" usual:"1" about:"shares of the step, when branches or nodes that run at once [divide](workflow.md#budgets-and-children) the rest of the limits"`

	// Single asks the model once.
	Single *Single `json:"single,omitempty" about:"a request to the model, without tools"`

	// Tool is the name of a tool of the agent. A string in Args that consists of one
	// {{REFERENCE}} is replaced by the value itself, such as a number, a list or an object.
	Tool string         `json:"tool,omitempty" about:"call of a tool of the spec"`
	Args map[string]any `json:"args,omitempty" with:"tool" such:"{title: \"{{input}}\"}" usual:"none" about:"arguments, with '{{…}}' in their texts; a text that is only one '{{…}}' becomes the value itself"`

	// Agent is another agent, which may be a workflow, and runs as a child run. Its JSON is its
	// name. Without a model it uses the workflow's. Input is a text, or a value sent as JSON; nil
	// means the input of this workflow.
	Agent *pawl.Agent `json:"agent,omitempty" such:"./researcher.yaml" about:"spec of an agent, relative to this one, as a child run; without a model it uses this workflow's"`
	Input any         `json:"input,omitempty" with:"agent,workflow" types:"string,object,array" usual:"the workflow's" about:"input of the child run, with '{{…}}' in its texts"`

	// Continues names a step with Agent or Single, which may be this one in a loop. The step then
	// continues the conversation of the latest run of that step; both are child runs. Carry is the
	// part of it that the model sees: "all" (the default), "summary", which is the last request and
	// the answer, or "last", the last request.
	Continues string `json:"continues,omitempty" with:"single,agent" about:"a step whose latest [conversation](workflow.md#conversations) this step continues"`
	Carry     string `json:"carry,omitempty" with:"single,agent" enum:"all,summary,last" usual:"all" about:"this step sees that whole conversation, its last request and answer, or only its last request"`

	// Switch is an expression whose value names the case to run. Default runs if there is no such
	// case; if it is nil, the step fails. The output is that of the last step that ran.
	Switch  string            `json:"switch,omitempty" needs:"cases" format:"expression" about:"names the case, one of several lists of steps"`
	Cases   map[string][]Step `json:"cases,omitempty" with:"switch" such:"{yes: [{id: pay, tool: pay}]}" about:"steps of each case"`
	Default []Step            `json:"default,omitzero" with:"switch" usual:"the run fails" about:"steps of any other case"`

	// Parallel are branches that run at once, each as a child run. The output is the list of their
	// outputs. Steps of a branch cannot be referred to outside it.
	Parallel [][]Step `json:"parallel,omitempty" min:"1" such:"[[{id: a, tool: look}], [{id: b, tool: look}]]" about:"branches that run at once, each as a child run; the output is a list of their outputs"`

	// ForEach is an expression for a list. The steps of Do run for every item, each time as a child
	// run. The output is the list of their outputs, with null for an item that failed;
	// steps.ID.errors holds the errors.
	ForEach string `json:"for_each,omitempty" needs:"do" format:"expression" about:"a list; steps run for every item in a child run, and the output is a list of their outputs"`
	As      string `json:"as,omitempty" with:"for_each" usual:"item" about:"name of the item in the steps"`                                                    // name of the item in the steps; empty: item
	Width   int    `json:"width,omitempty" max:"64" with:"for_each" usual:"4" about:"items at once"`                                                           // items at once; zero: 4
	OnError string `json:"on_error,omitempty" with:"for_each" enum:"stop,continue" usual:"stop" about:"when an item fails: fail, or continue with the others"` // "stop" fails with the first item that fails (the default), "continue" does not

	// While is a condition. The steps of Do repeat while it holds, at most Max times. The output is
	// that of the last step that ran, and steps.ID.rounds the number of rounds. In Do, a reference
	// to a step that has not run in this round yields its output of the previous round.
	While string `json:"while,omitempty" needs:"max,do" format:"expression" about:"steps repeat while this holds; the output is that of the last step"`
	Max   int    `json:"max,omitempty" max:"1000" with:"while" such:"5" about:"most repetitions, with 'while'"`

	Do []Step `json:"do,omitempty" with:"for_each,while" min:"1" such:"[{id: ask, single: {prompt: …}}]" about:"the steps of 'for_each' or 'while'"`
}

// Single is a request to the model with the prompt of the agent and this one, without any earlier
// conversation. The output of the step is the reply: a text or, with a schema, a document that
// matches it. A reply that does not match is rejected at most twice.
type Single struct {
	Prompt string          `json:"prompt" about:"prompt, after that of the spec"`                                                            // may contain {{REFERENCE}}
	Output json.RawMessage `json:"output,omitempty" usual:"text" about:"schema of the reply; the model is asked again until its reply fits"` // JSON Schema; nil: text
}

// OneOf returns the schema of a reply that is one of the words, for use with Switch.
func OneOf(words ...string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"enum": words}) // strings always marshal
	return raw
}

// Suspend says when a step waits for a person, who approves, denies or edits its input or output.
// A step that is denied has failed. The zero value does not wait.
type Suspend string

// When a step waits.
const (
	Before Suspend = "before" // it runs; the person sees its prompt, arguments or input
	After  Suspend = "after"  // it ran; the person sees its output
)

// MarshalJSON returns the step with the name of its agent in place of the agent.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	out := struct {
		plain
		Agent string `json:"agent,omitempty"`
	}{plain: plain(s)}
	if s.Agent != nil {
		out.Agent = s.Agent.Name
	}
	return json.Marshal(out)
}

// actions are the keys of what a step can do.
var actions = []string{"single", "tool", "agent", "switch", "parallel", "for_each", "while"}

// action returns what a step does, or the problem that it does nothing or several things.
func (s *Step) action() (does, problem string) {
	for f, v := range reflect.ValueOf(s).Elem().Fields() {
		switch key := keyOf(f); {
		case v.IsZero() || !slices.Contains(actions, key):
		case does != "":
			return "", "a step is " + does + " or " + key + " (make two of it)"
		default:
			does = key
		}
	}
	if does == "" {
		problem = "the step does nothing (give it one of " + strings.Join(actions, ", ") + ")"
	}
	return does, problem
}

// misfits returns the problems with the fields of a step that does something, by their keys: a field
// belongs to another action, or its value is none that the tags allow. A spec says the same, since
// its schema has these tags.
func (s *Step) misfits(does string) map[string]string {
	wrong := map[string]string{}
	for f, v := range reflect.ValueOf(s).Elem().Fields() {
		key := keyOf(f)
		of, words := strings.Split(f.Tag.Get("with"), ","), strings.Split(f.Tag.Get("enum"), ",")
		most, _ := strconv.Atoi(cmp.Or(f.Tag.Get("max"), strconv.Itoa(math.MaxInt32)))
		switch {
		case v.IsZero() && (does != "while" || key != "max"):
		case of[0] != "" && !slices.Contains(of, does):
			wrong[key] = "it belongs to a step with " + strings.Join(of, " or ") + ", and this step has " + does
		case words[0] != "" && !slices.Contains(words, v.String()):
			wrong[key] = fmt.Sprintf("it is %q (write %s)", v.String(), strings.Join(words, " or "))
		case v.CanInt() && (v.Int() < 1 || v.Int() > int64(most)):
			wrong[key] = fmt.Sprintf("it is %d (write a number from 1 to %d)", v.Int(), most)
		}
	}
	return wrong
}

// keyOf returns the key of a field.
func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}

// MaxItems is the most items in the list of a step with ForEach, to stop a mistake before it becomes
// expensive.
const MaxItems = 10000

// An Error is a problem in a step or an edge. Path leads to it in the steps as a spec has them, from
// steps, nodes or edges: such as steps, 2, do, 0. Key is the name of its field in a spec, such as
// prompt or if.
type Error struct {
	Step    string // its id, or the ends of the edge
	Path    []string
	Key     string
	Column  int  // within the text under Key, in characters from 1; zero: all of it
	Follows bool // the problem may come from one in another place, such as a step that could not be read
	Message string
}

// Error returns the problem with the step's id.
func (e *Error) Error() string {
	what := "step "
	if len(e.Path) > 0 && e.Path[0] == "edges" {
		what = "edge "
	}
	if e.Step == "" {
		return cmp.Or(e.Key, "steps") + ": " + e.Message
	}
	return what + e.Step + ": " + e.Key + ": " + e.Message
}
