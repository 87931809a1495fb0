package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/anthropic"
)

func TestDescribe(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "")
	got := anthropic.New("claude-sonnet-4-5-20250929", nil).Describe()
	want := pawl.ModelInfo{
		Name: "anthropic/claude-sonnet-4-5-20250929", Endpoint: "https://api.anthropic.com",
		Price: &pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/x/")
	got = anthropic.New("house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "anthropic/house", Endpoint: "http://127.0.0.1:1/x"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func class(err error) pawl.Class {
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		return me.Class
	}
	return 0
}

func last(ctx context.Context, m pawl.Model) (err error) {
	for _, e := range m.Stream(ctx, requests["hello"].Request) {
		err = e
	}
	return err
}

func TestNoKeySendsNothing(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_BASE_URL", "")
	m := anthropic.New("claude-sonnet-5", &anthropic.Options{HTTPClient: &http.Client{Transport: refuse{t}}})
	if err := last(t.Context(), m); class(err) != pawl.ClassAuth {
		t.Errorf("error %v, want class auth", err)
	}
}

type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(*http.Request) (*http.Response, error) {
	r.t.Error("a request was sent")
	return nil, io.EOF
}

func TestNobodyListens(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	m := anthropic.New("claude-sonnet-5", &anthropic.Options{APIKey: "key", BaseURL: srv.URL})
	if err := last(t.Context(), m); class(err) != pawl.ClassNetwork {
		t.Errorf("error %v, want class network", err)
	}
}

const begun = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}

`

// hanging begins a reply and then says nothing until the client has gone.
func hanging(t *testing.T) (srv *httptest.Server, gone chan struct{}) {
	gone = make(chan struct{})
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, begun)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(srv.Close)
	return srv, gone
}

func TestCancelEndsTheStream(t *testing.T) {
	srv, gone := hanging(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var err error
	for c, e := range anthropic.New("claude-sonnet-5", &anthropic.Options{APIKey: "key", BaseURL: srv.URL}).Stream(ctx, requests["hello"].Request) {
		if c.Text == "a" {
			cancel()
		}
		err = e
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	<-gone
}

func TestLeavingEarlyEndsTheConnection(t *testing.T) {
	srv, gone := hanging(t)
	for range anthropic.New("claude-sonnet-5", &anthropic.Options{APIKey: "key", BaseURL: srv.URL}).Stream(t.Context(), requests["hello"].Request) {
		break
	}
	<-gone
}
