// Package anthropic is a model behind Anthropic's Messages API, always streamed.
//
// What it sends: each message's results first, then the rest; neighbouring
// messages of one role as one; calls and results under the run's own ids, which
// are unique where the provider's need not be; thinking blocks as they came,
// unless another model wrote them or nothing follows them; no empty text.
// Whatever stands in the conversation is sent as something the API takes: names
// of tools that break its rules with _ in them, arguments that are no object as
// an empty one, text that is no Unicode with U+FFFD. A picture the API would
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
//
// The library sends requests; the events of the answer are read here, since it
// passes over errors that come without a name, and over byte order marks.
package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"os"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/prices"
	"github.com/pawl-run/pawl/internal/provider"
)

const endpoint = "https://api.anthropic.com"

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
type Model struct {
	name    string
	base    string
	key     provider.Key
	keyless bool        // there is no key to be had
	price   *pawl.Price // given; nil: none
	client  sdk.Client
}

// New makes the model of a name, such as claude-sonnet-5. The environment is
// read here, once. A missing key shows when the model is first called.
func New(name string, o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	key := cmp.Or(o.APIKey, os.Getenv("ANTHROPIC_API_KEY"))
	m := &Model{
		name:    name,
		base:    strings.TrimRight(cmp.Or(o.BaseURL, os.Getenv("ANTHROPIC_BASE_URL"), endpoint), "/"),
		key:     o.Key,
		keyless: o.Key == nil && key == "",
	}
	if o.Price != nil {
		m.price = new(*o.Price)
	}
	if m.key == nil {
		m.key = provider.Fixed(key)
	}
	// The library's own retries, environment and telemetry stay off: the machine
	// retries, in the log, and what leaves the process is decided elsewhere.
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithBaseURL(m.base),
		option.WithHTTPClient(provider.Client(o.HTTPClient)),
		option.WithMiddleware(onlyStreams, m.authorized),
	}
	m.client = sdk.NewClient(opts...)
	return m
}

// Describe names the model anthropic/NAME, where its requests go, and its price
// when that is given, or is in the price table and they go to Anthropic.
func (m *Model) Describe() pawl.ModelInfo {
	info := pawl.ModelInfo{Name: m.full(), Endpoint: m.base, Wire: pawl.Wire{
		// As [Model.request] writes them, with three marks for the cache.
		Frame: 400 + len(m.name), Message: 150, Tool: 100, Prompt: toolPrompt(m.name),
	}}
	info.Price = m.price
	if r, ok := prices.Lookup("anthropic", m.name); ok && m.price == nil && provider.At(m.base, "api.anthropic.com") {
		info.Price = &pawl.Price{Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Long: pawl.Tier(r.Long)}
	}
	return info
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

func (m *Model) full() string { return "anthropic/" + m.name }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error {
	if m.keyless && m.base == endpoint {
		return errors.New("no key for " + m.full() + "; set ANTHROPIC_API_KEY")
	}
	return nil
}

// Stream sends the request and yields the reply as it comes.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if err := m.Ready(); err != nil {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: err.Error(), Err: err})
			return
		}
		for _, recall := range []bool{true, false} {
			params, opts, recalls, err := m.request(r, recall)
			if err != nil {
				yield(pawl.Chunk{}, err)
				return
			}
			again, begun := false, false
			for c, err := range m.attempt(ctx, params, opts) {
				if again = recalls && !begun && forThinking(err); again {
					break
				}
				begun = true
				if !yield(c, err) {
					return
				}
			}
			if !again {
				return
			}
		}
	}
}

// attempt sends a request once.
func (m *Model) attempt(ctx context.Context, params sdk.MessageNewParams, opts []option.RequestOption) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		t := turn{model: m.full(), limit: int(params.MaxTokens)}
		var res *http.Response
		if err := m.client.Post(ctx, "v1/messages", params, &res, append(opts, option.WithJSONSet("stream", true))...); err != nil {
			yield(pawl.Chunk{}, failure(ctx, err, t))
			return
		}
		defer res.Body.Close()
		events := provider.NewEvents(res.Body)
		for t.state != finished {
			data, err := events.Next()
			if err != nil {
				yield(pawl.Chunk{}, failure(ctx, err, t))
				return
			}
			chunk, err := t.read(data)
			if err != nil {
				yield(pawl.Chunk{}, err)
				return
			}
			if chunk != nil && !yield(*chunk, nil) {
				return
			}
		}
		provider.Drain(res.Body)
		reply, err := t.reply()
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		yield(pawl.Chunk{Reply: reply}, nil)
	}
}

// authorized sends a request with the key of now, and once more when that is
// refused and there is another.
func (m *Model) authorized(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	ctx := req.Context()
	return m.key.Send(ctx, func(key string) (*http.Response, error) {
		r := req.Clone(ctx)
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			r.Body = body
		}
		if key != "" {
			r.Header.Set("X-Api-Key", key)
		}
		return next(r)
	}, func(err error) error {
		return &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + m.full() + ": " + provider.Clip(err.Error()), Err: err}
	})
}

// onlyStreams bounds the bodies of errors, and makes an error of a success that
// is no event stream, such as the page of a proxy that wants a login: the
// library would read it as a stream without events.
func onlyStreams(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return res, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode < 400 && kind == "text/event-stream" {
		return res, nil
	}
	body := provider.Body(res.Body)
	if res.StatusCode >= 400 {
		res.Body = io.NopCloser(bytes.NewReader(body))
		return res, nil
	}
	var envelope struct{ Error json.RawMessage }
	if json.Unmarshal(body, &envelope) == nil && len(envelope.Error) > 0 {
		return nil, classified(0, res.Header, body)
	}
	return nil, &pawl.ModelError{
		Class:   pawl.ClassUnknown,
		Message: "the answer is " + cmp.Or(kind, "of no type") + ", not an event stream: " + provider.Clip(string(body)),
	}
}
