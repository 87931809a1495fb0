package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Options are what may be said of a client. The zero value is right.
type Options struct {
	// HTTP makes the requests; nil: a client of its own. Redirects are not
	// followed, whatever it says: the token is for the server that was named.
	HTTP *http.Client
	// PlainHTTP allows a token to be sent unencrypted to another machine, where
	// the way there is known to be safe.
	PlainHTTP bool
	// Timeout is how long an answer may take, those that are waited for on
	// purpose excepted; zero: 30 seconds.
	Timeout time.Duration
	// Idle is how long a stream may be silent before it is taken for dead and
	// asked for again. Servers say something every 15 seconds; zero: 45 seconds.
	Idle time.Duration
	// Patience is how long a stream that broke is tried to be had again while
	// the server cannot be reached; zero: 2 minutes.
	Patience time.Duration
}

// A Client asks one server. Its methods may be called from many goroutines.
//
// What only looks, and what does no harm when it is said twice, is asked again
// for a moment when the server is overloaded or the connection breaks; the rest
// is not. An error of a method is a [*Problem] when the server refused, a
// [*ResponseError] when what answered is no such server, that of the context,
// or one of the connection, which names the request.
type Client struct {
	http    *http.Client
	base    *url.URL
	token   string
	shown   string // the server as it was named
	options Options
	most    int64 // bytes of an answer, or of an event of a stream
}

// The defaults of Options.
const (
	defaultTimeout  = 30 * time.Second
	defaultIdle     = 45 * time.Second // three heartbeats
	defaultPatience = 2 * time.Minute
)

// mostBytes bounds what is read of one answer. A result holds an answer and a
// line for each call; nothing that is sensible comes near.
const mostBytes = 64 << 20

// New makes a client of the server at an address such as https://runs.example.org,
// http://127.0.0.1:8080, or unix:///run/pawl.sock; nothing is asked yet. The
// token may be empty where a server wants none. It is an error to send one
// unencrypted to another machine, unless the options allow it.
func New(address, token string, o *Options) (*Client, error) {
	c := &Client{token: token, shown: address, most: mostBytes}
	if o != nil {
		c.options = *o
	}
	for _, d := range []struct {
		value *time.Duration
		right time.Duration
	}{{&c.options.Timeout, defaultTimeout}, {&c.options.Idle, defaultIdle}, {&c.options.Patience, defaultPatience}} {
		if *d.value == 0 {
			*d.value = d.right
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token has characters that no token has, such as white space; give it as it was made")
	}
	u, err := url.Parse(address)
	if err != nil { // the error would show the address, and whatever stands in it
		return nil, errors.New("the address of the server cannot be read; write http://HOST:PORT, https://HOST or unix:///PATH")
	}
	transport := http.DefaultTransport
	switch {
	case u.User != nil:
		return nil, errors.New("the address of the server names a user; a server is asked with a token, which is no part of its address")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the address %s has more than a path; leave out what stands behind it", u.Redacted())
	case u.Scheme == "unix":
		if u.Host != "" || !filepath.IsAbs(u.Path) {
			return nil, fmt.Errorf("the address %s names no socket; write unix:///PATH", address)
		}
		transport = toSocket(u.Path)
		u = &url.URL{Scheme: "http", Host: "localhost"}
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("the address %q is none of a server; write http://HOST:PORT, https://HOST or unix:///PATH", address)
	case u.Scheme == "http" && token != "" && !c.options.PlainHTTP && !loopback(u.Hostname()):
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

// toSocket reaches every host at a Unix domain socket.
func toSocket(path string) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
}

// loopback reports whether a host is this machine by its very name: what a
// name resolves to is somebody else's say.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// String is the address of the server as it was given to [New].
func (c *Client) String() string { return c.shown }
