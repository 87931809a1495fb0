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

// A server is where requests go, and with what.
type server struct {
	name, base string
	prefix     string // what the model's name begins with
	key        provider.Key
	keyless    bool // there is no key to be had
	client     *http.Client
	price      *pawl.Price // given; nil: none
}

func newServer(prefix, name string, o *Options) server {
	key := cmp.Or(o.APIKey, os.Getenv("OPENAI_API_KEY"))
	s := server{
		name: name, prefix: prefix,
		base:    strings.TrimRight(cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"), endpoint), "/"),
		client:  provider.Client(o.HTTPClient),
		key:     o.Key,
		keyless: o.Key == nil && key == "",
	}
	if s.key == nil {
		s.key = provider.Fixed(key)
	}
	if o.Price != nil {
		s.price = new(*o.Price)
	}
	return s
}

// official reports whether requests go to OpenAI, or to its models at Azure.
func (s *server) official() bool {
	return provider.At(s.base, "api.openai.com", ".openai.azure.com")
}

func (s *server) full() string { return s.prefix + "/" + s.name }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (s *server) Ready() error {
	if s.keyless && s.base == endpoint {
		return errors.New("no key for " + s.full() + "; set OPENAI_API_KEY")
	}
	return nil
}

func (s *server) describe() pawl.ModelInfo {
	info := pawl.ModelInfo{Name: s.full(), Endpoint: s.base, Wire: pawl.Wire{
		// As [Model.body] and [Responses.body] write them, with ids of the longest.
		// OpenAI publishes no count of tokens that it adds for tools.
		Frame: 250 + len(s.name), Message: 150, Tool: 100,
	}}
	info.Price = s.price
	if r, ok := prices.Lookup("openai", s.name); ok && s.price == nil && s.official() { // elsewhere the name may be any model's
		info.Price = &pawl.Price{Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Long: pawl.Tier(r.Long)}
	}
	return info
}

// A reader makes a reply of the events of one stream.
type reader interface {
	// on takes the data of an event and says what there is to show.
	on(data []byte) ([]pawl.Chunk, error)
	// whole reports whether the stream may end here, and whether it must.
	whole() (may, must bool)
	// reply is the whole of a settled stream.
	reply() (*pawl.Reply, error)
	// failed is an error of an attempt that cost what is known so far.
	failed(class pawl.Class, message string) error
}

// stream sends a request and yields the reply as r reads it.
func (s *server) stream(ctx context.Context, path string, body []byte, r reader) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		res, err := s.send(ctx, path, body)
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		defer res.Body.Close()
		events, repaired := provider.NewEvents(res.Body), false
		for {
			may, must := r.whole()
			if must {
				break
			}
			data, err := events.Next()
			if may && (errors.Is(err, io.EOF) || errors.Is(err, provider.ErrHalfEvent)) {
				break
			}
			if err != nil {
				yield(pawl.Chunk{}, ended(ctx, err, r))
				return
			}
			data, broken := provider.Repair(data)
			repaired = repaired || broken
			chunks, err := r.on(data)
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
		provider.Drain(res.Body)
		reply, err := r.reply()
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		reply.Repaired = repaired
		yield(pawl.Chunk{Reply: reply}, nil)
	}
}

// ended says why a stream ended before its reply was whole.
func ended(ctx context.Context, err error, r reader) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		return r.failed(pawl.ClassTruncated, "the stream ended before the reply did")
	case errors.Is(err, provider.ErrHalfEvent):
		return r.failed(pawl.ClassTruncated, "the stream ended inside an event")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return r.failed(pawl.ClassTruncated, "the stream broke off")
	case errors.Is(err, provider.ErrEventTooLong):
		return r.failed(pawl.ClassUnknown, err.Error())
	}
	e := r.failed(pawl.ClassNetwork, provider.Clip(err.Error()))
	if me, ok := errors.AsType[*pawl.ModelError](e); ok {
		me.Err = err
	}
	return e
}

// send posts a request and gives back only a response that is a stream.
func (s *server) send(ctx context.Context, path string, body []byte) (*http.Response, error) {
	if err := s.Ready(); err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: err.Error(), Err: err}
	}
	res, err := s.key.Send(ctx, func(key string) (*http.Response, error) {
		return s.post(ctx, path, key, body)
	}, func(err error) error {
		return &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + s.full() + ": " + provider.Clip(err.Error()), Err: err}
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
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

func (s *server) post(ctx context.Context, path, key string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the base URL of " + s.full() + " is no URL", Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := s.client.Do(req)
	if redirect, ok := errors.AsType[*provider.RedirectError](err); ok {
		return nil, &pawl.ModelError{Class: pawl.ClassInvalid, Message: redirect.Error()}
	}
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassNetwork, Message: provider.Clip(err.Error()), Err: err}
	}
	return res, nil
}
