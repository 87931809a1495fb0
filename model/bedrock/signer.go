package bedrock

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/pawl-run/pawl/model/internal/provider"
)

// A signer is a transport that signs requests and turns the frames of an answer into events
// as the other providers send them: {"contentBlockDelta": {…}}, and {"error": {"type", "body"}}
// for exceptions and refusals.
type signer struct {
	region      string
	credentials aws.CredentialsProvider
	next        http.RoundTripper
}

// login is the provider.Options.Key of a model: it makes sure that there are credentials.
func (s *signer) login(ctx context.Context, _ string) (string, error) {
	if s.credentials == nil {
		return "", errors.New(remedy)
	}
	if _, err := s.credentials.Retrieve(ctx); err != nil {
		return "", fmt.Errorf("%s (%s)", remedy, provider.Clip(err.Error()))
	}
	return signed, nil
}

// RoundTrip signs a request, unless it has a bearer token. If its credentials have expired and there
// are others, it is sent once more with those.
func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/vnd.amazon.eventstream")
	if r.Header.Get("Authorization") != "" {
		return s.send(r, body)
	}
	c, err := s.credentials.Retrieve(r.Context())
	if err != nil {
		return nil, err
	}
	res, err := s.signed(r, body, c)
	if err != nil || bare(res.Header.Get("X-Amzn-Errortype")) != "expiredtoken" {
		return res, err
	}
	if cache, ok := s.credentials.(*aws.CredentialsCache); ok {
		cache.Invalidate()
	}
	other, err := s.credentials.Retrieve(r.Context())
	if err != nil || other.SessionToken == c.SessionToken {
		return res, nil //nolint:nilerr // the refusal says more
	}
	res.Body.Close()
	return s.signed(r, body, other)
}

func (s *signer) signed(r *http.Request, body []byte, c aws.Credentials) (*http.Response, error) {
	r = r.Clone(r.Context())
	sum := sha256.Sum256(body)
	r.Body = io.NopCloser(bytes.NewReader(body)) // the length of what is signed
	if err := v4.NewSigner().SignHTTP(r.Context(), c, r, hex.EncodeToString(sum[:]), "bedrock", s.region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign the request: %w", err)
	}
	return s.send(r, body)
}

func (s *signer) send(r *http.Request, body []byte) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	next := s.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case res.StatusCode < 300 && kind == "application/vnd.amazon.eventstream":
		res.Header.Set("Content-Type", "text/event-stream")
		res.Body = &events{body: res.Body, frames: eventstream.NewDecoder()}
	case res.StatusCode >= 300 && strings.HasSuffix(kind, "json"):
		res.Body = &wrapped{io.MultiReader(strings.NewReader(`{"error":{"type":`+string(provider.Marshal(res.Header.Get("X-Amzn-Errortype")))+`,"body":`), res.Body, strings.NewReader("}}")), res.Body}
	}
	return res, nil
}

// wrapped is a body in another one.
type wrapped struct {
	io.Reader
	io.Closer
}

// events are the frames of a body as server-sent events.
type events struct {
	body   io.ReadCloser
	frames *eventstream.Decoder
	buffer []byte
	left   []byte // of the event that is being read
}

// Close closes the body.
func (e *events) Close() error { return e.body.Close() }

// Read reads events.
func (e *events) Read(b []byte) (int, error) {
	for len(e.left) == 0 {
		m, err := e.frames.Decode(e.body, e.buffer[:0])
		if err != nil {
			return 0, err
		}
		e.buffer = m.Payload
		e.left = event(m)
	}
	n := copy(b, e.left)
	e.left = e.left[n:]
	return n, nil
}

// event is a frame as an event; nil: it has no place in a reply.
func event(m eventstream.Message) []byte {
	header := func(name string) string {
		if v := m.Headers.Get(name); v != nil {
			return v.String()
		}
		return ""
	}
	payload := bytes.ReplaceAll(bytes.TrimSpace(m.Payload), []byte("\n"), []byte(" "))
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	switch header(eventstreamapi.MessageTypeHeader) {
	case eventstreamapi.EventMessageType:
		return fmt.Appendf(nil, "data: {%s:%s}\n\n", quoted(header(eventstreamapi.EventTypeHeader)), payload)
	case eventstreamapi.ExceptionMessageType:
		return fmt.Appendf(nil, "data: {\"error\":{\"type\":%s,\"body\":%s}}\n\n", quoted(header(eventstreamapi.ExceptionTypeHeader)), payload)
	case eventstreamapi.ErrorMessageType:
		said, _ := json.Marshal(map[string]string{"message": header(eventstreamapi.ErrorMessageHeader)})
		return fmt.Appendf(nil, "data: {\"error\":{\"type\":%s,\"body\":%s}}\n\n", quoted(header(eventstreamapi.ErrorCodeHeader)), said)
	}
	return nil
}

func quoted(s string) []byte { return provider.Marshal(s) }
