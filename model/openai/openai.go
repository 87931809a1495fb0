// Package openai implements models of OpenAI and of compatible servers, always streamed, behind
// either of two APIs: the Responses API at the hosts of OpenAI and Azure, and Chat Completions
// elsewhere. [Options.API] chooses the other one.
//
// What a request may contain follows from the model sheet: temperature only for a model that
// takes one, an effort that it has, and a summary of its thinking where it thinks. A server may
// know better. If it refuses a field or its value, or names the other API, the request is
// changed and sent again in the same attempt, later requests of the process are changed from the
// start, and the notes of the reply say so.
//
// In both APIs:
//
//   - An output schema is sent as json_schema, not strict, because strict mode refuses most
//     schemas; the reply is validated anyway.
//   - Calls keep the provider's ids where they are unique, because some servers accept no
//     others, and get the run's own where they are not.
//   - Reasoning goes back only to the model and the account that it came from, with what it led
//     to. A request that is refused because of it goes once more without.
//   - Whatever stands in the conversation is sent as something the API takes: names of tools that
//     break its rules with _ in them, arguments that are no object as an empty one, text that is
//     not Unicode with U+FFFD. A picture the API would refuse is replaced by a text that says why.
//   - Options of the sampling are put into the request under their own names and replace existing
//     fields; null removes a field. The objects reasoning and text join the run's own.
//
// Chat Completions of compatible servers differ, so the reader follows what a delta can mean and
// not what one server sends: see the comments on its types. The limit of a reply is
// max_completion_tokens at OpenAI, and max_tokens elsewhere; [Options.MaxTokensKey] overrides
// this. Pictures in results follow in a user message, because results can only be text.
//
// In the Responses API the provider stores nothing: each request has the whole conversation, and
// reasoning comes and goes encrypted. Hosted tools have max_tool_calls for all of them together,
// and their items go back as they came. A stream is complete only after response.completed or
// response.incomplete.
package openai

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var vendor = &provider.Vendor{
	Name:     "openai",
	Endpoint: "https://api.openai.com/v1",
	Hosts:    []string{"api.openai.com", ".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com", ".api.cognitive.microsoft.com"}, // Azure serves its models, too
	Keys:     []string{"OPENAI_API_KEY"},
	Base:     "OPENAI_BASE_URL",
	Header: func(h http.Header, key string) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	},
	Classify: classify,
}

// An API is one of the two ways to ask a model.
type API string

// The APIs.
const (
	Responses API = "responses"
	Chat      API = "chat" // Chat Completions
)

// Options are what a model may be given beside its name.
type Options struct {
	APIKey       string       // empty: OPENAI_API_KEY, which servers other than OpenAI's may not need
	BaseURL      string       // with /v1; empty: OPENAI_BASE_URL, or OpenAI's own
	HTTPClient   *http.Client // nil: http.DefaultClient; no redirect is followed
	API          API          // empty: Responses at OpenAI and Azure, Chat elsewhere
	MaxTokensKey string       // what Chat Completions of the server call the limit of a reply; empty: see the package
	Price        *pawl.Price  // nil: that of the model sheet, if it knows the model

	// Key gives the key in the place of APIKey, for keys that change while runs
	// go on. It is asked before each request, with an empty refused, and may
	// answer from memory. When the server refuses a key with 401, it is asked
	// once more, with that key; if it gives another, the request is sent once
	// more with that. Otherwise, and when it fails at first, the call fails with
	// class auth. It may be called by many runs at once, and its ctx ends with
	// the call.
	Key func(ctx context.Context, refused string) (string, error)

	// Provider is the name of another provider that speaks this API. It takes the place of
	// openai in the model's name, and the environment is not read: a key of one provider is
	// never sent to another.
	Provider string
	Header   http.Header // sent with each request
}

// A Model is a model of OpenAI or of a compatible server. It may be used by many runs at once.
type Model struct {
	server provider.Server
	api    API    // that is asked first
	limit  string // the server's name for the limit of a reply in Chat Completions
}

// New returns the model with a name, such as gpt-6.2-sol. It reads the
// environment once. A missing key is reported by the first call of the model.
func New(name string, o *Options) *Model {
	o = cmp.Or(o, &Options{})
	m := &Model{
		server: vendor.Server("openai", name, provider.Options{APIKey: o.APIKey, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Price: o.Price, Key: o.Key, Provider: o.Provider, Header: o.Header}),
		api:    o.API, limit: o.MaxTokensKey,
	}
	if m.api == "" {
		m.api = Chat
		if m.server.Official() && m.server.Traits.Endpoint != string(Chat) {
			m.api = Responses
		}
	}
	if m.limit == "" {
		m.limit = olderLimit
		if m.server.Official() {
			m.limit = newerLimit
		}
	}
	return m
}

// Describe returns the name openai/NAME, the endpoint, and the price if it is
// given or the model sheet has it.
func (m *Model) Describe() pawl.ModelInfo {
	// The sizes of what is written around a request, with the longest ids. OpenAI publishes no
	// count of tokens that it adds for tools.
	return m.server.Describe(pawl.Wire{Frame: 500 + len(m.server.Name), Message: 150, Tool: 100})
}

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Takes implements engine.Taker: pictures and PDFs, or sounds, as OpenAI's models take
// them. What another server takes is not known: it gets all three.
func (m *Model) Takes(files []pawl.File) error {
	return m.limits(m.asks(m.server.Lessons()) == Chat).Takes(m.server.Full, files)
}

// Hosts implements tool.Host: in the Responses API web_search, and code_execution by the code
// interpreter.
func (m *Model) Hosts(tools []pawl.ToolInfo) error {
	if _, hosted := provider.Split(tools); m.api == Chat && len(hosted) > 0 {
		return fmt.Errorf("%s does not run %s itself in Chat Completions; the Responses API does (wire: openai-responses)", m.server.Full, hosted[0].Name)
	}
	return provider.Hosts(m.server.Full, tools)
}

// Stream sends the request and yields the reply as it arrives.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	a := &asking{Model: m, r: r, lessons: m.server.Lessons()}
	return m.server.Stream(ctx, r, a.next)
}

// endpoint is the field under which a lesson about the API is kept.
const endpoint = "the endpoint"

// asks returns the API to ask.
func (m *Model) asks(l *provider.Lessons) API {
	taught, _ := l.Of(endpoint)
	api, _ := taught.Instead.(API)
	return cmp.Or(api, m.api)
}
