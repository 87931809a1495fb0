// Package anthropic implements models behind Anthropic's Messages API, always
// streamed.
//
// The model sheet says what a model takes. A request has
//
//   - thinking, shown as a summary: adaptive with an effort, or with a budget that follows from
//     the effort for older models. Effort none turns it off where that is possible;
//   - no temperature, top_p and top_k where the model refuses them, and no tool that it must call
//     where it cannot be forced;
//   - marks for the prompt cache behind the system prompt and the last message, unless they
//     are known to be too short for it;
//   - an output schema, if the API guarantees all of it; otherwise the prompt has the schema.
//
// What was changed for that is in the Notes of the reply. If the server refuses a field all the
// same, as a gateway may, the request goes again without it in the same attempt, and later ones
// at once.
//
// In a request,
//
//   - the results of a message come first, then the rest, and neighbouring messages
//     of one role are joined;
//   - calls and results have the provider's ids, or the run's own where those are not unique;
//   - thinking blocks are unchanged. They are left out if another model or account made them,
//     if the model binds them to what stood before them and that has changed, or if
//     nothing follows them;
//   - citations follow their texts;
//   - empty texts are left out;
//   - the called tools are declared by name, with the tool choice none, if there are
//     calls and no tools, which the API would refuse.
//
// Content that the API would refuse is adapted: invalid characters in names of tools
// become _, arguments that are not an object become an empty one, invalid UTF-8
// becomes U+FFFD, and a file outside the limits becomes a text with the reason.
//
// If a request is refused for its thinking blocks, as when a signature is no longer valid, it
// is sent once more without them; the refusal costs nothing. A model with a budget does not think
// in a turn whose calls have no thinking before them, because the API refuses that.
//
// Hosted tools are sent as the newest of the API's server tools that the model takes. Only the
// model may call them. Their blocks are sent back unchanged, calls with their results. Of the
// limits on their uses, the API enforces only that of the web search.
//
// Options of the sampling are put into the request under their own names. Objects
// join those of the request field by field; other values replace them; null removes a field.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var vendor = &provider.Vendor{
	Name:     "anthropic",
	Endpoint: "https://api.anthropic.com",
	Hosts:    []string{"api.anthropic.com", ".googleapis.com"}, // Vertex AI serves its models, too
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

// Options configure a model. The zero value is right.
type Options struct {
	APIKey     string       // empty: ANTHROPIC_API_KEY
	BaseURL    string       // without /v1; empty: ANTHROPIC_BASE_URL, or Anthropic's own
	HTTPClient *http.Client // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price  // nil: that of the model sheet

	// Key returns the key, in place of APIKey, for keys that change during a
	// run. It is called before each request, with an empty refused, and may
	// cache the key. When the API refuses a key with 401, it is called once
	// more with that key; if it returns another, the request is sent once more
	// with that. Otherwise, and when Key fails, the call fails with class auth.
	// It may be called concurrently, and its ctx ends with the call.
	Key func(ctx context.Context, refused string) (string, error)

	// Provider is the name of another provider that speaks this API. It takes the place of
	// anthropic in the model's name, and the environment is not read: a key of one provider is
	// never sent to another.
	Provider string
	Header   http.Header // sent with each request
}

// A Model is one of Anthropic's models. It is safe for concurrent use.
type Model struct{ server provider.Server }

// New returns the model with a name, such as claude-sonnet-5-5. It reads the
// environment once. A missing key is reported by the first call of the model.
func New(name string, o *Options) *Model {
	o = cmp.Or(o, &Options{})
	return &Model{vendor.Server("anthropic", name, provider.Options(*o))}
}

// Describe returns the name anthropic/NAME, the endpoint, what the model takes, and the price, if
// it is given or the sheet has it.
func (m *Model) Describe() pawl.ModelInfo {
	// The sizes of what [call.body] writes, with three marks for the cache.
	return m.server.Describe(pawl.Wire{Frame: 550 + len(m.server.Name), Message: 150, Tool: 100, Prompt: cmp.Or(m.server.Traits.ToolPrompt, mostToolPrompt)})
}

// mostToolPrompt is the most that Anthropic documents to add to the system prompt of a request
// with tools (https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing).
const mostToolPrompt = 804

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Takes implements engine.Taker: pictures and PDFs within the API's limits.
func (m *Model) Takes(files []pawl.File) error { return limits.Takes(m.server.Full, files) }

// Hosts implements tool.Host: web_search and code_execution.
func (m *Model) Hosts(tools []pawl.ToolInfo) error { return provider.Hosts(m.server.Full, tools) }

// Stream sends the request and yields the reply as it arrives.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	c := m.call(r)
	var req map[string]any
	return m.server.Stream(ctx, r, func(refused error) (*provider.Attempt, error) {
		if refused != nil && !c.learn(refused, req) {
			return nil, refused
		}
		var notes []string
		var err error
		if req, notes, err = c.body(); err != nil {
			return nil, err
		}
		body, err := provider.JSON(req)
		return &provider.Attempt{Path: "/v1/messages", Body: body, Reader: &turn{}, Lessons: c.lessons, Notes: notes}, err
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
