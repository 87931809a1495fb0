package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonschema"
)

// New returns the agent with the steps as its loop, and with tools for the
// steps that run as child runs. Preparing the agent reports errors in the
// steps. Without a declared output, the result's output is the document of the
// last step, if it is one. An agent whose steps ask no model needs no model.
func New(agent pawl.Agent, steps ...Step) pawl.Agent {
	loop, tools := compile(agent, steps, nil, nil, []string{"steps"}, "")
	loop.source, _ = json.Marshal(steps) // preparing the agent reports what cannot be written
	return with(agent, loop, tools)
}

// with returns the agent with a loop and its tools.
func with(agent pawl.Agent, loop *Loop, tools []pawl.Tool) pawl.Agent {
	if agent.Output == nil {
		agent.Output = json.RawMessage(`{}`)
	} else if schema, err := jsonschema.Compile(agent.Output, nil); err == nil { // else the machine says so
		loop.output = schema
	}
	if agent.Strategy == pawl.StrategyJSON {
		loop.errs = append(loop.errs, errors.New("strategy: json is a way for a model to call tools; here the steps call them"))
	}
	if agent.Model == nil && !loop.asks {
		agent.Model = nobody{}
	}
	agent.Loop, agent.Tools = loop, append(slices.Clip(agent.Tools), tools...)
	return withGate(agent, loop)
}

// NoModel is the name of the model of a workflow that asks no model.
const NoModel = "none"

// nobody implements that model.
type nobody struct{}

// Stream fails.
func (nobody) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the workflow has no model, since no step of it asks one"})
	}
}

// Describe returns a price of zero.
func (nobody) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: NoModel, Price: &pawl.Price{}} }

// branchOf returns the agent of a branch: the workflow's agent with other
// steps. Stop conditions and observations belong to the workflow alone. The
// branch gets the workflow's policies except those that child runs inherit
// anyway.
func branchOf(agent pawl.Agent, name string, loop *Loop, tools []pawl.Tool) pawl.Agent {
	agent = inner(agent, name)
	agent.Loop, agent.Output = loop, json.RawMessage(`{}`)
	agent.Tools = append(slices.Clip(agent.Tools), tools...)
	if agent.Model == nil && !loop.asks {
		agent.Model = nobody{}
	}
	return withGate(agent, loop)
}

// inner returns the workflow's agent for a child run within it.
func inner(agent pawl.Agent, name string) pawl.Agent {
	agent.Name = strings.Trim(agent.Name+"-"+notName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	agent.Stop, agent.Goal, agent.Observer, agent.Source = nil, nil, nil, ""
	var policies []pawl.Policy
	for _, p := range agent.Policies {
		if _, ok := p.(interface {
			Inherited(*pawl.State, string) bool
		}); !ok {
			policies = append(policies, p)
		}
	}
	agent.Policies = policies
	return agent
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// asked is the tool that runs a step as a child run.
type asked struct {
	agent  pawl.Agent
	name   string
	effect pawl.Effect
	whole  bool // its input is data
	weight int

	follows, carry string // the step whose conversation it goes on with, and what of it
}

// mostTold is the maximal size of a child run's answer in bytes: it is data and
// must not be truncated.
const mostTold = 1 << 20

// Info declares the tool.
func (t *asked) Info() pawl.ToolInfo {
	input := `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`
	if t.whole {
		input = `{"type":"object","additionalProperties":true}`
	}
	return pawl.ToolInfo{
		Name: t.name, Description: t.agent.Description, Input: json.RawMessage(input), Effect: t.effect,
		MaxOutput: mostTold, Exempt: true, Weight: t.weight, Follows: t.follows, Carry: t.carry,
	}
}

// Agent returns the agent.
func (t *asked) Agent() pawl.Agent { return t.agent }

// Inner reports that the tool is for the workflow's steps only and is not
// offered to others when the agent's tools are served.
func (t *asked) Inner() bool { return true }

// Ask returns the input of the child run.
func (t *asked) Ask(args json.RawMessage) (string, error) {
	if t.whole {
		return string(args), nil
	}
	var in struct {
		Input string `json:"input"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("its input cannot be read: %w", err)
	}
	return in.Input, nil
}

// Run fails: the engine runs the agent as a child run instead.
func (t *asked) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("the steps of a workflow are driven by an engine, not by a tool")
}

// most returns the effect of a run of an agent. A branch counts as a Read: its
// own calls are checked individually, and branches may run in parallel.
func most(agent pawl.Agent) pawl.Effect {
	for _, t := range agent.Tools {
		if t != nil && t.Info().Effect != pawl.Read {
			return pawl.Write
		}
	}
	return pawl.Read
}
