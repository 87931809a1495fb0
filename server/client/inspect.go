package client

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// A Request is what was sent to a model, rebuilt from the log. What looks like a
// secret is left out, and so is what only a provider may see.
type Request struct {
	Run       string       `json:"run"`
	Seq       uint64       `json:"seq"`      // of the entry that says so
	Previous  uint64       `json:"previous"` // the one of the request of the same purpose before it; 0: there is none
	Iteration int          `json:"iteration"`
	Purpose   pawl.Purpose `json:"purpose"`
	Attempt   int          `json:"attempt"`
	Step      string       `json:"step,omitempty"` // of a loop of known steps
	Model     string       `json:"model"`          // that was asked

	System    string          `json:"system"`
	Messages  []Message       `json:"messages"`
	Tools     []OfferedTool   `json:"tools"`
	Output    json.RawMessage `json:"output,omitempty"` // the JSON Schema of the reply
	MaxTokens int             `json:"max_tokens"`
	Sampling  Sampling        `json:"sampling"`

	ReservedTokens int      `json:"reserved_tokens"`   // input expected and the most that the reply may have
	Masked         []string `json:"masked"`            // calls whose results are left out
	Summary        string   `json:"summary,omitempty"` // what stands for the replies before those that are there
}

// A Message is one turn of a conversation.
type Message struct {
	Role  string        `json:"role"` // user or assistant
	Parts []MessagePart `json:"parts"`
	// Cache says that requests are likely to be the same up to the end of it.
	Cache bool `json:"cache,omitempty"`
}

// A MessagePart is a piece of a message. Type is text, thinking, call, result or image.
type MessagePart struct {
	Type   string          `json:"type"`
	Text   string          `json:"text,omitempty"`   // of text, thinking and results
	Call   string          `json:"call,omitempty"`   // of calls and results
	Tool   string          `json:"tool,omitempty"`   // of calls and results
	Args   json.RawMessage `json:"args,omitempty"`   // of calls
	Error  bool            `json:"error,omitempty"`  // the result tells of an error or a refusal
	Masked bool            `json:"masked,omitempty"` // the result is left out
	Media  string          `json:"media,omitempty"`  // of images: the type
	Bytes  int             `json:"bytes,omitempty"`  // of images: how many
}

// An OfferedTool is a tool as the model is shown it.
type OfferedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input,omitempty"` // the JSON Schema of its arguments
}

// Sampling are the knobs of a model that were set.
type Sampling struct {
	Temperature *float64                   `json:"temperature,omitempty"`
	Thinking    int                        `json:"thinking,omitempty"` // tokens
	Options     map[string]json.RawMessage `json:"options,omitempty"`
}

// Stop is what can end a run, as it stands after an entry.
type Stop struct {
	Run  string    `json:"run"`
	At   uint64    `json:"at"`
	Stop stop.Node `json:"stop"`
}

// Replayed is the outcome of deciding a log again.
type Replayed struct {
	Run     string `json:"run"`
	Steps   int    `json:"steps"` // that agree
	Agrees  bool   `json:"agrees"`
	Problem string `json:"problem,omitempty"` // the first difference
}
