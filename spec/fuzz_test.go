package spec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
)

// Whatever a file holds, reading it ends with an agent or with problems that
// stand in the file, in its order; and what was read reads back from its source.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			if part.Name != "problems" {
				f.Add(part.Data, filepath.Ext(part.Name) == ".json")
			}
		}
	}
	examples, _ := filepath.Glob("../examples/specs/*.yaml")
	for _, file := range examples {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b, false)
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
			if _, err := ParseSource(a.Source, &Options{Registry: r}); err != nil {
				t.Fatalf("the source: %v", err)
			}
			return
		}
		problems, ok := err.(Problems)
		if !ok || len(problems) == 0 {
			t.Fatalf("the error is %T: %v", err, err)
		}
		lines := newSource(name, plainLines(string(data))).lines
		for _, p := range problems {
			if p.Message == "" || p.Line < 1 || p.Column < 1 || p.Line > len(lines)+1 {
				t.Errorf("%v", p)
			}
		}
		if !slices.Equal(problems, problems.sorted()) {
			t.Errorf("out of order:\n%v", problems)
		}
	})
}
