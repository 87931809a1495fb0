package spec

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// The documented loop runs from Go as from the command line.
func TestHyphenExample(t *testing.T) {
	const dir = "../examples/hyphen/"
	o := &Options{Registry: registry(), Tools: dir + "tools.yaml", Model: "script:" + dir + "script.yaml"}
	s, err := Load(dir+"triage.json", o)
	must(t, err)
	if w := s.Warnings(registry()); len(w) > 0 {
		t.Error(w)
	}
	a, err := s.Agent(registry())
	must(t, err)
	if a.Name != "triage" || a.Strategy != pawl.StrategyJSON || !a.Builtins || !a.Trace || a.ResultKey != "triage" || len(a.Tools) != 2 {
		t.Errorf("%+v", a)
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), nil)
	must(t, err)
	t.Cleanup(func() { j.Close() })
	e := engine.New(j, nil)
	defer e.Close()
	run, err := e.Start(t.Context(), a, s.Input.Text, nil)
	must(t, err)
	r, err := run.Wait(t.Context())
	if err != nil || r.Status != pawl.StatusSuccess {
		t.Fatal(show(r), err)
	}
	whole, err := explain.ResultOf(engine.Entries(t.Context(), j, r.Run, 1))
	must(t, err)
	want := map[string]explain.Answer{"@triage": {Answer: []byte(`"Billing, today: the customer was charged twice and is not pleased."`), Confidence: 0.9, Summary: "double charge"}}
	if diff := cmp.Diff(want, whole.Context); diff != "" {
		t.Error(diff)
	}
	var did []string
	for _, th := range whole.Trace {
		did = append(did, th.Action)
	}
	if diff := cmp.Diff([]string{"lookup_ticket", "", "analyze_sentiment", "__complete__"}, did); diff != "" {
		t.Error(diff)
	}
	// Its source makes the same agent without the file of tools.
	again, err := ParseSource(a.Source, &Options{Registry: registry()})
	must(t, err)
	b, err := again.Agent(registry())
	must(t, err)
	if n, err := e.Replay(t.Context(), b, r.Run); err != nil || n == 0 {
		t.Errorf("replayed %d steps: %v", n, err)
	}
}

// The document of Hyphen's reference is held to the byte, but for a model that is no longer served.
func TestHyphenBytes(t *testing.T) { // Promises: H1.
	const digest = "3570640b8847eb10897ece00afad549bed7d7313fb91934f7f16440503fe8a88"
	text := strings.Replace(readFile(t, "../examples/hyphen/react.json"), "gpt-6.2-sol", "gpt-"+"4", 1)
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); got != digest {
		t.Errorf("somebody has changed it: it has the digest %s", got)
	}
}

