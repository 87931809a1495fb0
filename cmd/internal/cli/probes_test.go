package cli

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Prometheus and probes need no token and no host name, and get nothing else.
func TestProbing(t *testing.T) {
	var broken error
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("pawl_runs 1\n")) })
	h := probing(metrics, func(context.Context) error { return broken })
	ask := func(path string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "10.1.2.3:9090"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for path, want := range map[string]string{"/metrics": "pawl_runs 1\n", "/healthz": "ok\n", "/readyz": "ok\n"} {
		if code, text := ask(path); code != http.StatusOK || text != want {
			t.Errorf("%s: %d %q", path, code, text)
		}
	}
	if code, _ := ask("/v1/runs"); code != http.StatusNotFound {
		t.Errorf("/v1/runs: %d", code)
	}
	broken = errors.New("the journal does not answer")
	if code, text := ask("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "journal") {
		t.Errorf("/readyz: %d %q", code, text)
	}
	if code, _ := ask("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
}
