package pawl

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl/internal/jsonin"
)

// The tools that any agent may have. They need no effect: the machine answers
// them from the log, or asks a person.
const completeTool, pauseTool = "__complete__", "__pause_for_human__"

// builtin is a tool that is answered purely: facts returns what to record for a
// call; nil for the one that asks a person.
type builtin struct {
	info  ToolInfo
	facts func(s *State, c *call) []Event
}

func (b builtin) Info() ToolInfo { return b.info }

func (b builtin) Run(context.Context, Invocation) (Output, error) {
	return Output{}, errors.New(b.info.Name + " is answered by the machine and never run")
}

func builtins() []builtin {
	return []builtin{
		own(completeTool, "Finish: give the final answer. Call it alone, when the task is done.",
			`{"type":"object","properties":{"answer":{"description":"the final answer"},"confidence":{"type":"number","minimum":0,"maximum":1},"summary":{"type":"string"}},"required":["answer"]}`,
			func(_ *State, c *call) []Event {
				return []Event{Noted{By: completeTool, Name: "completion", Value: c.args()}, c.succeeds("accepted")}
			}),
		own(pauseTool, "Ask a person a question and wait for the answer.",
			`{"type":"object","properties":{"question":{"type":"string","minLength":1}},"required":["question"]}`, nil),
		own("__store_memory__", "Remember a value under a key for the rest of this run.",
			`{"type":"object","properties":{"key":{"type":"string","minLength":1},"value":{}},"required":["key","value"]}`,
			func(_ *State, c *call) []Event {
				a := c.given()
				return []Event{MemoryStored{Call: c.ID, Key: a.Key, Value: a.Value}, c.succeeds("stored")}
			}),
		own("__retrieve_memory__", "Recall the value stored under a key.",
			`{"type":"object","properties":{"key":{"type":"string","minLength":1}},"required":["key"]}`,
			func(s *State, c *call) []Event {
				key := c.given().Key
				value, ok := s.Memory(key)
				if !ok {
					return []Event{ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolFailed, Error: "nothing is stored under " + string(jsonin.Quote(key))}}
				}
				return []Event{ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: value}}
			}),
		own("__log_progress__", "Note how far you have come, for the people watching.",
			`{"type":"object","properties":{"message":{"type":"string","minLength":1}},"required":["message"]}`,
			func(_ *State, c *call) []Event {
				return []Event{ProgressLogged{Call: c.ID, Message: c.given().Message}, c.succeeds("noted")}
			}),
	}
}

func own(name, description, input string, facts func(*State, *call) []Event) builtin {
	return builtin{ToolInfo{Name: name, Description: description, Input: json.RawMessage(input), Effect: Read}, facts}
}

func (c *call) succeeds(text string) Event {
	return ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: jsonin.Quote(text)}
}

// given are the arguments of a call of one of these tools, which were validated.
func (c *call) given() (a struct {
	Key, Message, Question string
	Value                  json.RawMessage
}) {
	_ = json.Unmarshal(c.args(), &a)
	return a
}
