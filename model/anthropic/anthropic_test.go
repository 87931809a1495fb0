package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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
		Price: &pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Long: pawl.Tier{From: 200_000, Input: 6, Output: 22.5, CacheRead: 0.6, CacheWrite: 7.5}},
	}
	want.Wire = pawl.Wire{Frame: 400 + len("claude-sonnet-4-5-20250929"), Message: 150, Tool: 100, Prompt: 346}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/x/")
	got = anthropic.New("house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "anthropic/house", Endpoint: "http://127.0.0.1:1/x", Wire: pawl.Wire{Frame: 405, Message: 150, Tool: 100, Prompt: 346}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A name says what a model costs only where its provider serves it.
func TestPriceOfAnAddress(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "")
	table, own := pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Long: pawl.Tier{From: 200_000, Input: 6, Output: 22.5, CacheRead: 0.6, CacheWrite: 7.5}}, pawl.Price{Input: 1, Output: 2}
	for _, c := range []struct {
		base string
		own  *pawl.Price
		want *pawl.Price
	}{
		{"", nil, &table},
		{"https://api.ANTHROPIC.COM/v1/", nil, &table},
		{"http://127.0.0.1:11434/v1", nil, nil},
		{"https://api.anthropic.com.example.com", nil, nil},
		{"https://example.com/?api.anthropic.com", nil, nil},
		{"http://127.0.0.1:11434/v1", &own, &own},
		{"", &own, &own},
		{"%", nil, nil},
	} {
		m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{BaseURL: c.base, Price: c.own})
		if d := cmp.Diff(c.want, m.Describe().Price); d != "" {
			t.Errorf("at %q (-want +got):\n%s", c.base, d)
		}
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

const whole = begun + `data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`

// A key that is refused is asked for again, once.
func TestKeysChange(t *testing.T) {
	var sent []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("X-Api-Key"))
		if body, err := io.ReadAll(r.Body); err != nil || !json.Valid(body) {
			t.Errorf("body %q, %v", body, err)
		}
		if r.Header.Get("X-Api-Key") != "new" {
			http.Error(w, `{"type":"error","error":{"type":"authentication_error","message":"expired"}}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, whole)
	}))
	defer srv.Close()
	keys := map[string]string{"": "old", "old": "new"}
	m := anthropic.New("claude-sonnet-5", &anthropic.Options{BaseURL: srv.URL, Key: func(_ context.Context, refused string) (string, error) {
		if k, ok := keys[refused]; ok {
			return k, nil
		}
		return "", errors.New("the vault is shut")
	}})
	if err := last(t.Context(), m); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	keys["old"] = "newer"
	if err := last(t.Context(), m); class(err) != pawl.ClassAuth {
		t.Errorf("with another wrong key: %v, want class auth", err)
	}
	delete(keys, "")
	if err := last(t.Context(), m); class(err) != pawl.ClassAuth || !strings.Contains(err.Error(), "the vault is shut") {
		t.Errorf("without any key: %v, want class auth", err)
	}
	if d := cmp.Diff([]string{"old", "new", "old", "newer"}, sent); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A request that is refused for its thinking goes once more without.
func TestThinkingThatIsRefusedIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		refuse string
		sent   []bool // whether requests have thinking
		class  pawl.Class
	}{
		"a signature":    {"messages.1.content.0: Invalid `signature` in `thinking` block", []bool{true, false}, 0},
		"another place":  {"messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", []bool{true, false}, 0},
		"something else": {"max_tokens: too large", []bool{true}, pawl.ClassInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []bool
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = append(sent, strings.Contains(string(body), "thinking"))
				if len(sent) == 1 {
					w.WriteHeader(http.StatusBadRequest)
					json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": c.refuse}})
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, whole)
			}))
			defer srv.Close()
			m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{APIKey: "key", BaseURL: srv.URL})
			var err error
			for _, e := range m.Stream(t.Context(), requests["history"].Request) {
				err = e
			}
			if class(err) != c.class {
				t.Errorf("error %v, want class %v", err, c.class)
			}
			if d := cmp.Diff(c.sent, sent); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
