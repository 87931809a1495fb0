package google

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

	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// connect makes the client. Its retries are off unless asked for, and what it
// would read of the environment is given here. It gets no key, since it would
// keep it; the transport has the key of now.
func (m *Model) connect(c *http.Client, key provider.Key) {
	client := *c
	w := &wire{base: cmp.Or(c.Transport, http.DefaultTransport), key: key, model: m.full()}
	if u, err := url.Parse(m.base); err == nil {
		w.host = u.Host
	}
	client.Transport = w
	m.client, m.broken = genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey:      "none", // it insists
		Backend:     genai.BackendGeminiAPI,
		HTTPClient:  &client,
		HTTPOptions: genai.HTTPOptions{BaseURL: m.base},
	})
}

// events sends a request and yields the data of the answer's events as they
// come, each valid until the next. A sequence without an error is a stream that
// ended in order.
func (m *Model) events(ctx context.Context, body map[string]any) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if m.keyless && m.base == endpoint {
			yield(nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + m.full() + "; set GEMINI_API_KEY"})
			return
		}
		if m.broken != nil {
			yield(nil, &pawl.ModelError{Class: pawl.ClassInvalid, Message: provider.Clip(m.broken.Error()), Err: m.broken})
			return
		}
		config := &genai.GenerateContentConfig{
			// The library would send requests of its own to go on where one broke off.
			AutomaticContinuation: new(bool),
			HTTPOptions: &genai.HTTPOptions{
				ExtrasRequestProvider: func(map[string]any) map[string]any { return body },
			},
		}
		p := &passage{}
		for _, err := range m.client.Models.GenerateContentStream(context.WithValue(ctx, passageKey{}, p), m.name, nil, config) {
			if err != nil {
				yield(nil, refused(err))
				return
			}
			if !yield(p.data, nil) {
				return
			}
		}
		if p.err != nil {
			yield(nil, p.err)
		}
	}
}

// refused tells what the library would not send from what could not be sent.
func refused(err error) error {
	if sent, ok := errors.AsType[*url.Error](err); ok && sent.Op != "parse" {
		return err
	}
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: provider.Clip(err.Error()), Err: err}
}

// A passage is what one answer hands past the library: the data of the event it
// was last given a blank for, and why there are no more.
type passage struct {
	events *provider.Events
	body   io.Closer
	blank  *bytes.Reader
	data   []byte
	err    error
}

type passageKey struct{}

// blank is an event that the library reads as a response without anything in it.
const blank = "data: {}\n\n"

// Read gives the library one blank for each event. The library asks for the next
// only when the last is dealt with, since its buffer is empty then. An error
// ends the blanks in order: the library would print it.
func (p *passage) Read(b []byte) (int, error) {
	if p.blank.Len() == 0 {
		if p.data, p.err = p.events.Next(); p.err != nil {
			if errors.Is(p.err, io.EOF) {
				p.err = nil
			}
			return 0, io.EOF
		}
		p.blank.Reset([]byte(blank))
	}
	return p.blank.Read(b)
}

// Close ends the connection. Nobody could do anything about an error.
func (p *passage) Close() error {
	_ = p.body.Close()
	return nil
}

// wire is the transport below the library.
type wire struct {
	base  http.RoundTripper
	host  string // whose key it is
	key   provider.Key
	model string
}

// RoundTrip lets only streams of events through. It bounds the bodies of errors,
// and makes an error of a success that is no such stream, such as the page of a
// proxy that wants a login.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := w.key.Send(req.Context(), func(key string) (*http.Response, error) {
		return w.send(req, key)
	}, func(err error) error {
		return &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + w.model + ": " + provider.Clip(err.Error()), Err: err}
	})
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	p, ours := req.Context().Value(passageKey{}).(*passage)
	switch {
	case !ours, res.StatusCode >= 300 && res.StatusCode < 400 && res.Header.Get("Location") != "":
		return res, nil
	case res.StatusCode < 300 && kind == "text/event-stream":
		p.events, p.body, p.blank = provider.NewEvents(res.Body), res.Body, bytes.NewReader(nil)
		res.Body = p
		return res, nil
	}
	body := provider.Body(res.Body)
	if f, ok := spoken(body); ok || res.StatusCode >= 300 {
		return nil, classified(res.StatusCode, res.Header, f, body)
	}
	return nil, &pawl.ModelError{
		Class:   pawl.ClassUnknown,
		Message: "the answer is " + cmp.Or(kind, "of no type") + ", not an event stream: " + provider.Clip(string(body)),
	}
}

// send sends a request with a key, though not to where a redirect leads, unless
// that is the same host. Google refuses a wrong key with 400; this makes it 401.
func (w *wire) send(req *http.Request, key string) (*http.Response, error) {
	try := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		try.Body = body
	}
	try.Header.Del("X-Goog-Api-Key")
	if key != "" && try.URL.Host == w.host {
		try.Header.Set("X-Goog-Api-Key", key)
	}
	res, err := w.base.RoundTrip(try)
	if err == nil && res.StatusCode == http.StatusBadRequest {
		body := provider.Body(res.Body)
		res.Body = io.NopCloser(bytes.NewReader(body))
		if f, _ := spoken(body); f.because("API_KEY_INVALID") {
			res.StatusCode = http.StatusUnauthorized
		}
	}
	return res, err
}
