package tool

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/pawl-run/pawl"
)

// ClientOptions is what a client's tool may say beyond what is required. Its
// zero value is right. A client is waited for without a deadline.
type ClientOptions struct {
	// Effect tells policies, such as a gate before every Write, what the call
	// does; zero is [pawl.Write].
	Effect pawl.Effect
	// Exempt says that equal calls are no sign of being stuck, as when polling.
	Exempt bool
	// Version is to be changed when the client does something else on the same
	// declaration.
	Version string
	// Trust says whose words the results are; see [Options].
	Trust pawl.Trust
	// Reaches names the arguments that say where a call goes, and Content those that
	// are prose for a reader; see [pawl.ToolInfo].
	Reaches, Content []string
	// Witness names files, relative to Dir, that whoever approves a call relies
	// on; see [Options]. Empty Dir is the caller's.
	Witness []string
	Dir     string
}

// Client declares a tool that the run's client carries out. A call of it parks
// the run until the result is handed in; input is the JSON Schema of the
// arguments, nil when there are none.
func Client(name, description string, input json.RawMessage, o *ClientOptions) pawl.Tool {
	if o == nil {
		o = &ClientOptions{}
	}
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

// Witness digests the declared files.
func (c *client) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	return c.relied(ctx, c.dir)
}

// Run always fails: there is nothing here to run.
func (*client) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("this tool is run by the client, who hands its result in")
}
