package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const reportedSpec = `
name: teller
model: script:say.yaml
prompt: Tell.
tools:
  - {name: where, description: Say where., command: [sh, -c, 'printf %s "$TRACEPARENT"'], effect: read}
`

const reportedScript = `
replies:
  - {calls: [{tool: where, args: {}}]}
  - {text: done}
`

// reporting runs a spec with a command under further variables, and returns the
// exit code, what was printed and what was said.
func reporting(t *testing.T, environ ...string) (code int, out, said string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"teller.yaml": reportedSpec, "say.yaml": reportedScript} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	environ = append([]string{"PAWL_DATABASE=sqlite:" + filepath.Join(dir, "pawl.db")}, environ...)
	return typing(t, t.Context(), strings.NewReader(""), environ, "run", filepath.Join(dir, "teller.yaml"), "go", "--events", "-")
}

// With OTEL_EXPORTER_OTLP_ENDPOINT set, a run is sent there, with the headers that
// are to go with it and as part of the trace that TRACEPARENT names; the headers'
// values stand in no text.
func TestRunIsReported(t *testing.T) {
	var mu sync.Mutex
	got := map[string]string{}
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got[r.URL.Path] += string(body)
		got["key"] = r.Header.Get("Api-Key")
	}))
	defer far.Close()
	code, out, said := reporting(t,
		"OTEL_EXPORTER_OTLP_ENDPOINT="+far.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=0123456789abcdefgh",
		"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if code != 0 || out != "done\n" {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"invoke_agent teller", "execute_tool where", "chat say.yaml", "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"} {
		if !strings.Contains(got["/v1/traces"], want) {
			t.Errorf("the traces have no %q: %q", want, got["/v1/traces"])
		}
	}
	if !strings.Contains(got["/v1/metrics"], "gen_ai.client.inference.usage.input_tokens") || !strings.Contains(got["/v1/logs"], "run ended") {
		t.Errorf("metrics or logs are missing: %q", got)
	}
	if got["key"] != "0123456789abcdefgh" || strings.Contains(said, got["key"]) {
		t.Errorf("the header is %q; said was %s", got["key"], said)
	}
	if !strings.Contains(said, `"result":"00-4bf92f3577b34da6a3ce929d0e0e4736-`) {
		t.Errorf("the command is not told of the trace: %s", said)
	}
}

// A collector that is not there, or that does not answer, or settings that make no
// sense: the run is as it would be, it is said once, and nothing is held up for
// longer than it may be.
func TestCollectorIsDown(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(silent.Close) // the cases run when this function has returned
	t.Cleanup(func() { close(release) })
	for name, environ := range map[string][]string{
		"not there": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"},
		"silent":    {"OTEL_EXPORTER_OTLP_ENDPOINT=" + silent.URL},
		"no URL":    {"OTEL_EXPORTER_OTLP_ENDPOINT=collector"},
		"gRPC":      {"OTEL_EXPORTER_OTLP_ENDPOINT=" + silent.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			code, out, said := reporting(t, environ...)
			if code != 0 || out != "done\n" {
				t.Errorf("exit %d: %s%s", code, out, said)
			}
			if n := strings.Count(said, "pawl: telemetry:"); n == 0 || n > 2 {
				t.Errorf("it is said %d times: %s", n, said)
			}
			if took := time.Since(began); took > time.Minute { // five and what a busy machine adds
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		_, _, said := reporting(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_SDK_DISABLED=true")
		if strings.Contains(said, "pawl: telemetry") || !strings.Contains(said, `"result":""`) {
			t.Errorf("it said %s", said)
		}
	})
}
