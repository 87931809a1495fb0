package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// examples are the documents under examples, each with the tables that it is
// read by: specs, and what stands beside them.
var examples = []struct {
	pattern string
	tables  []*table
	runs    bool // by itself, as others say that run it
}{
	{"../examples/specs/*.yaml", []*table{specKeys}, true},
	{"../examples/specs/agents/*.yaml", []*table{specKeys}, false},
	{"../examples/team/booking.yaml", []*table{specKeys}, false}, // run by the test of cmd/cli
	{"../examples/specs/policies/*.yaml", []*table{policyKeys}, false},
	{"../examples/specs/skills/*/SKILL.md", []*table{skillKeys}, false},
	{"../examples/hyphen/*.json", []*table{hyphenKeys}, true},
	{"../examples/hyphen/tools.yaml", toolList.tables, false},
	{"../examples/hyphen/workflows/*.yaml", []*table{specKeys}, false},
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
				t.Errorf("%s is not run by a test, which looks at what comes of it (write %s/%s.txtar): %v", file, exampleScripts, name, err)
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
	used := map[*table]map[string]bool{}
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
			keysIn(t, file, root, kind.tables, used)
		}
	}
	for _, one := range append(every(t), skillKeys, policyKeys, policyLimitKeys, policyGateKeys) {
		for _, k := range one.keys {
			if !used[one][k.name] {
				t.Errorf("%s (of %s) stands in no example: put it into one of examples/specs, and look in %s at what comes of it", k.name, one.title, exampleScripts)
			}
		}
	}
	if len(used) < 25 {
		t.Errorf("only %d kinds of mappings were found", len(used))
	}
}

// keysIn notes the keys of a value that may be a mapping of one of some tables.
// One with keys of the author's choice is none of them, but may hold some.
func keysIn(t *testing.T, file string, n *node, tables []*table, used map[*table]map[string]bool) {
	t.Helper()
	if len(tables) == 0 {
		return
	}
	for _, item := range n.items {
		keysIn(t, file, item, tables, used)
	}
	var is []*table
	for _, one := range tables {
		if len(n.pairs) > 0 && !slices.ContainsFunc(n.pairs, func(p pair) bool { return !slices.Contains(one.names(), p.key) }) {
			is = append(is, one)
		}
	}
	switch len(is) {
	case 0:
		for _, p := range n.pairs {
			keysIn(t, file, p.value, tables, used)
		}
	case 1:
		if used[is[0]] == nil {
			used[is[0]] = map[string]bool{}
		}
		for _, p := range n.pairs {
			used[is[0]][p.key] = true
			i := slices.IndexFunc(is[0].keys, func(k key) bool { return k.name == p.key })
			tables := is[0].keys[i].value.tables
			if is[0] == stepKeys && slices.Contains([]string{"cases", "default", "do", "parallel"}, p.key) {
				tables = []*table{stepKeys} // steps stand within steps, which a table cannot say of itself
			}
			keysIn(t, file, p.value, tables, used)
		}
	default:
		t.Errorf("%s:%d:%d: this may be %s or %s", file, n.place.line, n.place.column, is[0].title, is[1].title)
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
