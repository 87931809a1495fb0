package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/tool/files"
	"github.com/pawl-run/pawl/tool/skill"
	"github.com/pawl-run/pawl/webhook"
	"github.com/pawl-run/pawl/window"
	"github.com/pawl-run/pawl/workflow"
)

// every is every table of the language, in the order in which they are met.
func every(t *testing.T) []*table {
	t.Helper()
	var all []*table
	var meet func(*table)
	meet = func(next *table) {
		if slices.Contains(all, next) {
			return
		}
		all = append(all, next)
		for _, k := range next.keys {
			for _, other := range k.value.tables {
				meet(other)
			}
		}
	}
	for _, root := range roots {
		meet(root)
	}
	return all
}

// The published schema and the reference are those of the tables.
func TestPublished(t *testing.T) {
	published(t, "../docs/spec.schema.json", Schema())
	const reference = "../docs/spec.md"
	old, err := os.ReadFile(reference)
	must(t, err)
	before, rest, ok := strings.Cut(string(old), "<!-- written by the tests of package spec -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ended {
		t.Fatal("the reference has no part for the keys")
	}
	published(t, reference, []byte(before+"<!-- written by the tests of package spec -->\n"+keysAsMarkdown(t)+"<!-- end -->\n"+after))
}

func published(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if *rewrite {
		must(t, os.WriteFile(file, want, 0o644))
		return
	}
	t.Errorf("%s is not up to date (run the test with -rewrite): %v\n%s", file, err, cmp.Diff(string(got), string(want)))
}

// keysAsMarkdown lists the keys of every table. Where several keys say the same as those of an
// earlier table, the list refers to that table.
func keysAsMarkdown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	first := map[string]*table{} // by the description of a key: the table that has it
	for _, one := range append(every(t), skillKeys) {
		place := commonPlace(one)
		fmt.Fprintf(&b, "\n### %s\n\n%s", one.name, one.about)
		if place != "" {
			fmt.Fprintf(&b, " In Go: `%s`.", place)
		}
		b.WriteString("\n\n")
		same := map[*table][]string{} // keys by the earlier table that describes them
		for _, k := range one.keys {
			if before := first[k.asMarkdown()]; before != nil {
				same[before] = append(same[before], "`"+k.name+"`")
			}
		}
		for _, k := range one.keys {
			line := k.asMarkdown()
			before := first[line]
			switch {
			case before == nil:
				first[line] = one
			case len(same[before]) > 1 && same[before][0] == "`"+k.name+"`":
				fmt.Fprintf(&b, "- %s: see [%s](#%[2]s).\n", strings.Join(same[before], ", "), before.name)
				continue
			case len(same[before]) > 1:
				continue
			}
			if !k.isField(place) {
				line += " `" + k.inGo + "`"
			}
			b.WriteString("- " + line + "\n")
		}
	}
	b.WriteString("\n")
	return b.String()
}

// asMarkdown describes a key without its Go equivalent.
func (k key) asMarkdown() string {
	line := "`" + k.name + "` (" + k.value.says
	switch of := strings.Join(k.of, "` or `"); {
	case k.needed && of != "":
		line += "; required with `" + of + "`"
	case k.needed:
		line += ", required"
	case of != "":
		line += "; with `" + of + "`"
	}
	line += "): " + k.about + "."
	if !slices.Contains([]string{"", "false", "none", "no limit"}, k.otherwise) { // which the page says once
		line += " Default: " + k.otherwise + "."
	}
	return line
}

// isField reports whether the Go equivalent of a key is the member of the same name of a type or
// package.
func (k key) isField(place string) bool {
	return strings.EqualFold(k.inGo, place+"."+strings.ReplaceAll(k.name, "_", ""))
}

// commonPlace returns the Go type or package with members of the same names as several keys of a
// table, or "" if there is none.
func commonPlace(one *table) string {
	count := map[string]int{}
	for _, k := range one.keys {
		if at := k.inGo[:max(strings.LastIndexByte(k.inGo, '.'), 0)]; k.isField(at) {
			count[at]++
		}
	}
	place, most := "", 1
	for _, at := range slices.Sorted(maps.Keys(count)) {
		if count[at] > most {
			place, most = at, count[at]
		}
	}
	return place
}

