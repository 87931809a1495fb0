package cli

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/spec"
)

func TestDefaultModel(t *testing.T) {
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{nil, ""},
		{[]string{"GOOGLE_API_KEY=k"}, ""}, // a key for any service of Google's
		{[]string{"GEMINI_API_KEY=k"}, "google/gemini-4-hydrogen"},
		{[]string{"GEMINI_API_KEY=k", "OPENAI_API_KEY=k"}, "openai/gpt-6.2-sol"},
		{[]string{"OPENAI_API_KEY=", "ANTHROPIC_API_KEY=k"}, "anthropic/claude-sonnet-5-5"},
	} {
		if got := (&environment{environ: c.environ}).defaultModel(); got != c.want {
			t.Errorf("%q: %s, want %s", c.environ, got, c.want)
		}
	}
}

// The default of a program counts after what its user names, and before what keys suggest.
func TestNamedModel(t *testing.T) {
	a := &app{environment: environment{environ: []string{"OPENAI_API_KEY=k"}, program: &spec.Registry{Default: "house/small"}}}
	if got := a.namedModel(""); got != "house/small" {
		t.Errorf("the default is %s", got)
	}
	a.environ = append(a.environ, "PAWL_MODEL=openai/x")
	if got := a.namedModel(""); got != "openai/x" {
		t.Errorf("PAWL_MODEL is %s", got)
	}
	if got := a.namedModel("openai/y"); got != "openai/y" {
		t.Errorf("--model is %s", got)
	}
}

func TestModelsOfProviders(t *testing.T) {
	a := &app{environment: environment{environ: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:1", "OPENAI_BASE_URL=http://127.0.0.1:2", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:3"}}}
	for name, endpoint := range map[string]string{
		"anthropic/x": "http://127.0.0.1:1", "openai/x": "http://127.0.0.1:2", "google/x": "http://127.0.0.1:3",
	} {
		m, err := a.model(name)
		must(t, err)
		if got := m.(pawl.Describer).Describe(); got.Name != name || got.Endpoint != endpoint {
			t.Errorf("%s is %+v", name, got)
		}
	}
}
