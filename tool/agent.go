package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
)

// Agent makes a tool of an agent: each call of it is a run of that agent, a
// child of the run that calls; see [pawl.Delegate] for what that means. Its
// name and description are the agent's, its one argument, input, is what the
// agent is asked, and its result is the answer, a document when the agent
// declares an output. A child that ends otherwise than by success is an error
// to the model, with what it had to say.
//
// The agent's limits bound one such run. What is left of the parent's is shared
// among the calls of a reply, so that no child can spend what its parent does
// not have. Policies of the parent that say so are the child's as well.
func Agent(agent pawl.Agent, o *AgentOptions) pawl.Tool {
	if o == nil {
		o = &AgentOptions{}
	}
	info := pawl.ToolInfo{
		Name: o.Name, Description: o.Description, Input: o.Input, Effect: o.Effect,
		MaxOutput: o.MaxOutput, MaxCalls: o.MaxCalls, MaxParallel: o.MaxParallel, Alone: o.Alone, Exempt: o.Exempt, Trust: o.Trust,
	}
	if info.Name == "" {
		info.Name = agent.Name
	}
	if info.Description == "" {
		info.Description = agent.Description
	}
	if info.Input == nil {
		info.Input = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string",` +
			`"description":"What to do, with everything there is to know: nothing else of this conversation is seen."}},` +
			`"required":["input"]}`)
	}
	if info.Effect == 0 {
		info.Effect = most(agent)
	}
	return &delegate{declare(info, nil), agent, o.Input != nil}
}

// AgentOptions configure a tool made of an agent. The zero value is valid.
type AgentOptions struct {
	// Name and Description are what the calling model reads; empty: the agent's.
	Name, Description string
	// Input is the JSON Schema of the arguments, an object. The agent is then
	// asked with the arguments as a JSON text. Nil: one text, input.
	Input json.RawMessage
	// Effect is the effect of the whole run: one that is not a Read runs while
	// nothing else does. Zero: Read if every tool of the agent is, else Write.
	Effect pawl.Effect
	// MaxOutput, MaxCalls, MaxParallel, Alone and Exempt are as in [Options].
	MaxOutput, MaxCalls, MaxParallel int
	Alone, Exempt                    bool
	// Trust says whose words its answers are; zero: [pawl.Untrusted] if the results
	// of one of its tools are, else [pawl.Trusted].
	Trust pawl.Trust
}

// most is the effect of a run of an agent.
func most(agent pawl.Agent) pawl.Effect {
	for _, t := range agent.Tools {
		if t != nil && t.Info().Effect != pawl.Read {
			return pawl.Write
		}
	}
	return pawl.Read
}

type delegate struct {
	declared
	agent pawl.Agent
	whole bool // it is asked with all its arguments
}

// Agent returns the agent.
func (d *delegate) Agent() pawl.Agent { return d.agent }

// Ask returns the text that the agent is asked.
func (d *delegate) Ask(args json.RawMessage) (string, error) {
	if d.whole {
		return string(args), nil
	}
	var in struct {
		Input string `json:"input"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("its arguments cannot be read: %w", err)
	}
	return in.Input, nil
}

// Run fails: only an engine that supports child runs can run the agent.
func (d *delegate) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("an agent's runs are driven by an engine, not by its tool")
}
