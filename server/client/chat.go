package client

import "encoding/json"

// ChatRequest asks an agent as OpenAI's Chat Completions API asks a model
// (https://platform.openai.com/docs/api-reference/chat). Members that are not here, such as
// temperature, are the agent's own affair and have no effect.
type ChatRequest struct {
	Model         string            `json:"model"` // the agent's name
	Messages      []ChatMessage     `json:"messages"`
	Stream        bool              `json:"stream,omitempty"`
	StreamOptions ChatStreamOptions `json:"stream_options,omitzero"`
	N             int               `json:"n,omitempty"`     // 1, if it is set
	Tools         []json.RawMessage `json:"tools,omitempty"` // none: the agent has its own
}

// UnmarshalJSON ignores unknown members.
func (r *ChatRequest) UnmarshalJSON(data []byte) error {
	type members ChatRequest
	return json.Unmarshal(data, (*members)(r))
}

// ChatStreamOptions are the options of a stream.
type ChatStreamOptions struct {
	IncludeUsage bool `json:"include_usage,omitempty"` // in a last chunk without choices
}

// ChatMessage is a message of the conversation. Content is a text or a list of parts: texts, pictures
// and files, these as data URLs.
type ChatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// ChatCompletion is an agent's reply, or a chunk of it.
type ChatCompletion struct {
	ID      string       `json:"id"` // chatcmpl- and the run
	Object  string       `json:"object"`
	Created int64        `json:"created"` // seconds since 1970
	Model   string       `json:"model"`
	Choices []ChatChoice `json:"choices"`
	Usage   *ChatUsage   `json:"usage,omitempty"`
}

// ChatChoice is the one choice of a reply or chunk.
type ChatChoice struct {
	Index        int        `json:"index"`
	Message      *ChatReply `json:"message,omitempty"`
	Delta        *ChatReply `json:"delta,omitempty"`
	FinishReason *string    `json:"finish_reason"` // stop, or length for a run that has reached a limit
}

// ChatReply is a reply's text or the next piece of it.
type ChatReply struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

// ChatUsage are the tokens of the run.
type ChatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// ChatModels are the agents as models.
type ChatModels struct {
	Object string      `json:"object"` // list
	Data   []ChatModel `json:"data"`
}

// ChatModel is an agent as a model. Created is zero: an agent has no date.
type ChatModel struct {
	ID      string `json:"id"` // the agent's name
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}
