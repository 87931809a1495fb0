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

// New returns the agent with the steps for its loop, and what they run in child
// runs among its tools. What is wrong with the steps is told when the agent is
// prepared. An agent that declares no output has the document that its last
// step came to, if it is one, as the output of its result; one whose steps ask
// no model needs none.
func New(agent pawl.Agent, steps ...Step) pawl.Agent {
	loop, tools := compile(agent, steps, nil, nil)
	if agent.Output == nil {
		agent.Output = json.RawMessage(`{}`)
	} else if schema, err := jsonschema.Compile(agent.Output, nil); err == nil { // else the machine says so
		loop.output = schema
	}
	if agent.Strategy == pawl.JSON {
		loop.errs = append(loop.errs, errors.New("strategy: json is a way for a model to call tools; here the steps call them"))
	}
	loop.source = declare(steps)
	if agent.Model == nil && !loop.asks {
		agent.Model = nobody{}
	}
	agent.Loop, agent.Tools = loop, append(slices.Clip(agent.Tools), tools...)
	return agent
}

// NoModel is the name of the model of a workflow that asks none.
const NoModel = "none"

// nobody is that model.
type nobody struct{}

// Stream fails.
func (nobody) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the workflow has no model, since no step of it asks one"})
	}
}

// Describe says that it costs nothing.
func (nobody) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: NoModel, Price: &pawl.Price{}} }

// branchOf is the agent that a branch is: the workflow's, with other steps.
// What ends the workflow, and what it observes, are the workflow's own; its
// policies are the branch's, too, but for those a child run inherits anyway.
func branchOf(agent pawl.Agent, name string, loop *Loop, tools []pawl.Tool) pawl.Agent {
	agent.Name = strings.Trim(agent.Name+"-"+notName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	agent.Stop, agent.Goal, agent.Observer, agent.Source = nil, nil, nil, ""
	agent.Loop, agent.Output = loop, json.RawMessage(`{}`)
	agent.Tools = append(slices.Clip(agent.Tools), tools...)
	if agent.Model == nil && !loop.asks {
		agent.Model = nobody{}
	}
	var policies []pawl.Policy
	for _, p := range agent.Policies {
		if i, ok := p.(interface{ Inherited() bool }); !ok || !i.Inherited() {
			policies = append(policies, p)
		}
	}
	agent.Policies = policies
	return agent
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// asked is the tool by which a step is a child run.
type asked struct {
	agent  pawl.Agent
	name   string
	effect pawl.Effect
	whole  bool // it is told data
}

// mostTold is how much may come of a child run, in bytes: it is data and may not be cut.
const mostTold = 1 << 20

// Info declares the tool.
func (t *asked) Info() pawl.ToolInfo {
	input := `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`
	if t.whole {
		input = `{"type":"object","additionalProperties":true}`
	}
	return pawl.ToolInfo{
		Name: t.name, Description: t.agent.Description, Input: json.RawMessage(input), Effect: t.effect,
		MaxOutput: mostTold, Exempt: true,
	}
}

// Agent returns the agent.
func (t *asked) Agent() pawl.Agent { return t.agent }

// Inner says that the tool is for the steps alone: whoever serves the agent's
// tools to others leaves it out.
func (t *asked) Inner() bool { return true }

// Ask returns what the agent is asked.
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

// Run is not for engines that know what a child run is.
func (t *asked) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("the steps of a workflow are driven by an engine, not by a tool")
}

// most is the effect of a run of an agent. That of a branch is no more than a
// Read: what its own calls do is held by theirs, and two branches may do it at once.
func most(agent pawl.Agent) pawl.Effect {
	for _, t := range agent.Tools {
		if t != nil && t.Info().Effect != pawl.Read {
			return pawl.Write
		}
	}
	return pawl.Read
}
