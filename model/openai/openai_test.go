package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

func TestDescribe(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	got := openai.New("gpt-6.2-sol", nil).Describe()
	want := pawl.ModelInfo{
		Name: "openai/gpt-6.2-sol", Endpoint: "https://api.openai.com/v1",
		Price: &pawl.Price{
			Input: 2, Output: 10, CacheRead: 0.1, CacheWrite: 2.5, CacheLong: 5, Search: 0.01, Session: 0.03,
			Long: pawl.Tier{From: 272000, Input: 4, Output: 15, CacheRead: 0.2, CacheWrite: 5, CacheLong: 10},
		},
		PriceFrom: "table", Reply: 128000, Effort: "medium",
		Wire: pawl.Wire{Frame: 511, Message: 150, Tool: 100},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/")
	got = openai.New("house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "openai/house", Endpoint: "http://127.0.0.1:1/v1", Wire: pawl.Wire{Frame: 505, Message: 150, Tool: 100}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// sent gives the body of a request on its way to a host that is never asked.
type sent struct {
	path string
	body map[string]any
}

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.path = r.URL.Path
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
		m := openai.New("gpt-6.2-sol", &openai.Options{APIKey: "key", API: openai.Chat, BaseURL: c.base, MaxTokensKey: c.key, HTTPClient: &http.Client{Transport: s}})
		if err := last(t.Context(), m, requests["hello"]); class(err) != pawl.ClassNetwork {
			t.Errorf("%s: %v", c.base, err)
		}
		for _, k := range []string{"max_tokens", "max_completion_tokens", "max_output"} {
			if _, ok := s.body[k]; ok != (k == c.want) {
				t.Errorf("%s: %s is sent: %v", c.base, k, ok)
			}
		}
	}
}

// A served answers requests without a network.
type served struct{ http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, r)
	return rec.Result(), nil
}

var class = wiretest.Class

func last(ctx context.Context, m pawl.Model, r pawl.Request) (err error) {
	for _, e := range m.Stream(ctx, r) {
		err = e
	}
	return err
}
