package pawl

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl/internal/jsonin"
)

// The tools every agent may have without anybody writing them. They need no
// effect: the machine answers them from the log, or asks a person.
const (
	completeTool = "__complete__"
	pauseTool    = "__pause_for_human__"
	storeTool    = "__store_memory__"
	retrieveTool = "__retrieve_memory__"
	progressTool = "__log_progress__"
)

// builtin is a tool that is answered purely: facts says what to record for a
// call, nil for the one that asks a person.
type builtin struct {
	info  ToolInfo
	facts func(s *State, c *call) []Event
}

func (b builtin) Info() ToolInfo { return b.info }

func (b builtin) Run(context.Context, Invocation) (Output, error) {
	return Output{}, errors.New(b.info.Name + " is answered by the machine and never run")
}

func builtins() []Tool {
	return []Tool{
		builtin{ToolInfo{Name: completeTool, Effect: Read,
			Description: "Finish: give the final answer. Call it alone, when the task is done.",
			Input:       json.RawMessage(`{"type":"object","properties":{"answer":{"description":"the final answer"},"confidence":{"type":"number","minimum":0,"maximum":1},"summary":{"type":"string"}},"required":["answer"]}`),
		}, complete},
		builtin{ToolInfo{Name: pauseTool, Effect: Read,
			Description: "Ask a person a question and wait for the answer.",
			Input:       json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1}},"required":["question"]}`),
		}, nil},
		builtin{ToolInfo{Name: storeTool, Effect: Read,
			Description: "Remember a value under a key for the rest of this run.",
			Input:       json.RawMessage(`{"type":"object","properties":{"key":{"type":"string","minLength":1},"value":{}},"required":["key","value"]}`),
		}, store},
		builtin{ToolInfo{Name: retrieveTool, Effect: Read,
			Description: "Recall the value stored under a key.",
			Input:       json.RawMessage(`{"type":"object","properties":{"key":{"type":"string","minLength":1}},"required":["key"]}`),
		}, retrieve},
		builtin{ToolInfo{Name: progressTool, Effect: Read,
			Description: "Note how far you have come, for the people watching.",
			Input:       json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","minLength":1}},"required":["message"]}`),
		}, logProgress},
	}
}

func complete(_ *State, c *call) []Event {
	return []Event{
		Noted{By: completeTool, Name: "completion", Value: c.args()},
		ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: jsonin.Quote("accepted")},
	}
}

func store(_ *State, c *call) []Event {
	var a struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}
	_ = json.Unmarshal(c.args(), &a) // validated against the schema before
	return []Event{
		MemoryStored{Call: c.ID, Key: a.Key, Value: a.Value},
		ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: jsonin.Quote("stored")},
	}
}

func retrieve(s *State, c *call) []Event {
	var a struct {
		Key string `json:"key"`
	}
	_ = json.Unmarshal(c.args(), &a)
	value, ok := s.Memory(a.Key)
	if !ok {
		return []Event{ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolFailed, Error: "nothing is stored under " + string(jsonin.Quote(a.Key))}}
	}
	return []Event{ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: value}}
}

func logProgress(_ *State, c *call) []Event {
	var a struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(c.args(), &a)
	return []Event{
		ProgressLogged{Call: c.ID, Message: a.Message},
		ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: jsonin.Quote("noted")},
	}
}

// question is what a call of the pausing tool asks.
func question(c *call) string {
	var a struct {
		Question string `json:"question"`
	}
	_ = json.Unmarshal(c.args(), &a)
	return a.Question
}
