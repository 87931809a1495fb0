package webhook

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pawl-run/pawl/internal/web"
)

// The times of tries. The wait before the next try is "full jitter" of M. Brooker,
// "Exponential Backoff And Jitter": a random time up to a bound that doubles. Tries go on for
// a day, as with most senders, so that a receiver may be down for a night.
const (
	defaultTimeout  = 10 * time.Second
	defaultPatience = 24 * time.Hour
	firstWait       = 2 * time.Second
	longestWait     = time.Hour

	// grace is how much longer than its time-out a try may take before its process
	// counts as dead.
	grace = 5 * time.Second
)

// wait is how long to wait after try n, or after another process has claimed a try.
func wait(n int, asked time.Duration) time.Duration {
	most := longestWait
	if n < 12 { // later the bound would exceed longestWait, then overflow
		most = min(most, firstWait<<(n-1))
	}
	return max(100*time.Millisecond, asked, rand.N(most)) //nolint:gosec // it spreads load and is no secret
}

// newClient makes a client that sends only to the given URL: no redirect, no proxy, no cookie, no
// address of the private network.
func newClient(d *web.Dialer) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            d.DialContext,
			DisableKeepAlives:      true, // notices are rare, and answers are not read to the end
			MaxResponseHeaderBytes: 16 << 10,
			ForceAttemptHTTP2:      true,
		},
	}
}

// A reply is the result of a try: a status, or an error.
type reply struct {
	code  int
	text  string
	after time.Duration // how long the receiver wants no requests
}

// send posts a notice. It keeps only the status of the answer, since the body may be anything.
func (o *Outbox) send(ctx context.Context, h *Hook, key []byte, id string, body []byte) reply {
	ctx, cancel := context.WithTimeout(ctx, o.opt.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return reply{text: "the URL cannot be read"}
	}
	now := o.now()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "pawl")
	sign(request.Header, key, id, now, body)
	response, err := o.client.Do(request)
	if err != nil {
		r := reply{text: plainly(err)}
		if _, ok := errors.AsType[*web.RefusedError](err); ok {
			r.after = later
		}
		return r
	}
	_ = response.Body.Close()
	return reply{
		code: response.StatusCode, text: strconv.Itoa(response.StatusCode) + " " + http.StatusText(response.StatusCode),
		after: retryAfter(response.Header.Get("Retry-After"), now, o.opt.Patience),
	}
}

// plainly describes the error without the URL, which may contain a secret.
func plainly(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	if r, ok := errors.AsType[*web.RefusedError](err); ok {
		return r.Why
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return err.Error()
}

// retryAfter parses the Retry-After header: seconds or a date.
func retryAfter(text string, now time.Time, most time.Duration) time.Duration {
	var d time.Duration
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return max(0, min(d, most))
}