// goPlaces are the types and functions in which a program says what a spec does.
var goPlaces = map[string]any{
	"pawl.Agent": pawl.Agent{}, "pawl.Limits": pawl.Limits{}, "pawl.Sampling": pawl.Sampling{}, "pawl.Approvals": pawl.Approvals{},
	"pawl.Goal": pawl.Goal{}, "pawl.Price": pawl.Price{}, "pawl.Tier": pawl.Tier{}, "pawl.ToolInfo": pawl.ToolInfo{}, "pawl.ModelInfo": pawl.ModelInfo{},
	"progress.Then": progress.Then(0), "progress.NoProgress": progress.NoProgress,
	"engine.Engine": &engine.Engine{}, "engine.Options": engine.Options{}, "engine.StartOptions": engine.StartOptions{}, "engine.ResumeOptions": engine.ResumeOptions{}, "engine.Rate": engine.Rate{},
	"tool.Command": tool.Command, "tool.CommandOptions": tool.CommandOptions{}, "tool.Client": tool.Client, "tool.RunCommand": tool.RunCommand, "tool.Memory": tool.Memory, "tool.Hosted": tool.Hosted, "tool.HostedOptions": tool.HostedOptions{}, "tool.MemoryOptions": tool.MemoryOptions{}, "files.Tools": files.Tools, "fetch.Options": fetch.Options{}, "tool.Agent": tool.Agent, "tool.AgentOptions": tool.AgentOptions{},
	"tool.Cage": tool.Cage{}, "tool.CageFiles": tool.CageFiles{},
	"approval.For": approval.For, "approval.When": approval.When, "approval.ForEffect": approval.ForEffect, "approval.Never": approval.Never, "approval.Plan": approval.Plan,
	"judge.Reflexion": judge.Reflexion, "judge.ReflexionOptions": judge.ReflexionOptions{}, "judge.Grounding": judge.Grounding,
	"judge.GroundingOptions": judge.GroundingOptions{}, "judge.Causal": judge.Causal, "judge.Steer": judge.Steer, "judge.SteerOptions": judge.SteerOptions{},
	"window.Compact": window.Compact, "window.Options": window.Options{}, "window.Pin": window.Pin,
	"guard.New": guard.New, "guard.PII": guard.PII, "guard.Secrets": guard.Secrets, "guard.Injection": guard.Injection, "guard.Topics": guard.Topics, "guard.Retry": guard.Retry, "guard.DataFlow": guard.DataFlow,
	"spec.Policy": &Policy{}, "spec.Registry": Registry{}, "spec.Endpoint": Endpoint{}, "spec.Trigger": Trigger{}, "skill.Tool": skill.Tool, "skill.Skill": skill.Skill{}, "spec.Load": Load, "spec.Options": Options{},
	"workflow.New": workflow.New, "workflow.Step": workflow.Step{}, "workflow.Single": workflow.Single{},
	"workflow.Graph": workflow.Graph, "workflow.Edge": workflow.Edge{},
	"team.Handoff": team.Handoff, "team.Board": team.Board, "team.Options": team.Options{},
	"a2a.Agent": a2a.Agent, "a2a.Options": a2a.Options{},
	"budget.Budget": budget.Budget{}, "webhook.New": webhook.New, "webhook.Hook": webhook.Hook{},
}

// What every key says can be said in Go: the place that its table names is there.
func TestSayableInGo(t *testing.T) {
	for _, one := range append(every(t), skillKeys, policyKeys, policyLimitKeys, policyGateKeys) {
		for _, k := range one.keys {
			if why := sayable(k.inGo); why != "" {
				t.Errorf("%s.%s: %s", one.name, k.name, why)
			}
			if k.about == "" || k.value.says == "" {
				t.Errorf("%s.%s has nothing for the reference", one.name, k.name)
			}
		}
	}
	for _, wrong := range []string{"", "pawl.Agent.Nothing", "pawl.Nothing", "tool.Command.Nothing", "hook.Nothing", "mcp.Options.Nothing"} {
		if sayable(wrong) == "" {
			t.Errorf("%q is found", wrong)
		}
	}
}

