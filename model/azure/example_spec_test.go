package azure_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/model/azure"
	"github.com/pawl-run/pawl/spec"
)

// The example fails over from one deployment, whose key is refused, to another.
func TestExample(t *testing.T) {
	t.Parallel()
	r := newResource(t, brain, nil)
	const file = "../../examples/specs/azure.yaml"
	text, err := os.ReadFile(file)
	must(t, err)
	o := &azure.Options{APIKey: r.key, Price: &pawl.Price{Input: 1, Output: 1}}
	registry := &spec.Registry{Models: map[string]spec.Provider{
		"azure": func(name string) (pawl.Model, error) {
			if name == "gpt-6.2-sol" {
				return azure.New(r.URL, name, &azure.Options{APIKey: "wrong", Price: o.Price}), nil
			}
			return azure.New(r.URL, name, o), nil
		},
	}}
	s, err := spec.Parse(file, text, &spec.Options{Registry: registry})
	must(t, err)
	agent, err := s.Agent(registry)
	must(t, err)
	got, err := engine.Run(t.Context(), agent, "Why?")
	if err != nil || got.Status != pawl.StatusSuccess || got.Answer != "four" {
		t.Errorf("it ends with %+v, %v", got, err)
	}
	requests := r.fake.Requests()
	if len(requests) != 1 || requests[0].Model != "gpt-6-luna" || !strings.HasSuffix(requests[0].Path, "/responses") {
		t.Errorf("the requests are %+v", requests)
	}
}

var must = check.Must
