package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// A Caller makes the one call of a run in place of a model.
type Caller string

// The callers.
const (
	MCPClient Caller = "mcp-client" // a client of an MCP server
	Person    Caller = "person"     // somebody with a form
)

// The labels of a run that is a call by a person.
const (
	ToolLabel   = "call.tool"
	CallerLabel = "call.by"
)

// keys are the keys in an agent's source that mark it as made by [Calling].
var keys = map[Caller]string{MCPClient: "mcp_call", Person: "person_call"}

// Calling returns an agent for a single call of one of an agent's tools. It has the same
// tools, policies, approvals and limits; the caller takes the place of the model. The agent's
// input is the call's arguments, and its run ends when the call is answered: without success
// if a person made the call and it failed. To resume such a run, call Calling again with the
// original agent; [CalledBy] tells from the source of a run's agent whether it is such a run.
//
// The goal, observer, stop condition and output of the original agent are left out, since
// no model thinks in such a run.
func Calling(agent pawl.Agent, tool string, by Caller) (pawl.Agent, error) {
	known := false
	for _, t := range agent.Tools {
		known = known || t.Info().Name == tool
	}
	if !known {
		return pawl.Agent{}, fmt.Errorf("agent %s has no tool %s", agent.Name, tool)
	}
	a := agent
	a.Prompt, a.Model, a.Fallback = "", caller{tool, by}, nil
	a.Loop, a.Strategy, a.Builtins, a.Sampling = nil, pawl.StrategyNative, false, pawl.Sampling{}
	a.Stop, a.Goal, a.Observer, a.Output = stop.ToolCalled(tool), nil, nil, nil
	if by == Person {
		a.Stop = stop.Any(a.Stop, stop.Failed(stop.ToolErrors(1)))
	}
	a.Source = called(agent.Source, tool, by)
	return a, nil
}

// called adds the called tool to a source. A source that is not a JSON object is left
// alone: its program resumes such runs itself.
func called(source, tool string, by Caller) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(source), &fields) != nil {
		return source
	}
	fields[keys[by]], _ = json.Marshal(tool) // a string always marshals
	b, err := json.Marshal(fields)
	if err != nil {
		return source
	}
	return string(b)
}

// CalledBy returns the tool that an agent with this source was made to call by [Calling],
// and the caller. It reports false if the agent was not made by Calling.
func CalledBy(source string) (tool string, by Caller, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(source), &fields) != nil {
		return "", "", false
	}
	for by, key := range keys {
		if json.Unmarshal(fields[key], &tool) == nil && tool != "" {
			return tool, by, true
		}
	}
	return "", "", false
}

// caller takes the place of the model and makes the one call.
type caller struct {
	tool string
	by   Caller
}

// Describe returns a model that costs nothing.
func (c caller) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: string(c.by), Price: &pawl.Price{}}
}

// Stream makes the call, and ends after the call was answered or refused.
func (c caller) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		reply, err := c.reply(r)
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

func (c caller) reply(r pawl.Request) (pawl.Reply, error) {
	// No model runs, so next to no tokens are used; zero would count as not reported, and
	// the engine would estimate.
	used := pawl.Usage{Input: 1}
	if len(r.Messages) != 1 {
		return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "answered"}}, Usage: used}, nil
	}
	for _, p := range r.Messages[0].Parts {
		if text, ok := p.(pawl.Text); ok {
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{ID: "call", Tool: c.tool, Args: json.RawMessage(text.Text)}}, Usage: used}, nil
		}
	}
	return pawl.Reply{}, errors.New("the run has no input; the input must be the arguments of the call")
}
