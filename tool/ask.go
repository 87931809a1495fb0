package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/pawl-run/pawl"
)

// AskHuman is the tool ask_human, with which a model asks a person a question. The run is
// suspended meanwhile, and the person's answer is the call's result. Other tools ask by returning
// [pawl.AskPerson] as their error.
func AskHuman() pawl.Tool { return askHuman{} }

type askHuman struct{}

// Info declares the one argument, the question.
func (askHuman) Info() pawl.ToolInfo {
	return pawl.ToolInfo{
		Name: "ask_human", Effect: pawl.Read,
		Description: "Ask a person a question and wait for the answer. Use it when something only a person can know or decide is missing.",
		Input:       json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"description":"one question, complete in itself"}},"required":["question"]}`),
	}
}

// Waits reports that the run may have to wait for a person.
func (askHuman) Waits() bool { return true }

// Run asks the question.
func (askHuman) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args struct{ Question string }
	if err := json.Unmarshal(inv.Args, &args); err != nil || args.Question == "" {
		return pawl.Output{}, errors.New("there is no question")
	}
	return pawl.Output{}, pawl.AskPerson{Question: args.Question}
}

// ClientOptions are the optional parts of a client tool. The zero value is valid. The run waits
// for the client without a deadline.
type ClientOptions struct {
	// Effect tells policies, such as an approval before every Write, what the call does;
	// zero is [pawl.Write].
	Effect pawl.Effect
	// Exempt says that equal calls do not count as being stuck, as when polling.
	Exempt bool
	// Version must change when the client does something else under the same
	// declaration.
	Version string
	// Trust is the trust in the results; see [Options].
	Trust pawl.Trust
	// Reaches names the arguments that say where a call goes, and Content those that
	// are prose for a reader; see [pawl.ToolInfo].
	Reaches, Content []string
	// Witness names files, relative to Dir, that the approver of a call relies on; see
	// [Options]. If Dir is empty, it is the working directory of this process.
	Witness []string
	Dir     string
}

// Client declares a tool that the run's client carries out. A call of it suspends the run until
// the client submits the result. Input is the JSON Schema of the arguments; nil: no arguments.
func Client(name, description string, input json.RawMessage, o *ClientOptions) pawl.Tool {
	o = cmp.Or(o, &ClientOptions{})
	return &client{dir: o.Dir, declared: declare(pawl.ToolInfo{
		Name: name, Description: description, Input: slices.Clone(input), Client: true,
		Effect: o.Effect, Exempt: o.Exempt, Version: o.Version, Trust: o.Trust,
		Reaches: slices.Clone(o.Reaches), Content: slices.Clone(o.Content),
	}, o.Witness)}
}

type client struct {
	declared
	dir string
}

// Witness returns the digests of the declared files.
func (c *client) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	return c.relied(ctx, c.dir)
}

// Run always fails: this process has nothing to run.
func (*client) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("this tool is run by the client, who hands its result in")
}
