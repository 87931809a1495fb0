package a2a

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl/internal/web"
)

// A Client calls a remote agent. It is safe for concurrent use.
type Client struct {
	card  *url.URL // of the card
	token string
	http  *http.Client

	mu    sync.Mutex
	known *Card
	until time.Time // when the card is fetched again
}

// The limits of a request.
const (
	requestTime = 30 * time.Second
	mostAnswer  = 8 << 20
	cardTime    = 5 * time.Minute
)

// NewClient makes a client for the agent at a URL, which is that of its card, or the one below
// which the card is at [CardPath]. token is sent as a bearer token; empty: none is sent. It is an
// error if [CheckURL] refuses the URL. No request is made.
func NewClient(at, token string) (*Client, error) {
	if err := CheckURL(at); err != nil {
		return nil, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, ".json") {
		u.Path = strings.TrimSuffix(u.Path, "/") + CardPath
	}
	return &Client{card: u, token: token, http: &http.Client{
		Timeout: requestTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// CheckURL returns what is wrong with the URL of an agent: it is https, or http on this machine,
// and holds no password.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("write a URL that begins with https://")
	case u.User != nil:
		return errors.New("leave the name and password out; a token is sent instead")
	case u.Scheme == "http" && !web.Loopback(u.Hostname()):
		return errors.New("write https; http is for this machine")
	}
	return nil
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// Card returns the agent's card, which is kept for some minutes.
func (c *Client) Card(ctx context.Context) (*Card, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != nil && time.Now().Before(c.until) {
		return c.known, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.card.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	status, body, err := c.do(request)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("there is no agent card at %s: the answer is %d %s", c.card, status, http.StatusText(status))
	}
	card := &Card{}
	if err := json.Unmarshal(body, card); err != nil {
		return nil, fmt.Errorf("the agent card at %s is invalid: %w", c.card, err)
	}
	if _, _, err := c.choose(card); err != nil {
		return nil, err
	}
	c.known, c.until = card, time.Now().Add(cardTime)
	return card, nil
}

// choose selects the first interface of a card that this client speaks. It must be where the
// card is: a card that names another server would get requests, and the token, sent there.
func (c *Client) choose(card *Card) (Interface, *url.URL, error) {
	var others []string
	for _, i := range card.SupportedInterfaces {
		u, err := url.Parse(i.URL)
		switch {
		case i.ProtocolBinding != JSONRPC, i.ProtocolVersion != Version && !strings.HasPrefix(i.ProtocolVersion, Version+"."):
			others = append(others, i.ProtocolBinding+" "+i.ProtocolVersion)
		case err != nil || origin(u) != origin(c.card):
			others = append(others, fmt.Sprintf("%s at %s, which is another server than that of the card", i.ProtocolBinding, i.URL))
		default:
			return i, u, nil
		}
	}
	return Interface{}, nil, fmt.Errorf("the agent card at %s has no interface for %s of version %s; it has: %s", c.card, JSONRPC, Version, cmp.Or(strings.Join(others, "; "), "none"))
}

// do makes a request, and returns the status and the body.
func (c *Client) do(r *http.Request) (int, []byte, error) {
	r.Header.Set(VersionHeader, Version) //nolint:canonicalheader // as the protocol has it; names ignore case
	r.Header.Set("User-Agent", "pawl")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, &lostError{err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	if err != nil {
		return 0, nil, &lostError{err}
	}
	if len(body) > mostAnswer {
		return 0, nil, fmt.Errorf("the answer of %s is larger than %d MiB", r.URL.Host, mostAnswer>>20)
	}
	return res.StatusCode, body, nil
}

// lostError is a request without an answer.
type lostError struct{ err error }

func (e *lostError) Error() string { return "there is no answer: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// unsent reports whether the request of an error was certainly not received.
func unsent(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

// Send sends a message.
func (c *Client) Send(ctx context.Context, s *Send) (u Update, err error) {
	err = c.call(ctx, MethodSend, func(tenant string) any { s.Tenant = tenant; return s }, &u)
	return u, err
}

// Task gets a task. history is how many messages of its history are wanted; negative: all.
func (c *Client) Task(ctx context.Context, id string, history int) (t Task, err error) {
	in := ID{ID: id}
	if history >= 0 {
		in.HistoryLength = &history
	}
	err = c.call(ctx, MethodGet, func(tenant string) any { in.Tenant = tenant; return in }, &t)
	return t, err
}

// Tasks gets a page of tasks.
func (c *Client) Tasks(ctx context.Context, in Query) (p Page, err error) {
	err = c.call(ctx, MethodList, func(tenant string) any { in.Tenant = tenant; return in }, &p)
	return p, err
}

// Cancel asks for the end of a task.
func (c *Client) Cancel(ctx context.Context, id string) (t Task, err error) {
	err = c.call(ctx, MethodCancel, func(tenant string) any { return ID{Tenant: tenant, ID: id} }, &t)
	return t, err
}

// call makes a call at the card's first interface that is known here.
func (c *Client) call(ctx context.Context, method string, params func(tenant string) any, to any) error {
	card, err := c.Card(ctx)
	if err != nil {
		return err
	}
	i, at, err := c.choose(card)
	if err != nil {
		return err
	}
	body, err := json.Marshal(params(i.Tenant))
	if err != nil {
		return err
	}
	if body, err = json.Marshal(Request{JSONRPC: "2.0", ID: json.RawMessage("1"), Method: method, Params: body}); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	status, answer, err := c.do(request)
	if err != nil {
		return err
	}
	return decodeAnswer(status, answer, to)
}

// decodeAnswer reads the answer to a call.
func decodeAnswer(status int, body []byte, to any) error {
	var rpc struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	err := json.Unmarshal(body, &rpc)
	if err == nil && rpc.Error != nil {
		e := &Error{Kind: Kind{Code: rpc.Error.Code, Status: status}, Message: rpc.Error.Message}
		for _, k := range kinds {
			if k.Code == e.Kind.Code {
				e.Kind = k
				break
			}
		}
		return e
	}
	if status/100 != 2 {
		return &Error{Kind: Kind{Status: status}, Message: fmt.Sprintf("the answer is %d %s", status, http.StatusText(status))}
	}
	if err == nil {
		err = json.Unmarshal(rpc.Result, to)
	}
	if err != nil {
		return &Error{Kind: InvalidAgentResponse, Message: "the answer does not follow the protocol: " + err.Error()}
	}
	return nil
}

// kinds are the protocol's own kinds of errors.
var kinds = []Kind{
	TaskNotFound, TaskNotCancelable, PushNotSupported, UnsupportedOperation, ContentTypeNotSupported, InvalidAgentResponse, ExtendedCardNotSupported, ExtensionRequired,
	VersionNotSupported, ParseError, InvalidRequest, UnknownMethod, InvalidParams, Internal,
}

// passing reports whether a call that failed may succeed when it is repeated.
func passing(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind.Status == http.StatusTooManyRequests || e.Kind.Status == http.StatusServiceUnavailable || e.Kind.Status == http.StatusBadGateway || e.Kind.Status == http.StatusGatewayTimeout
	}
	return errors.As(err, new(*lostError))
}
