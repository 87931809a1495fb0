package openai_test

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
	"github.com/pawl-run/pawl/model/openai"
)

func TestDescribe(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	got := openai.New("gpt-5-mini", nil).Describe()
	want := pawl.ModelInfo{
		Name: "openai/gpt-5-mini", Endpoint: "https://api.openai.com/v1",
		Price: &pawl.Price{Input: 0.25, Output: 2, CacheRead: 0.025},
		Wire:  pawl.Wire{Frame: 260, Message: 150, Tool: 100},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/")
	got = openai.New("house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "openai/house", Endpoint: "http://127.0.0.1:1/v1", Wire: pawl.Wire{Frame: 255, Message: 150, Tool: 100}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A name says what a model costs only where its provider serves it.
func TestPriceOfAnAddress(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	table, own := pawl.Price{Input: 0.25, Output: 2, CacheRead: 0.025}, pawl.Price{Input: 1, Output: 2}
	for _, c := range []struct {
		base string
		own  *pawl.Price
		want *pawl.Price
	}{
		{"", nil, &table},
		{"https://api.OPENAI.COM/v1/", nil, &table},
		{"https://house.openai.azure.com/openai/v1", nil, &table},
		{"http://127.0.0.1:11434/v1", nil, nil},
		{"https://api.openai.com.example.com", nil, nil},
		{"https://example.com/?api.openai.com", nil, nil},
		{"http://127.0.0.1:11434/v1", &own, &own},
		{"", &own, &own},
		{"%", nil, nil},
	} {
		o := &openai.Options{BaseURL: c.base, Price: c.own}
		for _, m := range []pawl.Describer{openai.New("gpt-5-mini", o), openai.NewResponses("gpt-5-mini", o)} {
			if d := cmp.Diff(c.want, m.Describe().Price); d != "" {
				t.Errorf("at %q (-want +got):\n%s", c.base, d)
			}
		}
	}
}

// sent gives the body of a request on its way to a host that is never asked.
type sent struct{ body map[string]any }

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := json.NewDecoder(r.Body).Decode(&s.body); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

func TestTheCeilingHasTwoNames(t *testing.T) {
	for _, c := range []struct{ base, key, want string }{
		{"https://api.openai.com/v1", "", "max_completion_tokens"},
		{"https://me.openai.azure.com/openai/v1", "", "max_completion_tokens"},
		{"http://127.0.0.1:11434/v1", "", "max_tokens"},
		{"https://openai.com.example/v1", "", "max_tokens"},
		{"http://127.0.0.1:11434/v1", "max_output", "max_output"},
	} {
		s := &sent{}
		m := openai.New("gpt-5-mini", &openai.Options{APIKey: "key", BaseURL: c.base, MaxTokensKey: c.key, HTTPClient: &http.Client{Transport: s}})
		if err := last(t.Context(), m); class(err) != pawl.ClassNetwork {
			t.Errorf("%s: %v", c.base, err)
		}
		for _, k := range []string{"max_tokens", "max_completion_tokens", "max_output"} {
			if _, ok := s.body[k]; ok != (k == c.want) {
				t.Errorf("%s: %s is sent: %v", c.base, k, ok)
			}
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
	for _, e := range m.Stream(ctx, requests["hello"]) {
		err = e
	}
	return err
}

func TestNoKeySendsNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	m := openai.New("gpt-5-mini", &openai.Options{HTTPClient: &http.Client{Transport: refuse{t}}})
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
	m := openai.New("gpt-5-mini", &openai.Options{APIKey: "key", BaseURL: srv.URL})
	if err := last(t.Context(), m); class(err) != pawl.ClassNetwork {
		t.Errorf("error %v, want class network", err)
	}
}

const begun = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"

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
	for c, e := range openai.New("gpt-5-mini", &openai.Options{APIKey: "key", BaseURL: srv.URL}).Stream(ctx, requests["hello"]) {
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
	for range openai.New("gpt-5-mini", &openai.Options{APIKey: "key", BaseURL: srv.URL}).Stream(t.Context(), requests["hello"]) {
		break
	}
	<-gone
}

// A key that is refused is asked for again, once.
func TestKeysChange(t *testing.T) {
	for name, stream := range map[string]struct {
		model func(*openai.Options) pawl.Model
		whole string
	}{
		"chat":      {func(o *openai.Options) pawl.Model { return openai.New("tiny", o) }, begun + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"},
		"responses": {func(o *openai.Options) pawl.Model { return openai.NewResponses("tiny", o) }, whole},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = append(sent, r.Header.Get("Authorization"))
				if body, err := io.ReadAll(r.Body); err != nil || !json.Valid(body) {
					t.Errorf("body %q, %v", body, err)
				}
				if r.Header.Get("Authorization") != "Bearer new" {
					http.Error(w, `{"error":{"message":"expired","code":"token_expired"}}`, http.StatusUnauthorized)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, stream.whole)
			}))
			defer srv.Close()
			keys := map[string]string{"": "old", "old": "new"}
			o := &openai.Options{BaseURL: srv.URL, Key: func(_ context.Context, refused string) (string, error) {
				if k, ok := keys[refused]; ok {
					return k, nil
				}
				return "", errors.New("the vault is shut")
			}}
			m := stream.model(o)
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
			if d := cmp.Diff([]string{"Bearer old", "Bearer new", "Bearer old", "Bearer newer"}, sent); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
