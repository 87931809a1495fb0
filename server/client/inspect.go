package client

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// A Request is a request to a model, rebuilt from the log, without secrets and without
// parts that only a provider may see.
type Request struct {
	Run       string       `json:"run"`
	Seq       uint64       `json:"seq"`      // of its model.called entry
	Previous  uint64       `json:"previous"` // the previous request of the same purpose; 0: none
	Iteration int          `json:"iteration"`
	Purpose   pawl.Purpose `json:"purpose"`
	Attempt   int          `json:"attempt"`
	Step      string       `json:"step,omitempty"` // of a workflow
	Model     string       `json:"model"`          // the requested model

	System    string          `json:"system"`
	Messages  []Message       `json:"messages"`
	Tools     []OfferedTool   `json:"tools"`
	Output    json.RawMessage `json:"output,omitempty"` // the JSON Schema of the reply
	MaxTokens int             `json:"max_tokens"`
	Sampling  Sampling        `json:"sampling"`

	ReservedTokens int      `json:"reserved_tokens"`   // estimated input plus the output limit
	Masked         []string `json:"masked"`            // calls whose results are left out
	Summary        string   `json:"summary,omitempty"` // replaces the earlier replies
}

// A Message is one turn of a conversation.
type Message struct {
	Role  string        `json:"role"` // user or assistant
	Parts []MessagePart `json:"parts"`
	// Cache says that later requests probably share the prefix up to here.
	Cache bool `json:"cache,omitempty"`
}

// A MessagePart is a piece of a message. Type is text, citation, thinking, call, result, image or file.
type MessagePart struct {
	Type   string          `json:"type"`
	Text   string          `json:"text,omitempty"`   // of text, thinking, results and files; of citations: the passage
	Title  string          `json:"title,omitempty"`  // of citations
	URL    string          `json:"url,omitempty"`    // of citations
	Call   string          `json:"call,omitempty"`   // of calls and results
	Tool   string          `json:"tool,omitempty"`   // of calls and results
	Args   json.RawMessage `json:"args,omitempty"`   // of calls
	Error  bool            `json:"error,omitempty"`  // the result is an error or a refusal
	Masked bool            `json:"masked,omitempty"` // the result is left out
	Media  string          `json:"media,omitempty"`  // of images and files: the type
	Bytes  int             `json:"bytes,omitempty"`  // of images and files: the size
}

// An OfferedTool is a tool in the form offered to the model.
type OfferedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input,omitempty"` // the JSON Schema of its arguments
}

// Sampling are the sampling parameters that were set.
type Sampling struct {
	Temperature *float64                   `json:"temperature,omitempty"`
	Effort      string                     `json:"effort,omitempty"`
	Options     map[string]json.RawMessage `json:"options,omitempty"`
}

// Stop is the tree of conditions that can end a run, evaluated after an entry.
type Stop struct {
	Run  string    `json:"run"`
	At   uint64    `json:"at"`
	Stop stop.Node `json:"stop"`
}

// Replayed is the outcome of a replay.
type Replayed struct {
	Run     string `json:"run"`
	Steps   int    `json:"steps"` // that are identical
	Agrees  bool   `json:"agrees"`
	Problem string `json:"problem,omitempty"` // the first difference
}