// What stands in the file of tools is told at its place there.
func TestHyphenTools(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "loop.json", `{"type": "loop", "properties": {"objective": "x", "model": "mechanic", "tools": [
 {"type": "action", "name": "ask_human"}, {"type": "action", "name": "gated"}, {"type": "action", "name": "gatd"}]}}`)
	write(t, dir, "tools.yaml", "- {builtin: [ask_human]}\n- {name: gated, description: d, command: [./gone.sh], approval: {when: args.x > 1}}\n- {name: other, description: d, command: [./gone.sh]}\n")
	_, err := Load(filepath.Join(dir, "loop.json"), &Options{Registry: registry(), Tools: filepath.Join(dir, "tools.yaml")})
	want := strings.NewReplacer("DIR", dir).Replace(`DIR/loop.json:2:107: there is no tool gatd in DIR/tools.yaml (did you mean gated?)
DIR/tools.yaml:2:72: when: the tool gated has no argument x`)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%v", err, want)
	}
	write(t, dir, "loop.json", `{"type": "loop", "properties": {"objective": "x", "model": "mechanic", "tools": [{"type": "action", "name": "other"}]}}`)
	s, err := Load(filepath.Join(dir, "loop.json"), &Options{Registry: registry(), Tools: filepath.Join(dir, "tools.yaml")})
	must(t, err)
	if w := s.Warnings(nil); len(w) != 1 || w[0].Line != 3 || !strings.HasSuffix(w[0].File, "tools.yaml") {
		t.Error(w)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// Every kind of tool that a file of tools can hold is an action by its name, and
// no others of the same entry come with it.
func TestHyphenKinds(t *testing.T) {
	actions := []string{"run", "pick", "read_file", "fetch", "clerk", "files__read", "files__list", "web__search"}
	var declared []string
	for _, name := range actions {
		declared = append(declared, `{"type": "action", "name": "`+name+`"}`)
	}
	dir := tree(t, map[string]string{
		"loop.json": `{"type": "loop", "properties": {"objective": "x", "model": "mechanic", "tools": [` + strings.Join(declared, ",\n") + `]}}`,
		"lib/tools.yaml": `
- {name: run, description: d, command: [./run.sh]}
- {name: pick, description: d, client: true}
- {builtin: [read_file, fetch, write_file]}
- {agent: ./clerk.yaml, approval: required}
- {mcp: {name: files, command: [./serve.sh]}, approval: required}
- {mcp: {name: web, url: https://example.org/mcp, token: WEB_TOKEN}}
- {mcp: {name: idle, command: [./serve.sh]}}
`,
		"lib/clerk.yaml": "name: clerk\ndescription: d\nmodel: mechanic\n", "lib/run.sh": "", "lib/serve.sh": "",
	})
	var asked []string
	r := &Registry{Models: registry().Models, MCP: func(_ context.Context, s MCPServer) ([]pawl.Tool, func() error, error) {
		asked = append(asked, s.Name+" in "+s.Dir)
		var all []pawl.Tool
		for _, name := range []string{"list", "read", "search", "write"} {
			all = append(all, absent{pawl.ToolInfo{Name: s.Name + "__" + name, Description: "d"}})
		}
		return all, func() error { return nil }, nil
	}}
	o := &Options{Registry: r, Tools: filepath.Join(dir, "lib", "tools.yaml")}
	s, err := Load(filepath.Join(dir, "loop.json"), o)
	must(t, err)
	if _, has := s.Secrets()["WEB_TOKEN"]; has { // it is not set, so that there is nothing to keep
		t.Error("a secret without a value")
	}
	t.Setenv("WEB_TOKEN", "a token of the web")
	if s.Secrets()["WEB_TOKEN"] == "" {
		t.Error("the token of the library's server is no secret")
	}
	const want = "run pick read_file fetch files__read files__list web__search clerk"
	a, end, err := s.Open(t.Context(), r)
	if err != nil || names(a) != want {
		t.Errorf("%v: %s", err, names(a))
	}
	_ = end()
	lib := filepath.Join(dir, "lib")
	if diff := cmp.Diff([]string{"files in " + lib, "web in " + lib}, asked); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(a.Policies); !strings.Contains(got, "files__*") || !strings.Contains(got, "clerk") {
		t.Errorf("gates: %v", a.Policies)
	}
	again, err := ParseSource(a.Source, &Options{Registry: r})
	must(t, err)
	m, err := pawl.NewMachine(a)
	must(t, err)
	as, err := again.AgentAs(r, m.Declaration())
	if err != nil || names(as) != want {
		t.Errorf("%v: %s", err, names(as))
	}

	write(t, dir, "loop.json", `{"type": "loop", "properties": {"objective": "x", "model": "mechanic", "tools": [
 {"type": "action", "name": "files__raed"}, {"type": "action", "name": "web__search"}]}}`)
	if s, err = Load(filepath.Join(dir, "loop.json"), o); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Open(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "loop.json:2:29: the MCP server files has no tool files__raed (did you mean files__read?)") {
		t.Error(err)
	}
	write(t, dir, "loop.json", `{"type": "loop", "properties": {"objective": "x", "model": "mechanic", "tools": [{"type": "action", "name": "flies__read"}]}}`)
	if _, err = Load(filepath.Join(dir, "loop.json"), o); err == nil || !strings.Contains(err.Error(), "there is no tool flies__read in ") {
		t.Error(err)
	}
}
