package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/pipe"
)

// A provider of one's own has a name, an address, a key and headers of its own.
func TestEndpoint(t *testing.T) {
	t.Setenv("GOOGLE_CLOUD_PROJECT", "contoso")
	t.Setenv("GOOGLE_CLOUD_LOCATION", "eu")
	for name, path := range map[string]string{
		"gemini-3-flash":   "/v1/projects/contoso/locations/eu/publishers/google/models/gemini-3-flash:streamGenerateContent",
		"claude-haiku-5-5": "/v1/projects/contoso/locations/eu/publishers/anthropic/models/claude-haiku-5-5:streamRawPredict",
	} {
		var got *http.Request
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			http.NotFound(w, r)
		}))
		t.Cleanup(srv.Close)
		m, err := open("vertex/"+name, pipe.Endpoint{Provider: "acme", BaseURL: srv.URL, Key: "secret", Headers: map[string]string{"X-Title": "pawl"}})
		if err != nil {
			t.Fatal(err)
		}
		d := m.(pawl.Describer).Describe()
		for _, err := range m.Stream(t.Context(), pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "2+2?"}}}}}) {
			t.Log(err)
		}
		if d.Name != "acme/"+name || d.PriceFrom == "table" || got == nil || got.URL.Path != path || got.Header.Get("Authorization") != "Bearer secret" || got.Header.Get("X-Title") != "pawl" {
			t.Errorf("%s is described as %+v; its request is %+v", name, d, got)
		}
	}
}
