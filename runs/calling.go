package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// calledKey is the key in an agent's source that marks it as made by [Calling].
const calledKey = "mcp_call"

// Calling returns an agent for a single call of one of an agent's tools by a client of an MCP
// server. It has the same tools, policies, approvals and limits; the client takes the place of
// the model. The agent's input is the call's arguments, and its run ends when the call is
// answered. To resume such a run, call Calling again with the original agent; [Called] tells
// from the source of a run's agent whether it is such a run.
//
// The goal, observer, stop condition and output of the original agent are left out, since
// no model thinks in such a run.
func Calling(agent pawl.Agent, tool string) (pawl.Agent, error) {
	if !slices.ContainsFunc(agent.Tools, func(t pawl.Tool) bool { return t.Info().Name == tool }) {
		return pawl.Agent{}, fmt.Errorf("agent %s has no tool %s", agent.Name, tool)
	}
	a := agent
	a.Prompt, a.Model, a.Fallback = "", caller(tool), nil
	a.Loop, a.Strategy, a.Builtins, a.Sampling = nil, pawl.StrategyNative, false, pawl.Sampling{}
	a.Stop, a.Goal, a.Observer, a.Output = stop.ToolCalled(tool), nil, nil, nil
	a.Source = marked(agent.Source, tool)
	return a, nil
}

// marked adds the called tool to a source. A source that is not a JSON object is left
// alone: its program resumes such runs itself.
func marked(source, tool string) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(source), &fields) != nil {
		return source
	}
	fields[calledKey], _ = json.Marshal(tool) // a string always marshals
	b, err := json.Marshal(fields)
	if err != nil {
		return source
	}
	return string(b)
}

// Called returns the tool that an agent with this source was made to call by [Calling]. It
// reports false if the agent was not made by Calling.
func Called(source string) (tool string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(source), &fields) != nil {
		return "", false
	}
	ok = json.Unmarshal(fields[calledKey], &tool) == nil && tool != ""
	return tool, ok
}

// caller takes the place of the model and makes one call, of this tool.
type caller string

// Describe returns a model that costs nothing.
func (c caller) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "mcp-client", Price: &pawl.Price{}}
}

// Stream makes the call, and ends after the call was answered or refused.
func (c caller) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return pawl.ModelFunc(c.reply).Stream(ctx, r)
}

func (c caller) reply(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	// No model runs, so next to no tokens are used; zero would count as not reported, and
	// the engine would estimate.
	used := pawl.Usage{Input: 1}
	if len(r.Messages) != 1 {
		return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "answered"}}, Usage: used}, nil
	}
	call := pawl.Call{ID: "call", Tool: string(c), Args: json.RawMessage(r.Messages[0].Text())}
	return pawl.Reply{Parts: []pawl.Part{call}, Usage: used}, nil
}
