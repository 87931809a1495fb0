package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// examples are the documents under examples, each with the mapping that it is: specs, and what
// stands beside them.
var examples = []struct {
	pattern string
	is      *jsonschema.Schema
	runs    bool // by itself, as others say that run it
}{
	{"../examples/specs/*.yaml", reference("spec"), true},
	{"../examples/refunds/agent.yaml", reference("spec"), true},
	{"../examples/specs/agents/*.yaml", reference("spec"), false},
	{"../examples/team/booking.yaml", reference("spec"), false}, // run by the test of cmd/cli
	{"../examples/specs/policies/*.yaml", reference("policy"), false},
	{"../examples/specs/skills/*/SKILL.md", reference("skill"), false},
	{"../examples/hyphen/*.json", reference("hyphen"), true},
	{"../examples/hyphen/tools.yaml", definitions()["spec"].Properties["tools"], false},
	{"../examples/hyphen/workflows/*.yaml", reference("spec"), false},
}

// exampleScripts are run by the tests of internal/cli, one for each example.
const exampleScripts = "../cmd/internal/cli/testdata/examples"

// Every example is run from the command line by a test, in the very words of the
// comment on top of it.
func TestExamplesAreRun(t *testing.T) {
	names := map[string]bool{}
	var scripts strings.Builder
	for _, kind := range examples {
		for _, file := range filesLike(t, kind.pattern) {
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			script, err := os.ReadFile(filepath.Join(exampleScripts, name+".txtar"))
			if scripts.Write(script); !kind.runs {
				continue
			}
			names[name] = true
			if err != nil || !strings.Contains(string(script), " pawl run "+filepath.Base(file)) || !strings.Contains(string(script), "\nstd") {
				t.Errorf("%s is not run by a test, which checks its result (write %s/%s.txtar): %v", file, exampleScripts, name, err)
			}
		}
	}
	for _, file := range filesLike(t, exampleScripts+"/*.txtar") {
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); !names[name] {
			t.Errorf("%s runs no example", file)
		}
	}
	quotes := strings.NewReplacer(`"`, "", `'`, "") // which a script writes otherwise
	shownWith := quotes.Replace(scripts.String())
	shown := regexp.MustCompile(`(?m)^#   ((?:pawl|export) .+?)(?:   .*)?$`)
	for _, kind := range examples {
		for _, file := range append(filesLike(t, kind.pattern), filesLike(t, "../examples/hyphen/*.yaml")...) {
			for _, m := range shown.FindAllStringSubmatch(readFile(t, file), -1) {
				command := quotes.Replace(m[1])
				if !strings.Contains(shownWith, command) && !strings.HasPrefix(command, "export ") && !strings.Contains(command, "…") {
					t.Errorf("%s shows a command that no test runs: %s", file, m[1])
				}
			}
		}
	}
}

// Every key of the language, nested ones too, stands in an example that is run.
func TestEveryKeyHasAnExample(t *testing.T) {
	used := map[*jsonschema.Schema]map[string]bool{}
	for _, kind := range examples {
		for _, file := range filesLike(t, kind.pattern) {
			text := readFile(t, file)
			if head, ok := strings.CutPrefix(text, "---\n"); ok { // of a skill
				text, _, _ = strings.Cut(head, "\n---\n")
			}
			d, root := readDocument(file, text)
			if root == nil || len(d.problems) > 0 {
				t.Fatal(file, d.problems)
			}
			keysIn(kind.is, root, used)
		}
	}
	for name, one := range definitions() {
		for _, key := range one.PropertyOrder {
			if !used[one][key] && name != "node" {
				t.Errorf("%s (of %s) stands in no example: put it into one of examples/specs, and check the result in %s", key, one.Title, exampleScripts)
			}
		}
	}
	if len(used) < 25 {
		t.Errorf("only %d kinds of mappings were found", len(used))
	}
}

// keysIn notes the keys of a value.
func keysIn(s *jsonschema.Schema, n *node, used map[*jsonschema.Schema]map[string]bool) {
	of := alternative(s, n)
	if of == nil {
		return
	}
	for _, item := range n.items {
		if of.Items != nil {
			keysIn(of.Items, item, used)
		}
	}
	if of == definitions()["node"] {
		of = definitions()["step"]
	}
	for _, p := range n.pairs {
		switch {
		case of.Properties[p.key.text] != nil:
			if used[of] == nil {
				used[of] = map[string]bool{}
			}
			used[of][p.key.text] = true
			keysIn(of.Properties[p.key.text], p.value, used)
		case of.AdditionalProperties != nil:
			keysIn(of.AdditionalProperties, p.value, used)
		}
	}
}

func filesLike(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: there is nothing: %v", pattern, err)
	}
	return found
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	return string(data)
}
