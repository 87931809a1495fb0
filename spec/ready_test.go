package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/spec"
)

// keyless is a model whose key is missing.
type keyless struct {
	pawl.Model
	name string
}

func (k keyless) Ready() error { return errors.New("no key for " + k.name) }

func (k keyless) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: k.name} }

// TestUnready checks that every model of a spec and of its agents is found, each at
// the place that names it, and none that would not be asked.
func TestUnready(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("deep.yaml", "name: deep\ndescription: Deep.\nmodel: far/deep\n")
	write("inner.yaml", "name: inner\ndescription: Inner.\ntools: [{agent: deep.yaml}]\n") // asks its caller's model
	write("flow.yaml", "name: flow\nloop: workflow\nsteps:\n  - {id: a, agent: deep.yaml, input: x}\n")
	write("main.yaml", `name: main
model: {name: far/main, fallback: [far/second, near/third]}
tools: [{agent: inner.yaml}]
judge: {reflexion: {model: far/judge}}
context: {summary_model: far/summary}
hooks: [{steer: {policy: Be kind., model: far/judge}}]
`)
	registry := &spec.Registry{Default: "far/default", Models: map[string]spec.Provider{
		"far":  func(name string) (pawl.Model, error) { return keyless{name: "far/" + name}, nil },
		"near": func(string) (pawl.Model, error) { return pawl.ModelFunc(nil), nil },
	}}
	for _, c := range []struct {
		file, model string
		want        []string
	}{
		{"main.yaml", "", []string{
			"deep.yaml:3:8: no key for far/deep",
			"main.yaml:2:15: no key for far/main",
			"main.yaml:2:36: no key for far/second",
			"main.yaml:4:28: no key for far/judge",
			"main.yaml:5:26: no key for far/summary",
			"main.yaml:6:43: no key for far/judge",
		}},
		{"main.yaml", "near/other", []string{
			"deep.yaml:3:8: no key for far/deep",
			"main.yaml:4:28: no key for far/judge",
			"main.yaml:5:26: no key for far/summary",
			"main.yaml:6:43: no key for far/judge",
		}},
		{"inner.yaml", "", []string{"deep.yaml:3:8: no key for far/deep", "model: no key for far/default"}},
		{"flow.yaml", "", []string{"deep.yaml:3:8: no key for far/deep"}}, // the workflow itself asks nobody
	} {
		s, err := spec.Load(filepath.Join(dir, c.file), &spec.Options{Registry: registry, Model: c.model})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range s.Unready(registry) {
			got = append(got, strings.TrimPrefix(p.String(), dir+"/"))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s with %q: %s", c.file, c.model, d)
		}
		if all := s.Warnings(registry); len(all) != len(got) {
			t.Errorf("%s: the warnings are %v", c.file, all)
		}
		if s.Unready(nil) != nil {
			t.Error("without a registry there are models")
		}
	}
}
