package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pawl-run/pawl/internal/display"
)

// outlet is the destination of one signal: an OTLP receiver, by HTTP.
type outlet struct {
	signal  string
	url     string
	headers map[string]string
	gzip    bool
	http    *http.Client
	timeout time.Duration // of one batch, tries and all
	end     *end
}

// firstWait is about the wait before a second try; later waits grow. At shutdown there are five
// seconds in all.
const firstWait = 300 * time.Millisecond

// client keeps data and keys at their destination: it follows no redirects, which would send
// the headers along.
func client(trust *tls.Config) *http.Client {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok && trust != nil {
		by := usual.Clone()
		by.TLSClientConfig = trust
		c.Transport = by
	}
	return c
}

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
	answer, err := o.http.Do(r)
	if err != nil {
		return -1, err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(answer.Body, mostRead))
	if answer.StatusCode/100 == 2 {
		if err == nil && answer.Header.Get("Content-Type") == "application/x-protobuf" {
			err = refused(said)
		}
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

// refused is the error for what a receiver did not take of a batch. Its answer has one field, a
// message of a count and a text.
func refused(answer []byte) error {
	_, _, n := protowire.ConsumeTag(answer)
	if n < 0 {
		return nil
	}
	partial, m := protowire.ConsumeBytes(answer[n:])
	if m < 0 {
		return fmt.Errorf("the collector's answer is not one of the protocol: %w", protowire.ParseError(m))
	}
	var count uint64
	var why string
	for len(partial) > 0 {
		number, kind, n := protowire.ConsumeTag(partial)
		m := protowire.ConsumeFieldValue(number, kind, partial[max(n, 0):])
		if n < 0 || m < 0 {
			return fmt.Errorf("the collector's answer is not one of the protocol: %w", protowire.ParseError(min(n, m)))
		}
		switch {
		case number == 1 && kind == protowire.VarintType:
			count, _ = protowire.ConsumeVarint(partial[n:])
		case number == 2 && kind == protowire.BytesType:
			why, _ = protowire.ConsumeString(partial[n:])
		}
		partial = partial[n+m:]
	}
	if count == 0 && why == "" {
		return nil
	}
	return fmt.Errorf("the collector refused %d: %s", count, why)
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
	return fmt.Errorf("%s cannot be sent: %s", o.signal, strings.Join(strings.Fields(display.Clip(text, mostSaid)), " "))
}
