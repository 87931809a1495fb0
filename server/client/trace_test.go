package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pawl-run/pawl/internal/traceparent"
	"github.com/pawl-run/pawl/server/client"
)

// A server is told of the trace within which it is asked.
func TestServerIsToldOfTheTrace(t *testing.T) {
	var told []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told = append(told, r.Header.Get("Traceparent"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"agents":[]}`))
	}))
	defer web.Close()
	c, err := client.New(web.URL, "token", nil)
	if err != nil {
		t.Fatal(err)
	}
	const id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if _, err := c.Agents(traceparent.With(t.Context(), traceparent.Parent{ID: id})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agents(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0] != id || told[1] != "" {
		t.Errorf("it is told %q", told)
	}
}
