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
	t.Setenv("AZURE_OPENAI_API_KEY", "other")
	t.Setenv("AZURE_OPENAI_ENDPOINT", "http://localhost:1")
	for name, path := range map[string]string{
		"prod": "/openai/v1/responses",
	} {
		var got *http.Request
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		t.Cleanup(srv.Close)
		m, err := open("azure/"+name, pipe.Endpoint{Provider: "acme", BaseURL: srv.URL, Key: "secret", Headers: map[string]string{"X-Title": "pawl"}})
		if err != nil {
			t.Fatal(err)
		}
		d := m.(pawl.Describer).Describe()
		for _, err := range m.Stream(t.Context(), pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "2+2?"}}}}}) {
			t.Log(err)
		}
		if d.Name != "acme/"+name || d.Price != nil || got == nil || got.URL.Path != path || got.Header.Get("Api-Key") != "secret" || got.Header.Get("X-Title") != "pawl" {
			t.Errorf("%s is described as %+v; its request is %+v", name, d, got)
		}
	}
}
