package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
)

// Whatever a file holds, reading it ends with an agent or with problems that
// stand in the file, in its order; and what was read reads back from its source.
func FuzzParse(f *testing.F) {
	scriptless := regexp.MustCompile(`script:[a-z/.-]+|gpt-6.2-sol`)
	files, err := filepath.Glob("testdata/problems/*.txtar")
	must(f, err)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		must(f, err)
		for _, part := range archive.Files {
			if part.Name != "problems" {
				f.Add(part.Data, filepath.Ext(part.Name) == ".json")
			}
		}
	}
	for _, pattern := range []string{"../examples/specs/*.yaml", "../examples/specs/agents/*.yaml", "../examples/hyphen/*.json"} {
		examples, _ := filepath.Glob(pattern)
		for _, file := range examples {
			if b, err := os.ReadFile(file); err == nil {
				f.Add(b, filepath.Ext(file) == ".json")
				f.Add(scriptless.ReplaceAll(b, []byte("mechanic")), filepath.Ext(file) == ".json")
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		name := "spec.yaml"
		if asJSON {
			name = "spec.json"
		}
		r := registry()
		delete(r.Models, "script") // it would read files
		s, err := Parse(name, data, &Options{Registry: r})
		if err == nil {
			a, err := s.Agent(r)
			if err != nil {
				t.Fatalf("parsed, but: %v", err)
			}
			s.Warnings(r)
			readsBack(t, a, r)
			return
		}
		placed(t, err, name, string(data))
	})
}

// placed says what is wrong with problems: each stands in a file, in its order.
func placed(t *testing.T, err error, name, text string) {
	t.Helper()
	problems, ok := err.(Problems)
	if !ok || len(problems) == 0 {
		t.Fatalf("the error is %T: %v", err, err)
	}
	lines := newSource(name, plainLines(text)).lines
	for _, p := range problems {
		if p.Message == "" || p.File == "" || p.Line < 1 || p.Column < 1 || p.File == name && p.Line > len(lines)+1 {
			t.Errorf("%v", p)
		}
	}
	if !slices.Equal(problems, problems.sorted()) {
		t.Errorf("out of order:\n%v", problems)
	}
}

// readsBack wants an agent to come back from its source.
func readsBack(t *testing.T, a pawl.Agent, r *Registry) {
	t.Helper()
	declared := func(a pawl.Agent) pawl.Declaration {
		m, err := pawl.NewMachine(progress.Guard(a))
		if err != nil {
			t.Fatalf("there is an agent, but: %v", err)
		}
		return m.Declaration()
	}
	was := declared(a)
	again, err := ParseSource(a.Source, &Options{Registry: r})
	if err != nil {
		t.Fatalf("the source: %v", err)
	}
	b, err := again.Agent(r)
	if err != nil {
		t.Fatalf("the source: %v", err)
	}
	if diff := declared(b).Differences(was); diff != nil {
		t.Errorf("by its source it differs in %v", diff)
	}
}
