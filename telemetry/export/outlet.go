package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/excerpt"
)

// outlet is the destination of one signal: an OTLP receiver, by HTTP.
type outlet struct {
	signal  string
	url     string
	headers map[string]string
	gzip    bool
	timeout time.Duration // of one batch, tries and all
	end     *end
}

// firstWait is about the wait before a second try; later waits grow. At shutdown there are five
// seconds in all.
const firstWait = 300 * time.Millisecond

// client keeps data and keys at their destination: it follows no redirects, which would send
// the headers along.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send sends a batch within the time for one, and until the end at most: processors let a batch
// continue that they have given up waiting for. It reports errors itself: errors that exporters
// return go to OpenTelemetry's global error handler.
func (o *outlet) send(ctx context.Context, batch message) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	go func() {
		select {
		case <-o.end.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := o.post(ctx, batch); err != nil {
		o.end.tell(o.wrong(err))
	}
}

// post sends a batch, again and again while the receiver is busy.
func (o *outlet) post(ctx context.Context, batch message) error {
	body := []byte(batch)
	if o.gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body) // into memory
		_ = z.Close()
		body = b.Bytes()
	}
	for wait := firstWait; ; wait *= 2 {
		after, err := o.try(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		select {
		case <-time.After(max(after, wait/2+rand.N(wait))): //nolint:gosec // it spreads load and is no secret
		case <-ctx.Done():
			return err
		}
	}
}

// try sends a batch once. With an error it returns how long the receiver asks to wait before
// the next try, or less than 0 if there must be none.
func (o *outlet) try(ctx context.Context, body []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	for name, value := range o.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if o.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := client.Do(r)
	if err != nil {
		return -1, err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(answer.Body, mostRead))
	if answer.StatusCode/100 == 2 {
		return -1, err
	}
	err = fmt.Errorf("the collector answered %s: %s", answer.Status, said)
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return time.Duration(max(0, seconds)) * time.Second, err
	}
	return -1, err
}

// mostRead is how much of an answer is read, in bytes.
const mostRead = 64 << 10

// mostSaid is how much of an error is reported, in bytes: it includes what the server
// answered.
const mostSaid = 500

// wrong returns the error without the URL, which may contain a key.
func (o *outlet) wrong(err error) error {
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	text := strings.ReplaceAll(err.Error(), o.url, "the collector")
	return fmt.Errorf("%s cannot be sent: %s", o.signal, strings.Join(strings.Fields(excerpt.Clip(text, mostSaid)), " "))
}
