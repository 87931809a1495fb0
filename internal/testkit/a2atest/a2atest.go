// Package a2atest helps to test servers of the Agent2Agent protocol.
package a2atest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// Agent is an agent that plays the scenarios of the conformance kit of the Agent2Agent
// protocol. It asks no model: the messageId of the client, which is the idempotency key of the
// run, says by its prefix what to do.
func Agent() pawl.Agent {
	return pawl.Agent{
		Name: "scenarios", Description: "Plays the scenarios of the A2A conformance kit.", Loop: scenarios{}, Tools: []pawl.Tool{tool.AskHuman()},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, errors.New("the scenarios ask no model")
		}),
	}
}

// scenarios is the loop of that agent.
type scenarios struct{}

// answers are what the scenarios that complete say. A longer prefix stands before its beginning.
var answers = []struct{ prefix, text string }{
	{"tck-complete-task", "Hello from TCK"},
	{"tck-artifact-text", "Generated text content"},
	{"tck-stream-artifact-text", "Streamed text content"},
	{"tck-stream-artifact-chunked", "chunk-1 chunk-2"},
	{"tck-stream-ordering-001", "Ordered output"},
	{"tck-stream-001", "Stream hello from TCK"},
	{"tck-stream-003", "Stream task lifecycle"},
	{"test-resubscribe-message-id", "Resubscribed"},
}

// Name returns "scenarios".
func (scenarios) Name() string { return "scenarios" }

// Next plays the scenario of the run's key.
func (scenarios) Next(s *pawl.State) pawl.Step {
	start, _ := s.Start()
	end := func(status pawl.Status, answer, why string) pawl.Step {
		return pawl.Finish{Answer: answer, Verdict: pawl.Verdict{Holds: true, Status: status, Condition: "scenario", Leaf: "scenario", Detail: why}}
	}
	key := start.Key[strings.LastIndexByte(start.Key, '/')+1:]
	if strings.HasPrefix(key, "tck-reject-task") {
		return end(pawl.StatusDenied, "", "rejected")
	}
	if strings.HasPrefix(key, "tck-input-required") || strings.HasPrefix(key, "test-resubscribe") {
		asked, begun := s.Step("ask")
		if !begun || !asked.Done {
			return pawl.Act{Calls: []pawl.Classified{{Call: pawl.Call{Tool: "ask_human", Args: json.RawMessage(`{"question":"Please provide input"}`)}, Step: "ask"}}}
		}
	}
	for _, a := range answers {
		if strings.HasPrefix(key, a.prefix) {
			return end(pawl.StatusSuccess, a.text, "complete")
		}
	}
	return end(pawl.StatusSuccess, "Echo: "+s.Input(), "complete")
}
