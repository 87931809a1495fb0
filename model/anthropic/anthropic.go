// Package anthropic is a model behind Anthropic's Messages API, always streamed.
//
// What it sends: each message's results first, then the rest; neighbouring
// messages of one role as one; calls and results under the run's own ids, which
// are unique where the provider's need not be; thinking blocks as they came,
// unless another model wrote them or nothing follows them; no empty text.
// Whatever stands in the conversation is sent as something the API takes: names
// of tools that break its rules with _ in them, arguments that are not an object as
// an empty one, text that is not Unicode with U+FFFD. A picture the API would
// refuse is replaced by a text that says why. The system prompt and the
// last message are marked for the prompt cache. When a request has no tools
// though its messages have calls, which the API refuses, the tools called are
// declared by name and the choice of tools is none.
//
// ThinkingTokens below 1024 ask for no thinking, because the API takes no
// smaller budget; models since Claude 4.6 decide on their own how much they
// think, so for them any budget just turns thinking on. A request for thinking
// drops the temperature, which the API would refuse. A request that is refused
// for its thinking, as when another model began the turn or a signature no longer
// counts, is sent once more without any; a refusal costs nothing.
//
// An output schema is sent as the API's own output format when the model has
// one and the schema is within what it can promise; otherwise it is left to
// validation of the reply. Options of the sampling are put into the request
// under their own names and replace what stands there; null takes it out.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var vendor = &provider.Vendor{
	Name:     "anthropic",
	Endpoint: "https://api.anthropic.com",
	Hosts:    []string{"api.anthropic.com"},
	Keys:     []string{"ANTHROPIC_API_KEY"},
	Base:     "ANTHROPIC_BASE_URL",
	Header: func(h http.Header, key string) {
		h.Set("Anthropic-Version", "2023-06-01")
		if key != "" {
			h.Set("X-Api-Key", key)
		}
	},
	Classify: classify,
}

// Options are what a model may be given beside its name.
type Options struct {
	APIKey     string       // empty: ANTHROPIC_API_KEY
	BaseURL    string       // without /v1; empty: ANTHROPIC_BASE_URL, or Anthropic's own
	HTTPClient *http.Client // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price  // nil: that of the price table at Anthropic, none elsewhere

	// Key gives the key in the place of APIKey, for keys that change while runs
	// go on. It is asked before each request, with an empty refused, and may
	// answer from memory. When the API refuses a key with 401, it is asked once
	// more, with that key; if it gives another, the request is sent once more with
	// that. Otherwise, and when it fails at first, the call fails with class auth.
	// It may be called by many runs at once, and its ctx ends with the call.
	Key func(ctx context.Context, refused string) (string, error)
}

// A Model is one of Anthropic's models. It may be used by many runs at once.
type Model struct{ server provider.Server }

// New makes the model of a name, such as claude-sonnet-5. The environment is
// read here, once. A missing key shows when the model is first called.
func New(name string, o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	return &Model{vendor.Server("anthropic", name, provider.Options(*o))}
}

// Describe names the model anthropic/NAME, where its requests go, and its price
// when that is given, or is in the price table and they go to Anthropic.
func (m *Model) Describe() pawl.ModelInfo {
	// As [Model.body] writes them, with three marks for the cache.
	return m.server.Describe(pawl.Wire{Frame: 400 + len(m.server.Name), Message: 150, Tool: 100, Prompt: toolPrompt(m.server.Name)})
}

// toolPrompt is how many tokens the system prompt has that Anthropic adds to
// requests with tools: 530 for Claude 3 Opus, 346 at most for the other models
// that its documentation lists, which differ by the choice of tools
// (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview#pricing).
func toolPrompt(model string) int {
	if strings.HasPrefix(model, "claude-3-opus") {
		return 530
	}
	return 346
}

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Stream sends the request and yields the reply as it comes.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return m.server.Stream(ctx, r, "/v1/messages", func(refused error) ([]byte, provider.Reader, error) {
		if refused != nil && !forThinking(refused) {
			return nil, nil, refused
		}
		body, err := m.body(r, refused == nil)
		return body, &turn{}, err
	})
}

var types = map[string]pawl.Class{
	"rate_limit_error":      pawl.ClassRateLimit,
	"overloaded_error":      pawl.ClassOverloaded,
	"api_error":             pawl.ClassOverloaded,
	"timeout_error":         pawl.ClassOverloaded,
	"authentication_error":  pawl.ClassAuth,
	"permission_error":      pawl.ClassAuth,
	"billing_error":         pawl.ClassQuota,
	"not_found_error":       pawl.ClassNotFound,
	"request_too_large":     pawl.ClassTooLong,
	"invalid_request_error": pawl.ClassInvalid,
}

// classify sorts an error by its type when the body names one, because proxies
// change statuses and events have none, and else by its status.
func classify(e *pawl.ModelError, status int, body []byte) bool {
	var f struct{ Type, Message string }
	raw, told := provider.Spoken(body)
	_ = json.Unmarshal(raw, &f) // what does not fit is left out; the rest still tells
	e.Message = provider.Message(f.Message, status, body)
	if class, ok := types[f.Type]; ok {
		e.Class = class
	}
	// Three things that the API tells only in words.
	said := strings.ToLower(e.Message)
	if e.Class == pawl.ClassInvalid {
		switch {
		case strings.Contains(said, "prompt is too long"), strings.Contains(said, "exceed context limit"), strings.Contains(said, "maximum context length"):
			e.Class = pawl.ClassTooLong
		case strings.Contains(said, "credit balance"), strings.Contains(said, "usage limit"):
			e.Class = pawl.ClassQuota
		case strings.Contains(said, "content filtering policy"):
			e.Class = pawl.ClassRefused
		}
	}
	return told
}

// forThinking reports whether a request was refused for the thinking in it or
// missing from it, which the API says in words alone.
func forThinking(err error) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	return ok && me.Class == pawl.ClassInvalid &&
		(strings.Contains(me.Message, "`thinking`") || strings.Contains(me.Message, "`redacted_thinking`"))
}
