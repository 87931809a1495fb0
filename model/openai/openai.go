// Package openai is a model behind one of two APIs of OpenAI and of servers that
// imitate it, always streamed: [New] speaks Chat Completions, [NewResponses] the
// Responses API.
//
// Chat Completions are one in name more than in detail, so what is sent is what
// most servers take:
//
//   - The ceiling of a reply is max_completion_tokens at OpenAI, whose reasoning
//     models refuse the older name, and max_tokens elsewhere, where the newer
//     one is often ignored. [Options.MaxTokensKey] decides otherwise. A request
//     that is refused for the one name is sent once more under the other; when
//     the server takes that, later requests have it at once.
//   - An output schema goes as response_format json_schema, not strict, since
//     strict mode refuses most schemas; the reply is validated anyway.
//   - ThinkingTokens has no counterpart and is not sent; set reasoning_effort
//     or what the server knows among the options.
//   - Calls keep the provider's ids where they are unique, because some servers
//     take no others, and get the run's own where they are not.
//   - Reasoning that came as reasoning_content or reasoning goes back under that
//     name with the calls it led to, because some servers refuse the results of
//     calls without it. Elsewhere it is left out.
//   - Pictures in results follow in a user message, for results can only be text.
//
// Options of the sampling are put into the request under their own names and
// replace what stands there; null takes it out, as in {"stream_options": null}
// for a server that does not know it.
//
// A stream is whole when a finish reason has come and then [DONE] or an orderly
// end; some servers leave [DONE] out.
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
	Hosts:    []string{"api.openai.com", ".openai.azure.com"}, // the latter serves its models, too
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
}

func newServer(prefix, name string, o *Options) provider.Server {
	return vendor.Server(prefix, name, provider.Options{APIKey: o.APIKey, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Price: o.Price, Key: o.Key})
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

// New makes the model of a name, such as gpt-5-mini. The environment is read
// here, once. A missing key shows when the model is first called.
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

// Describe names the model openai/NAME, where its requests go, and its price
// when that is given, or is in the price table and they go to OpenAI or Azure.
func (m *Model) Describe() pawl.ModelInfo { return describe(&m.server) }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Stream sends the request and yields the reply as it comes.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		first, _ := m.limit.Load().(string)
		name := first
		for c, err := range m.server.Stream(ctx, r, "/chat/completions", func(refused error) ([]byte, provider.Reader, error) {
			if refused != nil && !forLimit(refused, name) {
				return nil, nil, refused
			}
			if refused != nil {
				name = otherLimit(name)
			}
			body, err := m.body(r, name)
			return body, &turn{}, err
		}) {
			if err == nil && name != first { // the server takes this one
				m.limit.Store(name)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// The names that servers have for the limit of a reply.
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

// unsupported are the ways in which servers say that they do not know a parameter.
var unsupported = regexp.MustCompile(`(?i)unsupported|unrecogni[sz]ed|unknown|unexpected|extra|instead|\b(not|n't) (supported|permitted|allowed|recogni[sz]ed)`)

// forLimit reports whether a request was refused for its name of the limit. That
// the limit is too high is another matter, which the other name would not change.
func forLimit(err error, name string) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	f, said := errors.AsType[fault](err)
	if !ok || !said || me.Class != pawl.ClassInvalid {
		return false
	}
	about := f.param == name || strings.Contains(f.message, name) || strings.Contains(f.message, otherLimit(name))
	return about && (unsupported.MatchString(f.message) || slices.ContainsFunc(f.kinds, unsupported.MatchString))
}
