package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// place is where one signal is sent: an OTLP receiver, by HTTP
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
type place struct {
	signal  string
	url     string
	header  http.Header
	gzip    bool
	timeout time.Duration // of one batch, tries and all
	client  *http.Client
}

// firstWait is the wait before a second try, which doubles, as the specification
// has it that one waits longer and longer.
const firstWait = 300 * time.Millisecond

// mostAway is how often one is tried who is not there at all. Somebody waits for
// the program to end, and a collector that is being restarted gets the next batch.
const mostAway = 3

func (p *place) send(ctx context.Context, body wire) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	payload := []byte(body)
	if p.gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(payload) // to memory
		_ = z.Close()
		payload = b.Bytes()
	}
	wait := firstWait
	for try := 1; ; try++ {
		again, err := p.try(ctx, payload)
		if err == nil {
			return nil
		}
		if _, away := errors.AsType[*net.OpError](err); again < 0 || away && try == mostAway {
			return p.wrong(err)
		}
		select {
		case <-time.After(max(wait, again)):
			wait *= 2
		case <-ctx.Done():
			return p.wrong(err)
		}
	}
}

// wrong is an error without the URL, which may hold a key.
func (p *place) wrong(err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be sent: %w", p.signal, err)
}

// try sends once. After an error, again is how long to wait at least before the
// next try, negative when there is to be none.
func (p *place) try(ctx context.Context, payload []byte) (again time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(payload))
	if err != nil {
		return -1, err
	}
	maps.Copy(r.Header, p.header)
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "pawl-otlp")
	if p.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection is kept
	switch {
	case resp.StatusCode/100 == 2:
		return 0, nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 502 && resp.StatusCode <= 504:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(max(0, seconds)) * time.Second, errors.New(resp.Status)
	}
	return -1, errors.New(resp.Status)
}

// noRedirects keeps what is sent, and the keys with it, to the place it is for.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
