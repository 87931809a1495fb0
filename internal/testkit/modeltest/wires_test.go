package modeltest_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
)

// through runs the suite on an adapter, with a provider of its wire behind it.
func through(t *testing.T, adapter func(url string, client *http.Client) pawl.Model, o modeltest.Options) {
	var fake *fakeprovider.Server
	var open *atomic.Int64
	o.Sent = func() [][]byte {
		var list [][]byte
		for _, r := range fake.Requests() {
			// A mark for the cache moves on with the conversation.
			list = append(list, bytes.ReplaceAll(r.Body, []byte(`"cache_control":{"type":"ephemeral"},`), nil))
		}
		return list
	}
	o.Open = func() int { return int(open.Load()) }
	modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
		server, count := fakeprovider.New(brain, nil), &atomic.Int64{}
		fake, open = server, count
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			count.Add(1)
			defer count.Add(-1)
			server.ServeHTTP(w, r)
		}))
		t.Cleanup(func() { server.Close(); srv.Close() })
		return adapter(srv.URL, srv.Client())
	}, &o)
}

// Models of one wire that are spoken to differently are here more than once.
func TestAnthropic(t *testing.T) { // Promises: D2, L3.
	t.Parallel()
	for name, lacks := range map[string]modeltest.Lacks{
		"claude-haiku-4-5":  {Citations: true},
		"claude-sonnet-5-5": {Temperature: true, Citations: true},
	} {
		t.Run(name, func(t *testing.T) {
			through(t, func(url string, client *http.Client) pawl.Model {
				return anthropic.New(name, &anthropic.Options{APIKey: "key", BaseURL: url, HTTPClient: client})
			}, modeltest.Options{Lacks: lacks})
		})
	}
}

func TestOpenAIChat(t *testing.T) { // Promises: D2.
	t.Parallel()
	through(t, func(url string, client *http.Client) pawl.Model {
		return openai.New("house", &openai.Options{APIKey: "key", BaseURL: url + "/v1", HTTPClient: client})
	}, modeltest.Options{
		Lacks: modeltest.Lacks{Failed: true, Citations: true},
		Stops: []pawl.StopReason{pawl.StopPause},
	})
}

func TestOpenAIResponses(t *testing.T) { // Promises: L3.
	t.Parallel()
	through(t, func(url string, client *http.Client) pawl.Model {
		return openai.New("gpt-6.2-sol", &openai.Options{API: openai.Responses, APIKey: "key", BaseURL: url + "/v1", HTTPClient: client})
	}, modeltest.Options{
		Lacks: modeltest.Lacks{Failed: true, Temperature: true},
		Stops: []pawl.StopReason{pawl.StopPause},
	})
}

func TestGoogle(t *testing.T) { // Promises: D2, L3.
	t.Parallel()
	for name, lacks := range map[string]modeltest.Lacks{
		"gemini-4-hydrogen":     {CacheWrite: true, Temperature: true},
		"gemini-2.5-flash-lite": {CacheWrite: true},
	} {
		t.Run(name, func(t *testing.T) {
			through(t, func(url string, client *http.Client) pawl.Model {
				return google.New(name, &google.Options{APIKey: "key", BaseURL: url, HTTPClient: client})
			}, modeltest.Options{
				Lacks: lacks,
				Stops: []pawl.StopReason{pawl.StopPause},
				// A prompt that is refused is answered with a reason, not with an error.
				Classes: []pawl.Class{pawl.ClassRefused},
			})
		})
	}
}
