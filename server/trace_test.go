package server_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A run is part of the trace of who asks for it, and of none if nobody says so.
func TestStartWithinTrace(t *testing.T) {
	w := serve(t, nil)
	const id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, said := range []string{id, "nonsense", ""} {
		res, data := w.send(request{token: admin, method: http.MethodPost, path: "/v1/runs?wait=true", body: `{"agent":"calm","input":"x"}`,
			header: http.Header{"Traceparent": {said}}})
		var r pawl.Result
		if err := json.Unmarshal(data, &r); err != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("%d, %v: %s", res.StatusCode, err, data)
		}
		s, err := engine.Load(t.Context(), w.journal, r.Run)
		must(t, err)
		want := ""
		if said == id {
			want = id
		}
		if start, _ := s.Start(); start.Traceparent != want {
			t.Errorf("told %q, the log says %q", said, start.Traceparent)
		}
	}
}
