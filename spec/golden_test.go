package spec

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/script"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// registry has models that call nobody.
func registry() *Registry {
	say := func(price *pawl.Price) Provider {
		return func(name string) (pawl.Model, error) {
			if name == "none" {
				return nil, errors.New("there is no such model")
			}
			return priced{script.Replies(pawl.Say("done")), price}, nil
		}
	}
	return &Registry{Models: map[string]Provider{
		"anthropic": say(&pawl.Price{Input: 3, Output: 15}),
		"openai":    say(nil),
		"mechanic":  say(nil),

		"azure":   say(&pawl.Price{Input: 1, Output: 8}),
		"bedrock": say(&pawl.Price{Input: 1, Output: 8}),
		"vertex":  say(&pawl.Price{Input: 1, Output: 8}),

		"script": func(name string) (pawl.Model, error) { return loadScript(name) },
	}, Now: sheet.AsOf}
}

func loadScript(name string) (pawl.Model, error) {
	m, err := script.Load(name)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Every archive holds a spec and, as problems, what is wrong with it.
func TestProblems(t *testing.T) {
	golden(t, "testdata/problems/*.txtar", func(name string, data []byte) error {
		_, err := Parse(name, data, &Options{Registry: registry()})
		return err
	})
}

// The same of policies.
func TestPolicyProblems(t *testing.T) {
	golden(t, "testdata/policies/*.txtar", func(name string, data []byte) error {
		_, err := ParsePolicy(name, data)
		return err
	})
}

func golden(t *testing.T, pattern string, parse func(name string, data []byte) error) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("there are no golden files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			must(t, err)
			var out []txtar.File
			for i := 0; i < len(archive.Files); i++ {
				f := archive.Files[i]
				if f.Name == "problems" {
					continue
				}
				got := "none\n"
				if err := parse(f.Name, f.Data); err != nil {
					if _, ok := errors.AsType[Problems](err); !ok {
						t.Fatalf("the error is a %T", err)
					}
					got = err.Error() + "\n"
				}
				out = append(out, f, txtar.File{Name: "problems", Data: []byte(got)})
				want := ""
				if i+1 < len(archive.Files) && archive.Files[i+1].Name == "problems" {
					want = string(archive.Files[i+1].Data)
				}
				if diff := cmp.Diff(want, got); diff != "" && !*rewrite {
					t.Errorf("%s: problems (-want +got):\n%s", f.Name, diff)
				}
			}
			if *rewrite {
				archive.Files = out
				must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
		})
	}
}
