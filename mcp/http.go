package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/internal/web"
)

// HTTPOptions are the optional parts of a server on the network. The zero value is right
// for a server without credentials.
type HTTPOptions struct {
	// Header is sent with every request, such as Authorization.
	Header http.Header
	// OAuth authorises the requests; nil: nothing does but Header.
	OAuth *OAuth
	// Token returns the bearer token of a call of a tool, by the context of the call, such as
	// tool.Credentials.Token does. Its error is that of the call. Each token has a session of its own,
	// which ends after five minutes without a call. Nil: calls are in the session of all requests.
	Token func(ctx context.Context) (string, error)
}

// HTTP is a server at a URL that speaks streamable HTTP: https, or http on this machine.
// Redirects to another host are not followed, since that host would get the requests and
// their credentials.
func HTTP(address string, o *HTTPOptions) Transport {
	h := &remotePlace{address: address}
	h.url, h.wrong = url.Parse(address)
	if o != nil {
		h.header, h.oauth, h.token = o.Header.Clone(), o.OAuth, o.Token
	}
	return h
}

type remotePlace struct {
	address string
	url     *url.URL
	wrong   error
	header  http.Header
	oauth   *OAuth // nil: none
	token   func(context.Context) (string, error)
}

func (h *remotePlace) is() (identity, cage string) {
	if h.url == nil {
		return h.address, ""
	}
	return h.url.Redacted(), ""
}

func (h *remotePlace) check() error {
	switch {
	case h.wrong != nil:
		return fmt.Errorf("its url: %w", h.wrong)
	case h.url.Scheme != "http" && h.url.Scheme != "https" || h.url.Host == "":
		return fmt.Errorf("its url is %q; write one such as https://HOST/mcp", h.address)
	case h.url.User != nil:
		return errors.New("its url holds a name or password; give credentials as a header")
	case h.url.Scheme == "http" && !web.Loopback(h.url.Hostname()):
		return fmt.Errorf("its url %s is not encrypted; write https (http is for this machine)", h.address)
	}
	return nil
}

func (h *remotePlace) prepare(ctx context.Context, args []byte) (token string, filled []byte, err error) {
	if h.token != nil {
		token, err = h.token(ctx)
	}
	return token, args, err
}

func (h *remotePlace) open(token string) (line, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return line{}, errors.New("the program has replaced http.DefaultTransport")
	}
	base = base.Clone()
	client := &http.Client{
		Transport: &traveller{base, h, token},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Scheme != h.url.Scheme || r.URL.Host != h.url.Host {
				return fmt.Errorf("it redirects to another host, %s://%s", r.URL.Scheme, r.URL.Host)
			}
			if len(via) > 5 {
				return errors.New("it redirects too often")
			}
			return nil
		},
	}
	transport := &sdk.StreamableClientTransport{Endpoint: h.address, HTTPClient: client, MaxRetries: 2, MaxEventSize: mostMessage}
	if h.oauth != nil && token == "" {
		handler, err := h.oauth.handler(h.address)
		if err != nil {
			return line{}, err
		}
		transport.OAuthHandler = handler
	}
	return line{
		transport: transport,
		close:     base.CloseIdleConnections,
		why:       func() error { return nil },
	}, nil
}

// A traveller adds the server's header to requests for that server only, and bounds the
// size of answers.
type traveller struct {
	base  *http.Transport
	to    *remotePlace
	token string // empty: none
}

func (t *traveller) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := web.ParentFrom(r.Context())
	if r.URL.Host == t.to.url.Host && r.URL.Scheme == t.to.url.Scheme && (len(t.to.header) > 0 || trace.ID != "" || t.token != "") {
		r = r.Clone(r.Context())
		if trace.ID != "" {
			r.Header.Set(web.ParentHeader, trace.ID)
		}
		if trace.State != "" {
			r.Header.Set(web.StateHeader, trace.State)
		}
		for name, values := range t.to.header {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
		if t.token != "" {
			r.Header.Set("Authorization", "Bearer "+t.token)
		}
	}
	unsent := func() {}
	if f := fateOf(r.Context()); f != nil {
		unsent = f.sending()
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		if at, ok := errors.AsType[*net.OpError](err); ok && at.Op == "dial" {
			unsent() // the connection failed
		}
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // an odd type is none of these
	switch {
	case kind == "text/event-stream": // a stream may be endless; its events are bounded individually
		resp.Body = &readableEvents{ReadCloser: resp.Body}
	case kind == "application/json" && r.Method == http.MethodPost:
		err = answer(resp)
	default:
		resp.Body = &bounded{resp.Body, mostMessage}
	}
	if resp.StatusCode >= 400 && resp.StatusCode < 500 {
		unsent()
	}
	return resp, err
}

// answer makes the message in a response readable. An error that answers a request is an answer whatever
// the status of HTTP, unless the SDK has to act on the status.
func answer(resp *http.Response) error {
	data, err := io.ReadAll(&bounded{resp.Body, mostMessage})
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	data = readable(data)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	resp.Header.Del("Content-Length")
	var m struct{ ID, Error any }
	if json.Unmarshal(data, &m) == nil && m.ID != nil && m.Error != nil && resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusNotFound {
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	}
	return nil
}

// bounded is a body that fails if it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d MiB", mostMessage>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
