package cli

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl/server/client"
)

// What waits for a run at a server waits for its stream to end.
func TestChangesOfServer(t *testing.T) {
	var ended atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/runs/r", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		status := `{"run":"r","status":"running"}`
		if ended.Load() {
			status = `{"run":"r","status":"success"}`
		}
		_, _ = w.Write([]byte(status))
	})
	mux.HandleFunc("GET /v1/runs/r/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		ended.Store(true)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	c, err := client.New(srv.URL, "token", nil)
	must(t, err)
	wait, stop := changesOf(t.Context(), &remote{Client: c, logs: map[string]*copied{}}, "r")
	defer stop()
	if err := wait(); err != nil || !ended.Load() {
		t.Errorf("%v; it waited for the stream: %v", err, ended.Load())
	}
}
