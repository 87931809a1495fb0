package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/web"
)

// A ResponseError is an answer that does not come from a server of runs, such as a
// proxy's page.
type ResponseError struct {
	Method string
	URL    string
	Status int
	Detail string // what is wrong with it
	Body   string // its beginning
}

// Error describes the request and the answer.
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
	path   []string // below the server's own
	query  url.Values
	body   any         // nil: none
	files  []pawl.File // of a form that has the body as run
	again  bool        // may be retried safely
	waits  bool        // has no time limit
}

func get(path ...string) *call { return &call{method: http.MethodGet, path: path, again: true} }

func post(body any, path ...string) *call {
	return &call{method: http.MethodPost, path: path, body: body}
}

// How often and how soon a call is retried. Longer retries are left to the caller, who
// may know better.
const (
	tries      = 4
	firstDelay = 100 * time.Millisecond
	mostDelay  = 5 * time.Second
)

// do sends the request and decodes the answer into out.
func (c *Client) do(ctx context.Context, k *call, out any) error {
	for n := 0; ; n++ {
		after, err := c.once(ctx, k, out)
		if err == nil || !k.again || n == tries-1 || !passing(err) || after > mostDelay || ctx.Err() != nil {
			return err
		}
		if !retry.Wait(ctx, max(after, jitter(firstDelay, mostDelay, n))) {
			return err
		}
	}
}

// once sends the request once. after is the server's Retry-After.
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
	}
	if file, ok := out.(*[]byte); ok && response.Header.Get("Content-Disposition") != "" {
		*file = body
		return 0, nil
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return 0, c.unexpected(k, response, "", body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return 0, c.unexpected(k, response, err.Error(), body)
	}
	return 0, nil
}

func (c *Client) request(ctx context.Context, k *call) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	if k.body != nil {
		b, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", k.method, c.shownURL(k), err)
		}
		if len(k.files) > 0 {
			if b, kind, err = form(b, k.files); err != nil {
				return nil, err
			}
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, k.method, c.url(k).String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if p := web.ParentFrom(ctx); p.ID != "" { // the run becomes part of the trace
		r.Header.Set(web.ParentHeader, p.ID)
		if p.State != "" {
			r.Header.Set(web.StateHeader, p.State)
		}
	}
	return r, nil
}

// form encodes a body with files, and returns its type.
func form(body []byte, files []pawl.File) (encoded []byte, kind string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="run"`}, "Content-Type": {"application/json"}})
	if err == nil {
		_, err = part.Write(body)
	}
	for _, f := range files {
		if err != nil {
			break
		}
		if part, err = w.CreateFormFile("file", f.Name); err == nil {
			_, err = part.Write(f.Data)
		}
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), w.FormDataContentType(), err
}

func (c *Client) url(k *call) *url.URL {
	escaped := make([]string, len(k.path))
	for i, p := range k.path {
		escaped[i] = url.PathEscape(p)
		if p == "." || p == ".." { // JoinPath would resolve them
			escaped[i] = strings.ReplaceAll(p, ".", "%2E")
		}
	}
	u := c.base.JoinPath(escaped...)
	u.RawQuery = k.query.Encode()
	return u
}

// shownURL is the URL of a call for people, with the socket as its host.
func (c *Client) shownURL(k *call) string {
	u := c.url(k)
	if strings.HasPrefix(c.shown, "unix:") {
		return c.shown + u.RequestURI()
	}
	return u.String()
}

// broken explains an error of the connection.
func (c *Client) broken(ctx, within context.Context, k *call, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if within.Err() != nil {
		return fmt.Errorf("%s %s: no answer within %v", k.method, c.shownURL(k), c.options.Timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // its message repeats the method and URL
	}
	return fmt.Errorf("%s %s: %w", k.method, c.shownURL(k), err)
}

// mostRefusal bounds what is read of a refusal, and mostShown what is shown of a
// malformed one.
const (
	mostRefusal = 64 << 10
	mostShown   = 200
)

// refusal decodes a server's refusal.
func (c *Client) refusal(k *call, response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, mostRefusal)) // whatever arrives
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	p := &Problem{}
	if kind == "application/problem+json" && json.Unmarshal(body, p) == nil && p.Error() != "" {
		p.Status = response.StatusCode // the body may come from a proxy with another status
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

// passing reports whether a retry may help: the server or a proxy is overloaded, or the
// connection broke. Failing to connect at all is not retried, since the address may be
// wrong.
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

// jitter returns the nth pause between retries: random, with a limit that doubles, so that
// clients do not reconnect at once ("full jitter" of "Exponential Backoff And Jitter", Marc
// Brooker, 2015), but at least a quarter of the limit.
func jitter(first, most time.Duration, n int) time.Duration {
	d := min(most, first<<min(n, 16))
	return d/4 + rand.N(d-d/4+1) //nolint:gosec // nobody gains from guessing it
}

// retryAfter is the server's Retry-After in seconds; the form with a date is ignored.
func retryAfter(response *http.Response) time.Duration {
	n, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}
