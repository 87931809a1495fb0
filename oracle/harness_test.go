package oracle

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	ouranthropic "github.com/pawl-run/pawl/model/anthropic"
	ourgoogle "github.com/pawl-run/pawl/model/google"
	ouropenai "github.com/pawl-run/pawl/model/openai"
)

var must = check.Must

// compatible is a server that speaks Chat Completions and is none of OpenAI's.
const compatible = "https://compatible.example/v1"

// TestMain keeps what the environment says of servers from the adapters and the SDKs.
func TestMain(m *testing.M) {
	for _, name := range []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// A provider answers requests without a network, each with the next of its streams and at last with
// empty ones, and keeps their bodies.
type provider struct {
	streams []string
	bodies  [][]byte
}

// RoundTrip implements [http.RoundTripper].
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.bodies = append(p.bodies, body)
	stream := ""
	if n := len(p.bodies); n <= len(p.streams) {
		stream = p.streams[n-1]
	}
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body:   io.NopCloser(bytes.NewBufferString(stream)),
	}, nil
}

func (p *provider) client() *http.Client { return &http.Client{Transport: p} }

// adapter returns our adapter of a wire.
func (p *provider) adapter(wire, model string) pawl.Model {
	switch wire {
	case "anthropic":
		return ouranthropic.New(model, &ouranthropic.Options{APIKey: "key", HTTPClient: p.client()})
	case "responses":
		return ouropenai.New(model, &ouropenai.Options{APIKey: "key", HTTPClient: p.client()})
	case "chat":
		if strings.HasPrefix(model, "gpt-") {
			return ouropenai.New(model, &ouropenai.Options{APIKey: "key", HTTPClient: p.client(), API: ouropenai.Chat})
		}
		return ouropenai.New(model, &ouropenai.Options{APIKey: "key", HTTPClient: p.client(), BaseURL: compatible})
	}
	return ourgoogle.New(model, &ourgoogle.Options{APIKey: "key", HTTPClient: p.client()})
}

// The clients of the SDKs.

func (p *provider) anthropic() anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithHTTPClient(p.client()), anthropicoption.WithAPIKey("key"), anthropicoption.WithMaxRetries(0))
}

func (p *provider) openai() openai.Client {
	return openai.NewClient(openaioption.WithHTTPClient(p.client()), openaioption.WithAPIKey("key"), openaioption.WithMaxRetries(0))
}

func (p *provider) google(t *testing.T) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: p.client()})
	must(t, err)
	return c
}

// decode reads JSON with its numbers as they are written.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}
