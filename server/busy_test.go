package server_test

import (
	"net/http"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server"
)

// A server that drives as many runs as it may answers 429 and says when to ask again. A
// run that waits takes no place.
func TestBusy(t *testing.T) {
	w := serve(t, &server.Options{MaxRuns: 1})
	asks := w.begin(admin, "asker")
	held := w.result(admin, "POST", "/v1/runs", `{"agent":"holder","input":"x"}`, 201)
	res, data := w.send(request{token: admin, method: "POST", path: "/v1/runs", body: `{"agent":"calm","input":"x"}`})
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Fatalf("%d, Retry-After %q, %s", res.StatusCode, res.Header.Get("Retry-After"), data)
	}
	w.refused(admin, "POST", "/v1/runs/"+asks.Run+"/resume", `{}`, 429, "no more than 1 run")
	close(w.release)
	w.until(held.Run, pawl.StatusSuccess)
	for range 100 { // the server lets go of the run just after it has ended
		if res, _ = w.send(request{token: admin, method: "POST", path: "/v1/runs?wait=true", body: `{"agent":"calm","input":"x"}`}); res.StatusCode == http.StatusCreated {
			return
		}
	}
	t.Errorf("a run after the end of the other: %d", res.StatusCode)
}
