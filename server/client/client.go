package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/web"
)

// Options configure a client. The zero value is valid.
type Options struct {
	// HTTP makes the requests; nil: a client of its own. Redirects are never followed,
	// because the token is for the named server only.
	HTTP *http.Client
	// PlainHTTP allows sending a token unencrypted to another machine, over a network
	// that is known to be safe.
	PlainHTTP bool
	// Timeout bounds each request, except those that wait for a run; zero: 30 seconds.
	Timeout time.Duration
	// Idle is how long a stream may be silent before the client reconnects. Servers send
	// a heartbeat every 15 seconds; zero: 45 seconds.
	Idle time.Duration
	// Patience is how long a broken stream is retried while the server cannot be
	// reached; zero: 2 minutes.
	Patience time.Duration
}

// A Client talks to one server. Its methods are safe for concurrent use.
//
// Requests that only read, and those that are safe to repeat, are retried briefly when the
// server is overloaded or the connection breaks. An error is a [*Problem] if the server
// refused, a [*ResponseError] if the answer does not come from such a server, the
// context's error, or one of the connection, which names the request.
type Client struct {
	http    *http.Client
	base    *url.URL
	token   string
	shown   string // the address as given
	options Options
	most    int64 // bytes of an answer, or of an event of a stream
}

// The defaults of Options.
const (
	defaultTimeout  = 30 * time.Second
	defaultIdle     = 45 * time.Second // three heartbeats
	defaultPatience = 2 * time.Minute
)

// mostBytes bounds the size of one answer. A result holds an answer and a line for each
// call; real ones are far smaller.
const mostBytes = 64 << 20

// New makes a client of the server at an address such as https://runs.example.org,
// http://127.0.0.1:8080, or unix:///run/pawl.sock, without connecting. The token may be
// empty if the server needs none. It is an error if the token would be sent unencrypted to
// another machine, unless the options allow it.
func New(address, token string, o *Options) (*Client, error) {
	c := &Client{token: token, shown: address, most: mostBytes}
	if o != nil {
		c.options = *o
	}
	c.options.Timeout = cmp.Or(c.options.Timeout, defaultTimeout)
	c.options.Idle = cmp.Or(c.options.Idle, defaultIdle)
	c.options.Patience = cmp.Or(c.options.Patience, defaultPatience)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token has invalid characters, such as white space; give it exactly as generated")
	}
	u, err := url.Parse(address)
	if err != nil { // the parser's error would show the address, which may hold a password
		return nil, errors.New("the address of the server is malformed; write http://HOST:PORT, https://HOST or unix:///PATH")
	}
	transport := http.DefaultTransport
	switch {
	case u.User != nil:
		return nil, errors.New("the address of the server contains a user; pass the token separately")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the address %s has a query or fragment; remove it", u.Redacted())
	case u.Scheme == "unix":
		if u.Host != "" || !filepath.IsAbs(u.Path) {
			return nil, fmt.Errorf("the address %s names no socket; write unix:///PATH", address)
		}
		transport = toSocket(u.Path)
		u = &url.URL{Scheme: "http", Host: "localhost"}
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("invalid server address %q; write http://HOST:PORT, https://HOST or unix:///PATH", address)
	case u.Scheme == "http" && token != "" && !c.options.PlainHTTP && !web.Loopback(u.Hostname()):
		return nil, fmt.Errorf("the token would go to %s unencrypted; use https", u.Host)
	}
	c.base = u
	c.http = &http.Client{Transport: transport}
	if c.options.HTTP != nil {
		h := *c.options.HTTP
		if transport != http.DefaultTransport {
			h.Transport = transport
		}
		c.http = &h
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// toSocket connects to a Unix domain socket for every host.
func toSocket(path string) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
}

// String returns the address of the server as given to [New].
func (c *Client) String() string { return c.shown }
