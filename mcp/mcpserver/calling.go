package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// callKey is where the source of an agent says that it is one of [Calling].
const callKey = "mcp_call"

// Calling makes the agent of a single call of one of an agent's tools: the same
// tools, policies, approvals and limits, and in place of the model the client
// that calls. Its input is the call's arguments, and it is done when the call
// is. The run of such an agent is resumed with what Calling makes of the agent
// it was made of; [CalledBy] tells from its source that it is one.
//
// A goal, an observer, a stop condition and what is asked of the answer are the
// agent's own business and left out: nobody thinks in such a run.
func Calling(agent pawl.Agent, tool string) (pawl.Agent, error) {
	known := false
	for _, t := range agent.Tools {
		known = known || t.Info().Name == tool
	}
	if !known {
		return pawl.Agent{}, fmt.Errorf("agent %s has no tool %s", agent.Name, tool)
	}
	a := agent
	a.Prompt, a.Model, a.Fallback = "", client{tool}, nil
	a.Loop, a.Strategy, a.Builtins, a.Sampling = nil, pawl.StrategyNative, false, pawl.Sampling{}
	a.Stop, a.Goal, a.Observer, a.Output = stop.ToolCalled(tool), nil, nil, nil
	a.Source = called(agent.Source, tool)
	return a, nil
}

// called writes into a source what is called. A source that is no JSON object
// is its program's own, who resumes such runs itself.
func called(source, tool string) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(source), &fields) != nil {
		return source
	}
	fields[callKey], _ = json.Marshal(tool) // a string always marshals
	b, err := json.Marshal(fields)
	if err != nil {
		return source
	}
	return string(b)
}

// CalledBy is the tool that an agent with this source was made to call by
// [Calling]; false: it was not.
func CalledBy(source string) (tool string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(source), &fields) != nil || json.Unmarshal(fields[callKey], &tool) != nil {
		return "", false
	}
	return tool, tool != ""
}

// client stands for the model: it makes the one call that somebody else wants.
type client struct{ tool string }

// Describe says that it costs nothing.
func (c client) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "mcp-client", Price: &pawl.Price{}}
}

// Stream makes the call, and after it has been answered, or refused, ends.
func (c client) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		reply, err := c.reply(r)
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

func (c client) reply(r pawl.Request) (pawl.Reply, error) {
	// Nobody reads, so next to no tokens are used; none at all would be taken for
	// not reported and estimated.
	used := pawl.Usage{Input: 1}
	if len(r.Messages) != 1 {
		return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "answered"}}, Usage: used}, nil
	}
	for _, p := range r.Messages[0].Parts {
		if text, ok := p.(pawl.Text); ok {
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{ID: "call", Tool: c.tool, Args: json.RawMessage(text.Text)}}, Usage: used}, nil
		}
	}
	return pawl.Reply{}, errors.New("the run has no input to make a call of")
}