// declares reports whether a package declares a function, a type or, as
// Type.Field, a field.
func declares(dir, member string) bool {
	files, _ := filepath.Glob(dir + "/*.go")
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return false
		}
		of, field, _ := strings.Cut(member, ".")
		found := file.Scope.Lookup(of)
		if found == nil {
			continue
		}
		if field == "" {
			return true
		}
		typ, _ := found.Decl.(*ast.TypeSpec)
		if typ == nil {
			return false
		}
		fields, _ := typ.Type.(*ast.StructType)
		return fields != nil && slices.ContainsFunc(fields.Fields.List, func(f *ast.Field) bool {
			return slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == field })
		})
	}
	return false
}

func sayable(name string) string {
	if pkg, member, _ := strings.Cut(name, "."); pkg == "hook" || pkg == "mcp" { // which this package may not import
		if declares("../"+pkg, member) {
			return ""
		}
		return "there is no " + name
	}
	if v := reflect.ValueOf(goPlaces[name]); v.IsValid() {
		if v.Kind() == reflect.Func && !v.IsNil() && !strings.HasSuffix(runtime.FuncForPC(v.Pointer()).Name(), "/"+name) {
			return name + " is another function"
		}
		return ""
	}
	i := strings.LastIndexByte(name, '.')
	if i < 0 || goPlaces[name[:i]] == nil {
		return fmt.Sprintf("%q is no place in Go that the test knows", name)
	}
	of := reflect.TypeOf(goPlaces[name[:i]])
	if _, ok := of.MethodByName(name[i+1:]); ok {
		return ""
	}
	if of.Kind() == reflect.Struct {
		if _, ok := of.FieldByName(name[i+1:]); ok {
			return ""
		}
	}
	return fmt.Sprintf("%s has no %s", of, name[i+1:])
}

// shapes are what a problem says that the schema can tell as well.
var shapes = regexp.MustCompile(` is (empty|a boolean|a number|text|a list|a mapping)\b|^unknown key| has no (name|description|command|metric|when|success|input|output) \(|it must be at least|is not supported by this version`)

