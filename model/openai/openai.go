// Package openai is a model behind the Chat Completions API of OpenAI and of
// the many servers that speak it, always streamed.
//
// The API is one in name more than in detail, so what is sent is what most
// servers take:
//
//   - The ceiling of a reply is max_completion_tokens at OpenAI, whose reasoning
//     models refuse the older name, and max_tokens elsewhere, where the newer
//     one is often ignored. [Options.MaxTokensKey] decides otherwise.
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
package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/prices"
	"github.com/pawl-run/pawl/internal/provider"
)

const endpoint = "https://api.openai.com/v1"

// Options are what a model may be given beside its name.
type Options struct {
	APIKey       string       // empty: OPENAI_API_KEY, which servers other than OpenAI's may not need
	BaseURL      string       // with /v1; empty: OPENAI_BASE_URL, or OpenAI's own
	HTTPClient   *http.Client // nil: http.DefaultClient
	MaxTokensKey string       // what the server calls the ceiling of a reply; empty: see the package
}

// A Model is a model of OpenAI or of a compatible server. It may be used by
// many runs at once.
type Model struct {
	name, base, key string
	limit           string
	client          *http.Client
}

// New makes the model of a name, such as gpt-5-mini. The environment is read
// here, once. A missing key shows when the model is first called.
func New(name string, o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	m := &Model{
		name:   name,
		key:    cmp.Or(o.APIKey, os.Getenv("OPENAI_API_KEY")),
		base:   strings.TrimRight(cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"), endpoint), "/"),
		client: cmp.Or(o.HTTPClient, http.DefaultClient),
		limit:  o.MaxTokensKey,
	}
	if m.limit == "" {
		m.limit = "max_tokens"
		if m.official() {
			m.limit = "max_completion_tokens"
		}
	}
	return m
}

// official reports whether requests go to OpenAI, or to its models at Azure.
func (m *Model) official() bool {
	u, err := url.Parse(m.base)
	return err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com"))
}

// Describe names the model openai/NAME, where its requests go, and its price
// when the price table has a model of OpenAI of that name, whoever serves it.
func (m *Model) Describe() pawl.ModelInfo {
	info := pawl.ModelInfo{Name: m.full(), Endpoint: m.base}
	if r, ok := prices.Lookup("openai", m.name); ok {
		info.Price = &pawl.Price{Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite}
	}
	return info
}

func (m *Model) full() string { return "openai/" + m.name }

// Stream sends the request and yields the reply as it comes.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		body, limit, err := m.body(r)
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		res, err := m.send(ctx, body)
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		defer res.Body.Close()
		t := &turn{model: m.full(), limit: limit}
		stream := newEvents(res.Body)
		for t.state != finished {
			data, err := stream.next()
			if errors.Is(err, io.EOF) && t.state == stopping {
				break
			}
			if err != nil {
				yield(pawl.Chunk{}, t.ended(ctx, err))
				return
			}
			chunks, err := t.on(data)
			if chunks == nil && err == nil {
				chunks = []pawl.Chunk{{}} // a sign of life
			}
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
			if err != nil {
				yield(pawl.Chunk{}, err)
				return
			}
		}
		reply, err := t.reply()
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		yield(pawl.Chunk{Reply: reply}, nil)
	}
}

// send posts a request and gives back only a response that is a stream.
func (m *Model) send(ctx context.Context, body []byte) (*http.Response, error) {
	if m.key == "" && m.base == endpoint {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + m.full() + "; set OPENAI_API_KEY"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the base URL of " + m.full() + " is no URL", Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if m.key != "" {
		req.Header.Set("Authorization", "Bearer "+m.key)
	}
	res, err := m.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &pawl.ModelError{Class: pawl.ClassNetwork, Message: provider.Clip(err.Error()), Err: err}
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode < 300 && kind == "text/event-stream" {
		return res, nil
	}
	text := provider.Body(res.Body)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if e, ok := spoken(text); ok || res.StatusCode >= 300 {
		return nil, classified(res.StatusCode, res.Header, e, text)
	}
	return nil, &pawl.ModelError{
		Class:   pawl.ClassUnknown,
		Message: "the answer is " + cmp.Or(kind, "of no type") + ", not an event stream: " + provider.Clip(string(text)),
	}
}
