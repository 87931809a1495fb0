package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// standing is a server that stands as a test says.
type standing struct{ broken error }

func (s *standing) Ready(context.Context) error { return s.broken }

func (s *standing) WriteMetrics(to io.Writer) {
	_, _ = io.WriteString(to, "pawl_worker_busy 2\n")
}

// Prometheus and probes need no token and no host name, and get nothing else.
func TestProbing(t *testing.T) {
	var of standing
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("pawl_runs 1\n")) })
	h := probing(metrics, &of)
	ask := func(path string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "10.1.2.3:9090"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for path, want := range map[string]string{"/metrics": "pawl_runs 1\npawl_worker_busy 2\n", "/healthz": "ok\n", "/readyz": "ok\n"} {
		if code, text := ask(path); code != http.StatusOK || text != want {
			t.Errorf("%s: %d %q", path, code, text)
		}
	}
	if code, _ := ask("/v1/runs"); code != http.StatusNotFound {
		t.Errorf("/v1/runs: %d", code)
	}
	of.broken = errors.New("the journal does not answer")
	if code, text := ask("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "journal") {
		t.Errorf("/readyz: %d %q", code, text)
	}
	if code, _ := ask("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
}