// agree tells when reading a spec and the schema do not agree about it.
func agree(t *testing.T, schema *jsonschema.Schema, name string, data []byte) {
	t.Helper()
	d, root := readDocument(name, string(data))
	if root == nil || len(d.problems) > 0 {
		return // no document
	}
	var doc bytes.Buffer
	root.json(&doc)
	found := schema.Validate(doc.Bytes())
	_, err := Parse(name, data, &Options{Registry: registry()})
	if err == nil && len(found) > 0 {
		t.Errorf("%s reads well, but the schema says: %v", name, found)
	}
	if problems, _ := err.(Problems); len(found) == 0 {
		for _, p := range problems {
			if shapes.MatchString(p.Message) {
				t.Errorf("the schema takes %s, of which reading says: %v\n%s", name, p, data)
			}
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.Compile(Schema(), nil)
	must(t, err)
	return schema
}

// The schema takes every spec that reads well, and refuses what is of a wrong
// shape: the examples, and every bad spec there is.
func TestSchemaAgrees(t *testing.T) {
	schema := compiled(t)
	examples, _ := filepath.Glob("../examples/specs/*.*")
	archives, _ := filepath.Glob("testdata/problems/*.txtar")
	if len(examples) == 0 || len(archives) == 0 {
		t.Fatal("there is nothing to compare")
	}
	for _, file := range examples {
		if data, err := os.ReadFile(file); err == nil {
			agree(t, schema, file, data)
		}
	}
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		must(t, err)
		for _, part := range archive.Files {
			if part.Name != "problems" {
				agree(t, schema, part.Name, part.Data)
			}
		}
	}
}

// Every key of every table with a value of every kind: what the schema refuses
// reading refuses, and the other way round as far as shapes go.
func TestSchemaAgreesKeyByKey(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine after another, in which the race detector has nothing to see: -short")
	}
	schema := compiled(t)
	const tooled = `"name": "t", "description": "d"`
	around := map[string]string{ // how a mapping of a table stands in a spec
		"spec": `{"model": "mechanic", %s}`, "tool": `{"name": "a", "model": "mechanic", "tools": [{%s}]}`,
		"builtin":  `{"name": "a", "model": "mechanic", "tools": [{"builtin": ["ask_human"], %s}]}`,
		"approval": `{"name": "a", "model": "mechanic", "tools": [{` + tooled + `, "command": ["true"], "approval": {%s}}]}`,
		"command":  `{"name": "a", "model": "mechanic", "observe": {%s}}`, "price": `{"name": "a", "model": "mechanic", "prices": {"m": {"input": 1, %s}}}`,
		"long":      `{"name": "a", "model": "mechanic", "prices": {"m": {"input": 1, "output": 1, "long": {"from": 1, %s}}}}`,
		"reflexion": `{"name": "a", "model": "mechanic", "judge": {"reflexion": {%s}}}`, "grounding": `{"name": "a", "model": "mechanic", "judge": {"grounding": {%s}}}`,
		"log": `{"name": "a", "model": "mechanic", "hooks": [{"log": {%s}}]}`, "retry": `{"name": "a", "model": "mechanic", "hooks": [{"retry": {%s}}]}`,
		"steer": `{"name": "a", "model": "mechanic", "hooks": [{"steer": {%s}}]}`,
	}
	around["input"] = `{"name": "a", "model": "mechanic", "input": {%s}}`
	around["mcp_auth"] = `{"name": "a", "model": "mechanic", "tools": [{"mcp": {"name": "n", "url": "https://x", "auth": {%s}}}]}`
	around["oauth"] = `{"name": "a", "model": "mechanic", "tools": [{"mcp": {"name": "n", "url": "https://x", "auth": {"oauth": {%s}}}}]}`
	around["provider"] = `{"name": "a", "model": "mechanic", "providers": {"mechanic": {%s}}}`
	around["budget"] = `{"name": "a", "model": "mechanic", "budgets": [{"per": "day", "tokens": 1, %s}]}`
	around["trigger"] = `{"name": "a", "model": "mechanic", "triggers": [{"cron": "@daily", %s}]}`
	around["rate"] = `{"name": "a", "model": "mechanic", "providers": {"mechanic": {"rate": {%s}}}}`
	const loop = `{"type": "loop", "properties": {"objective": "o", "model": "mechanic", `
	around["hyphen"] = `{"type": "loop", "properties": {}, %s}`
	around["hyphen_loop"] = strings.TrimSuffix(loop, ", ") + `, %s}}`
	around["hyphen_tool"] = loop + `"tools": [{%s}]}}`
	around["on_stuck"] = loop + `"on_stuck": {%s}}}`
	values := []string{`null`, `true`, `0`, `1`, `-1`, `1.5`, `20000`, `""`, `"x"`, `"30s"`, `"iterations >= 3"`, `[]`, `["x"]`, `[1]`, `[null]`, `[{}]`, `{}`, `{"type": "object"}`, `{"x": "y"}`, `{"x": 1}`}
	for _, one := range every(t) {
		form := around[one.name]
		if form == "" {
			form = `{"name": "a", "model": "mechanic", "` + one.title + `": {%s}}`
		}
		for _, k := range append(slices.Clone(one.keys), key{name: "nothing"}) {
			for _, v := range values {
				doc := fmt.Sprintf(form, fmt.Sprintf("%q: %s", k.name, v))
				if one == toolKeys && k.name != "name" {
					doc = fmt.Sprintf(form, tooled+fmt.Sprintf(", %q: %s", k.name, v))
					agree(t, schema, "spec.json", []byte(strings.Replace(doc, tooled, tooled+`, "client": true`, 1)))
				}
				if !json.Valid([]byte(doc)) {
					t.Fatal(doc)
				}
				agree(t, schema, "spec.json", []byte(doc))
			}
		}
	}
}
