package pawl

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// Role says whose turn a [Message] is. The system prompt is no message: it is [Request.System].
type Role int

// The roles. Tool results stand in a user message: providers want them in the next turn.
const (
	RoleUser Role = 1 + iota
	RoleAssistant
)

var roles = naming.NewEnum[Role]("role", []string{"user", "assistant"})

// String returns "user" or "assistant".
func (r Role) String() string { return roles.String(r) }

// A Message is one turn of the conversation a model sees.
// Messages handed to a [Model] are shared between requests and must not be changed.
type Message struct {
	Role  Role
	Parts []Part
}

// Text returns the message's text. The texts of a user stand apart as paragraphs; those of the
// model are pieces of one.
func (m Message) Text() string {
	if m.Role == RoleUser {
		return joinText(m.Parts, "\n\n")
	}
	return joinText(m.Parts, "")
}

// Moved returns the message with its thinking marked as [Thinking.Moved]. It shares all other parts.
func (m Message) Moved() Message {
	for i, p := range m.Parts {
		if t, ok := p.(Thinking); ok && !t.Moved {
			m.Parts = slices.Clone(m.Parts)
			t.Moved = true
			m.Parts[i] = t
		}
	}
	return m
}

// A Part is a piece of a message: [Text], [Citation], [Thinking], [Call], [ToolResult] or [File].
// The set is closed.
type Part interface{ part() }

// Text is prose.
type Text struct{ Text string }

// A Citation names the source of the [Text] before it. Quote is the cited passage; any of the three
// texts may be empty. Opaque is what the provider wants back, which only Model understands.
type Citation struct {
	Title, URL, Quote string
	Opaque            json.RawMessage
	Model             string
}

// Thinking is a model's reasoning, kept verbatim. Opaque is whatever the provider wants back with it
// (a signature, an encrypted item), byte for byte; it is never shown to anybody. Model names who produced
// it: opaque parts mean nothing to another model and are dropped when the run fails over to one. Account
// identifies the account at the provider, without its key; empty: the part holds for all accounts.
// Moved says, in a request, that the prompt, the tools or the messages before the part are no longer
// those that the model saw when it made it; some models refuse such parts.
type Thinking struct {
	Text    string
	Opaque  json.RawMessage
	Model   string
	Account string
	Moved   bool
}

// A Call is a model's request to run a tool. ID is given by the run (c_1, c_2, …), unique
// within it; Ref is the provider's id, for APIs that need it back. Args is valid JSON, though
// not always an object: arguments that were not JSON are a JSON string here, and are refused
// like any other invalid argument.
type Call struct {
	ID   string          `json:"call"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Ref  string          `json:"ref,omitzero"`
}

// ToolResult answers one [Call]. Content is a JSON value; a JSON string is shown to the model as its
// text. Failed says that Content tells of an error, a refusal or an unknown outcome.
type ToolResult struct {
	Call    string
	Ref     string
	Tool    string
	Content json.RawMessage
	Failed  bool
	Images  []File
}

// Text returns the content as a model should read it: the text of a JSON
// string, the JSON of anything else.
func (r ToolResult) Text() string { return wire.Plain(r.Content) }

// A File is a picture, a document, a sound, a text or any other file. Type is its media type, such as
// image/png. The log has the files of a run's input, and those that tools returned, by reference: Blob
// is the digest of Data, which the journal keeps apart. Only the pictures of tools stand in the log.
type File struct {
	Type   string `json:"type"`
	Data   []byte `json:"data,omitzero"`
	Name   string `json:"name,omitzero"`
	Blob   string `json:"blob,omitzero"`
	Bytes  int    `json:"bytes,omitzero"`
	Tokens int    `json:"tokens,omitzero"` // about the most that a provider counts for it
	Shown  int    `json:"shown,omitzero"`  // the bytes that a model reads of a text; zero: all
}

func (Text) part()       {}
func (Citation) part()   {}
func (Thinking) part()   {}
func (Call) part()       {}
func (ToolResult) part() {}
func (File) part()       {}

func joinText(parts []Part, between string) string {
	texts := make([]string, 0, 8)
	for _, p := range parts {
		if t, ok := p.(Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, between)
}
