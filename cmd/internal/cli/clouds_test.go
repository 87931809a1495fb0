//go:build clouds

package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// A gateway speaks the wires of all clouds. Each gets its requests at its own path, with the key and the
// headers of the spec, and never what the environment has for the cloud itself.
func TestClouds(t *testing.T) {
	for name, value := range map[string]string{
		"GATEWAY_KEY": "key-of-the-gateway", "AZURE_OPENAI_API_KEY": "other", "AZURE_OPENAI_ENDPOINT": "http://localhost:1",
		"AWS_BEARER_TOKEN_BEDROCK": "other", "AWS_REGION": "eu-central-1", "GOOGLE_CLOUD_PROJECT": "contoso", "GOOGLE_CLOUD_LOCATION": "global",
	} {
		t.Setenv(name, value)
	}
	fake := fakeprovider.New(pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("Hello."), nil }), nil)
	t.Cleanup(fake.Close)
	for wire, want := range map[string]struct{ path, header, key string }{
		"azure":   {"/openai/v1/responses", "Api-Key", "key-of-the-gateway"},
		"bedrock": {"/model/small/converse-stream", "Authorization", "Bearer key-of-the-gateway"},
		"vertex":  {"/v1/projects/contoso/locations/global/publishers/google/models/small:streamGenerateContent", "Authorization", "Bearer key-of-the-gateway"},
	} {
		t.Run(wire, func(t *testing.T) {
			var got *http.Request
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Clone(context.Background())
				if wire == "bedrock" {
					converse(t, w)
					return
				}
				fake.ServeHTTP(w, r)
			}))
			t.Cleanup(srv.Close)
			dir := t.TempDir()
			file := filepath.Join(dir, "agent.yaml")
			text := "name: a\nmodel: gateway/small\nproviders:\n  gateway: {wire: " + wire + ", base_url: \"" + srv.URL + "\", key: GATEWAY_KEY, headers: {X-Title: pawl}}\n"
			must(t, os.WriteFile(file, []byte(text), 0o600))
			var out, errs bytes.Buffer
			env := append(os.Environ(), "PAWL_DATABASE=sqlite:"+filepath.Join(dir, "pawl.db"), "XDG_STATE_HOME="+dir)
			code := cli.Main(t.Context(), []string{"run", file, "hello"}, strings.NewReader(""), &out, &errs, env)
			if code != 0 || out.String() != "Hello.\n" || got == nil || got.URL.Path != want.path || got.Header.Get(want.header) != want.key || got.Header.Get("X-Title") != "pawl" {
				t.Errorf("exit code %d, %q, for %+v\n%s", code, &out, got, &errs)
			}
		})
	}
}

// converse answers as ConverseStream does.
func converse(t *testing.T, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for _, event := range [][2]string{
		{"messageStart", `{"role":"assistant"}`},
		{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hello."}}`},
		{"contentBlockStop", `{"contentBlockIndex":0}`},
		{"messageStop", `{"stopReason":"end_turn"}`},
		{"metadata", `{"usage":{"inputTokens":9,"outputTokens":2,"totalTokens":11},"metrics":{"latencyMs":1}}`},
	} {
		m := eventstream.Message{Payload: []byte(event[1])}
		m.Headers.Set(":message-type", eventstream.StringValue("event"))
		m.Headers.Set(":event-type", eventstream.StringValue(event[0]))
		if err := eventstream.NewEncoder().Encode(w, m); err != nil {
			t.Error(err)
		}
	}
}
