// Package openai implements models behind two APIs of OpenAI and of compatible
// servers, always streamed: [New] uses Chat Completions, [NewResponses] the
// Responses API.
//
// Servers implement Chat Completions differently, so requests use what most of
// them accept:
//
//   - The limit of a reply is max_completion_tokens at OpenAI, whose reasoning
//     models refuse the older name, and max_tokens elsewhere, where the newer
//     one is often ignored. [Options.MaxTokensKey] overrides this. A request
//     that is refused because of the name is sent once more with the other; if
//     the server accepts that, later requests use it.
//   - An output schema is sent as response_format json_schema, not strict,
//     because strict mode refuses most schemas; the reply is validated anyway.
//   - ThinkingTokens has no equivalent and is not sent; set reasoning_effort
//     or the server's own option.
//   - Calls keep the provider's ids where they are unique, because some servers
//     accept no others, and get the run's own where they are not.
//   - Reasoning received as reasoning_content or reasoning is sent back under
//     that name with its calls, because some servers refuse the results of
//     calls without it. Reasoning without calls is left out.
//   - Pictures in results follow in a user message, because results can only
//     be text.
//
// Options of the sampling are put into the request under their own names and
// replace existing fields; null removes a field, as in {"stream_options": null}
// for a server that does not support it.
//
// A stream is complete after a finish reason and then [DONE] or an orderly end;
// some servers omit [DONE].
//
// In both, whatever stands in the conversation is sent as something the API
// takes: names of tools that break its rules with _ in them, arguments that are
// no object as an empty one, text that is not Unicode with U+FFFD. A picture the
// API would refuse is replaced by a text that says why.
package openai

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

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

// Options are what a model may be given beside its name.
type Options struct {
	APIKey       string       // empty: OPENAI_API_KEY, which servers other than OpenAI's may not need
	BaseURL      string       // with /v1; empty: OPENAI_BASE_URL, or OpenAI's own
	HTTPClient   *http.Client // nil: http.DefaultClient; no redirect is followed
	MaxTokensKey string       // what Chat Completions of the server call the ceiling of a reply; empty: see the package
	Price        *pawl.Price  // nil: that of the price table at OpenAI and Azure, none elsewhere

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

func newServer(prefix, name string, o *Options) provider.Server {
	return vendor.Server(prefix, name, provider.Options{APIKey: o.APIKey, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Price: o.Price, Key: o.Key, Provider: o.Provider, Header: o.Header})
}

// describe is for [Model.body] and [Responses.body] as they write requests, with
// the longest ids. OpenAI publishes no count of tokens that it adds for tools.
func describe(s *provider.Server) pawl.ModelInfo {
	return s.Describe(pawl.Wire{Frame: 250 + len(s.Name), Message: 150, Tool: 100})
}

// A Model is a model of OpenAI or of a compatible server, spoken to through Chat
// Completions. It may be used by many runs at once.
type Model struct {
	server provider.Server
	limit  atomic.Value // the server's name for the limit of a reply, a string
}

// New returns the model with a name, such as gpt-5-mini. It reads the
// environment once. A missing key is reported by the first call of the model.
func New(name string, o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	m := &Model{server: newServer("openai", name, o)}
	switch {
	case o.MaxTokensKey != "":
		m.limit.Store(o.MaxTokensKey)
	case m.server.Official():
		m.limit.Store(newerLimit)
	default:
		m.limit.Store(olderLimit)
	}
	return m
}

// Describe returns the name openai/NAME, the endpoint, and the price if it is
// given, or if it is in the price table and requests go to OpenAI or Azure.
func (m *Model) Describe() pawl.ModelInfo { return describe(&m.server) }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Takes implements engine.Taker: pictures and PDFs, or sounds, as OpenAI's models take
// them. What another server takes is not known: it gets all three.
func (m *Model) Takes(files []pawl.File) error {
	return limits(&m.server, true).Takes(m.server.Full, files)
}

// Stream sends the request and yields the reply as it arrives.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		first, _ := m.limit.Load().(string)
		name := first
		for c, err := range m.server.Stream(ctx, r, func(refused error) (*provider.Attempt, error) {
			if refused != nil && !forLimit(refused, name) {
				return nil, refused
			}
			if refused != nil {
				name = otherLimit(name)
			}
			body, err := m.body(r, name)
			return &provider.Attempt{Path: "/chat/completions", Body: body, Reader: &turn{}}, err
		}) {
			if err == nil && name != first { // the server accepts this name
				m.limit.Store(name)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// The servers' names for the limit of a reply.
const (
	olderLimit = "max_tokens"
	newerLimit = "max_completion_tokens"
)

func otherLimit(name string) string {
	if name == newerLimit {
		return olderLimit
	}
	return newerLimit
}

// unsupported matches the messages for unknown parameters.
var unsupported = regexp.MustCompile(`(?i)unsupported|unrecogni[sz]ed|unknown|unexpected|extra|instead|\b(not|n't) (supported|permitted|allowed|recogni[sz]ed)`)

// forLimit reports whether a request was refused because of its name for the
// limit, and not because the limit is too high.
func forLimit(err error, name string) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	f, said := errors.AsType[fault](err)
	if !ok || !said || me.Class != pawl.ClassInvalid {
		return false
	}
	about := f.param == name || strings.Contains(f.message, name) || strings.Contains(f.message, otherLimit(name))
	return about && (unsupported.MatchString(f.message) || slices.ContainsFunc(f.kinds, unsupported.MatchString))
}
