package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-run/pawl/internal/traceparent"
)

// A ResponseError is an answer that no server of runs gives: a proxy's page, or
// another program's.
type ResponseError struct {
	Method string
	URL    string
	Status int
	Detail string // what is wrong with it
	Body   string // its beginning
}

// Error says what was asked and what came back.
func (e *ResponseError) Error() string {
	text := fmt.Sprintf("%s %s: the answer is not one of a pawl server: %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
	if e.Detail != "" {
		text += ", " + e.Detail
	}
	if e.Body != "" {
		text += fmt.Sprintf(": %q", e.Body)
	}
	return text
}

// call is one operation of the API.
type call struct {
	method string
	path   []string // after the server's own
	query  url.Values
	body   any  // nil: none
	again  bool // may be asked again without harm
	waits  bool // may take as long as it takes
}

func get(path ...string) *call { return &call{method: http.MethodGet, path: path, again: true} }

func post(body any, path ...string) *call {
	return &call{method: http.MethodPost, path: path, body: body}
}

// How often and how soon a call is asked again. More than a moment is for whoever
// calls: he may know better, and wants to be told.
const (
	tries      = 4
	firstDelay = 100 * time.Millisecond
	mostDelay  = 5 * time.Second
)

// do asks, and reads the answer into out.
func (c *Client) do(ctx context.Context, k *call, out any) error {
	for n := 0; ; n++ {
		after, err := c.once(ctx, k, out)
		if err == nil || !k.again || n == tries-1 || !passing(err) || after > mostDelay || ctx.Err() != nil {
			return err
		}
		if sleep(ctx, max(after, jitter(firstDelay, mostDelay, n))) != nil {
			return err
		}
	}
}

// once asks one time. after is how long the server wants to be left alone.
func (c *Client) once(ctx context.Context, k *call, out any) (after time.Duration, err error) {
	within := ctx
	if !k.waits {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	request, err := c.request(within, k)
	if err != nil {
		return 0, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, c.broken(ctx, within, k, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return retryAfter(response), c.refusal(k, response)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, c.most+1))
	switch {
	case err != nil:
		return 0, c.broken(ctx, within, k, err)
	case int64(len(body)) > c.most:
		return 0, fmt.Errorf("%s %s: the answer has more than %d MiB", k.method, c.shownURL(k), c.most>>20)
	case !isJSON(response):
		return 0, c.unexpected(k, response, "", body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return 0, c.unexpected(k, response, err.Error(), body)
	}
	return 0, nil
}

func (c *Client) request(ctx context.Context, k *call) (*http.Request, error) {
	var body io.Reader
	if k.body != nil {
		b, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", k.method, c.shownURL(k), err)
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, k.method, c.url(k).String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if p := traceparent.From(ctx); p.ID != "" { // what is begun is part of the trace
		r.Header.Set(traceparent.Header, p.ID)
		if p.State != "" {
			r.Header.Set(traceparent.State, p.State)
		}
	}
	return r, nil
}

func (c *Client) url(k *call) *url.URL {
	escaped := make([]string, len(k.path))
	for i, p := range k.path {
		escaped[i] = url.PathEscape(p)
		if p == "." || p == ".." { // which JoinPath would take for steps
			escaped[i] = strings.ReplaceAll(p, ".", "%2E")
		}
	}
	u := c.base.JoinPath(escaped...)
	u.RawQuery = k.query.Encode()
	return u
}

// shownURL is the URL of a call for people: with a socket in the host's place.
func (c *Client) shownURL(k *call) string {
	u := c.url(k)
	if strings.HasPrefix(c.shown, "unix:") {
		return c.shown + u.RequestURI()
	}
	return u.String()
}

// broken makes sense of an error of the connection.
func (c *Client) broken(ctx, within context.Context, k *call, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if within.Err() != nil {
		return fmt.Errorf("%s %s: no answer within %v", k.method, c.shownURL(k), c.options.Timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // which has said what was asked in other words
	}
	return fmt.Errorf("%s %s: %w", k.method, c.shownURL(k), err)
}

// mostRefusal bounds what is read of a refusal, and mostShown what is shown of
// one that cannot be read.
const (
	mostRefusal = 64 << 10
	mostShown   = 200
)

// refusal reads why a server refused.
func (c *Client) refusal(k *call, response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, mostRefusal)) // what there is of it
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	p := &Problem{}
	if kind == "application/problem+json" && json.Unmarshal(body, p) == nil && p.Error() != "" {
		p.Status = response.StatusCode // a proxy may have another one in mind than it says
		return p
	}
	detail := ""
	if to := response.Header.Get("Location"); to != "" && response.StatusCode/100 == 3 {
		detail = "which sends on to " + to
	}
	return c.unexpected(k, response, detail, body)
}

func (c *Client) unexpected(k *call, response *http.Response, detail string, body []byte) error {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*mostShown)]), "\uFFFD")), " ")
	if r := []rune(text); len(r) > mostShown {
		text = string(r[:mostShown]) + "…"
	}
	return &ResponseError{k.method, c.shownURL(k), response.StatusCode, detail, text}
}

func isJSON(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// passing reports whether asking again may help: the server or a proxy before
// it is overloaded, or the connection broke. One that cannot be made at all is
// for whoever asks: a wrong address does not become right.
func passing(err error) bool {
	status := 0
	if p, ok := errors.AsType[*Problem](err); ok {
		status = p.Status
	}
	if r, ok := errors.AsType[*ResponseError](err); ok {
		status = r.Status
	}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case 0:
		return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	}
	return false
}

// retryAfter is how long a server wants to be left alone, in whole seconds as
// servers say it; the form with a date is taken for nothing said.
func retryAfter(response *http.Response) time.Duration {
	n, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}
