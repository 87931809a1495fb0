package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// The tools that any agent may have. They need no effect: the machine answers
// them from the log, or asks a person.
const completeTool, pauseTool = "__complete__", "__pause_for_human__"

// Who notes which tools were found, and as what.
const finds, foundNote = "__tools__", "found"

// builtin is a tool that is answered purely: facts returns what to record for a
// call; nil for the one that asks a person.
type builtin struct {
	info  ToolInfo
	facts func(s *State, c *call) []Event
}

func (b *builtin) Info() ToolInfo { return b.info }

func (b *builtin) Run(context.Context, Invocation) (Output, error) {
	return Output{}, errors.New(b.info.Name + " is answered by the machine and never run")
}

func builtins() []*builtin {
	return []*builtin{
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
					return []Event{ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolFailed, Error: "nothing is stored under " + string(wire.Quote(key))}}
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

func own(name, description, input string, facts func(*State, *call) []Event) *builtin {
	return &builtin{ToolInfo{Name: name, Description: description, Input: json.RawMessage(input), Effect: Read}, facts}
}

// deferTools marks the tools that are not in the core, and adds one that finds them.
// The model is shown what it finds from the next request on.
func (m *Machine) deferTools() error {
	things := make([][2]string, len(m.offer))
	for i := range m.offer {
		things[i] = [2]string{m.offer[i].Name, m.offer[i].Description}
	}
	m.index = naming.NewIndex(things, m.agent.Core)
	for i := range m.offer {
		m.offer[i].Deferred = m.index.Deferred(i)
		m.tools[m.offer[i].Name].info.Deferred = m.index.Deferred(i)
	}
	return errors.Join(m.index.Err(), m.add(own(naming.Tool, naming.About, naming.Input, func(_ *State, c *call) []Event {
		names, result := m.index.Answer(c.args())
		done := ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: result}
		if names == nil {
			return []Event{done}
		}
		return []Event{Noted{By: finds, Name: foundNote, Value: names}, done}
	}), true))
}

// core are the tools that are not deferred.
func core(tools []ToolInfo) []ToolInfo {
	return slices.DeleteFunc(slices.Clone(tools), func(t ToolInfo) bool { return t.Deferred })
}

// shown are the tools of a request: the core, and then those that were found.
func (m *Machine) shown(s *State) []ToolInfo {
	tools := slices.Clip(m.core)
	for _, name := range s.found {
		if t := s.declared().tool(name); t.Deferred {
			tools = append(tools, *t)
		}
	}
	return tools
}

// find has the model shown deferred tools. The provider's cache begins with the
// tools, so that it has nothing of the next request.
func (s *State) find(names ...string) {
	for _, name := range names {
		if t := s.declared().tool(name); t.Deferred && !slices.Contains(s.found, name) {
			s.found, s.cache.Fallback = append(s.found, name), -1
			s.prefix++
			s.counted.Bytes -= weigh([]ToolInfo{*t}).wire // so that they count as added since
		}
	}
}

// burden is the bytes of tools: as text, on the wire without what is around them,
// and of white space in their schemas, which may change freely.
type burden struct{ text, wire, white int }

func weigh(tools []ToolInfo) (b burden) {
	for i := range tools {
		t := &tools[i]
		spaces := wire.White(t.Input)
		b.text += len(t.Name) + len(t.Description) + len(t.Input) + messageBytes
		b.wire += len(t.Name) + wire.Quoted(t.Description) + wire.Quoted(string(t.Input)) - spaces
		b.white += spaces
	}
	return b
}

func (c *call) succeeds(text string) Event {
	return ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolOK, Result: wire.Quote(text)}
}

// given are the arguments of a call of one of these tools, which were validated.
func (c *call) given() (a struct {
	Key, Message, Question string
	Value                  json.RawMessage
}) {
	_ = json.Unmarshal(c.args(), &a)
	return a
}

// system is the system prompt of a request: the agent's, or the view's, and
// under the JSON strategy how to call the tools that the model is shown.
func (m *Machine) system(v View, tools []ToolInfo) string {
	prompt := m.agent.Prompt
	if v.System != "" {
		prompt = v.System
	}
	if m.agent.Strategy != StrategyJSON || v.Bare || m.single {
		return prompt
	}
	var actions [][3]string
	for _, t := range tools {
		actions = append(actions, [3]string{t.Name, t.Description, string(t.Input)})
	}
	return wire.Protocol(prompt, actions, completeTool, string(m.agent.Output))
}

// readJSONReply reads a reply under the JSON strategy: the one JSON object in its
// text becomes a call with this number. The second result says why the reply is
// rejected; empty: it is not.
func readJSONReply(r Reply, number int) (Reply, string) {
	action, input, flaw := wire.Action(r.Text())
	if flaw == "" {
		r.Parts = append(append([]Part(nil), r.Parts...), Call{ID: callID(number), Tool: action, Args: wire.Args(input)})
	}
	return r, flaw
}
