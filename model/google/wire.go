package google

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
	"net/url"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// events sends a request and yields the data of the answer's events as they
// come, each valid until the next. A sequence without an error is a stream that
// ended in order.
func (m *Model) events(ctx context.Context, body map[string]any) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		res, err := m.send(ctx, body)
		if err != nil {
			yield(nil, err)
			return
		}
		defer res.Body.Close()
		events := provider.NewEvents(res.Body)
		for {
			data, err := events.Next()
			if errors.Is(err, io.EOF) || !yield(data, err) || err != nil {
				return
			}
		}
	}
}

// send posts a request and gives back only a response that is a stream of
// events. It bounds the bodies of errors, and makes an error of a success that
// is no such stream, such as the page of a proxy that wants a login.
func (m *Model) send(ctx context.Context, body map[string]any) (*http.Response, error) {
	if err := m.Ready(); err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: err.Error(), Err: err}
	}
	u, err := url.Parse(m.base)
	if err != nil {
		return nil, invalid("the base URL of %s is no URL: %v", m.full(), err)
	}
	if m.name == "" || strings.ContainsAny(m.name, "?&#%") || strings.Contains(m.name, "..") {
		return nil, invalid("%q is no name of a model", m.name)
	}
	u = u.JoinPath("v1beta", "models", m.name+":streamGenerateContent")
	u.RawQuery = "alt=sse"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, invalid("the request has no JSON form: %v", err)
	}
	res, err := m.key.Send(ctx, func(key string) (*http.Response, error) {
		return m.post(ctx, u, key, b.Bytes())
	}, func(err error) error {
		return &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + m.full() + ": " + provider.Clip(err.Error()), Err: err}
	})
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode < 300 && kind == "text/event-stream" {
		return res, nil
	}
	text := provider.Body(res.Body)
	if f, ok := spoken(text); ok || res.StatusCode >= 300 {
		return nil, classified(res.StatusCode, res.Header, f, text)
	}
	return nil, &pawl.ModelError{
		Class:   pawl.ClassUnknown,
		Message: "the answer is " + cmp.Or(kind, "of no type") + ", not an event stream: " + provider.Clip(string(text)),
	}
}

// post sends a request with a key. Google refuses a wrong key with 400; this
// makes it 401.
func (m *Model) post(ctx context.Context, u *url.URL, key string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, invalid("the base URL of %s is no URL: %v", m.full(), err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("X-Goog-Api-Key", key)
	}
	res, err := m.client.Do(req)
	if err == nil && res.StatusCode == http.StatusBadRequest {
		text := provider.Body(res.Body)
		res.Body = io.NopCloser(bytes.NewReader(text))
		if f, _ := spoken(text); f.because("API_KEY_INVALID") {
			res.StatusCode = http.StatusUnauthorized
		}
	}
	return res, err
}
