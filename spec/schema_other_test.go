package spec

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"golang.org/x/tools/txtar"
)

// The published schema means the same to a validator that Pawl does not use: it
// takes every example, and refuses each shape that is planted wrong.
func TestSchemaElsewhere(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	other, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(file, text string) error {
		d, root := readDocument(file, text)
		if root == nil || len(d.problems) > 0 {
			t.Fatalf("%s: %v", file, d.problems)
		}
		var b bytes.Buffer
		root.json(&b)
		var v any
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		return other.Validate(v)
	}
	n := 0
	for _, pattern := range []string{"../examples/specs/*.yaml", "../examples/specs/agents/*.yaml", "../examples/hyphen/*.json", "../examples/hyphen/workflows/*.yaml"} {
		for _, file := range filesLike(t, pattern) {
			n++
			if err := check(file, readFile(t, file)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if n < 25 {
		t.Errorf("only %d examples", n)
	}
	archive, err := txtar.ParseFile("../cmd/internal/cli/testdata/script/planted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range archive.Files {
		switch part.Name {
		case "planted.yaml", "planted.json", "researcher.yaml", "loop.json":
			if check(part.Name, string(part.Data)) == nil {
				t.Errorf("it takes %s", part.Name)
			}
		}
	}
	// One at a time, in a spec that is right otherwise.
	const good = "name: a\nmodel: mechanic\n"
	if err := check("a.yaml", good); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{
		"promt: x", "labels: [a]", "builtins: maybe", "limits: {iteratons: 3}", "limits: {iterations: 0}", "limits: {iterations: 20000}", "limits: {cost: -1}", "stop: 5", "loop: 5", "policies: x", "strategy: jsn", "env: X",
		"tools: {name: x}", "tools: [x]", "tools: [{name: a b, description: d, command: [x]}]", "tools: [{name: a, description: d}]", "tools: [{name: a, command: [x]}]", "tools: [{name: a, description: d, command: x}]", "tools: [{name: a, description: d, command: []}]",
		"tools: [{name: a, description: d, command: [x], efect: read}]", "tools: [{name: a, description: d, command: [x], effect: raed}]", "tools: [{name: a, description: d, command: [x], timeout: 30}]", "tools: [{name: a, description: d, command: [x], approval: true}]",
		"tools: [{name: a, description: d, client: true, command: [x]}]", "tools: [{builtin: read_file}]", "tools: [{mcp: {name: a}}]", "tools: [{mcp: {name: a, url: x, command: [x]}}]", "tools: [{agent: 5}]", "approvals: {on_deny: halt}", "no_progress: {then: give_up}",
		"goal: {metric: {command: [x]}}", "observe: {}", "judge: {reflexion: {evry: 1}}", "guard: {pii: remove}", "cage: {network: off}", "hooks: [logs]", "hooks: [{log: {}, retry: {}}]", "fetch: {allow: []}", "prices: {m: {input: 1}}", "price_staleness: soon", "skills: ./skills", "output: text",
	} {
		if check("a.yaml", good+wrong+"\n") == nil {
			t.Errorf("it takes %s", wrong)
		}
	}
}
