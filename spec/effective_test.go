package spec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/window"
)

// begun is the state of a run of an agent.
func begun(t *testing.T, a pawl.Agent, labels map[string]string) *pawl.State {
	t.Helper()
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), nil)
	must(t, err)
	defer j.Close()
	e := engine.New(j, nil)
	defer e.Close()
	run, err := e.Start(t.Context(), a, "go", &engine.StartOptions{Labels: labels})
	must(t, err)
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := engine.Load(t.Context(), j, run.ID())
	must(t, err)
	return s
}

// What is written of a run's agent makes the same agent when it is read, in
// another directory, as YAML and as JSON.
func TestEffectiveReadsBack(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine after another, in which the race detector has nothing to see: -short")
	}
	dir := t.TempDir() // for they change what is there
	must(t, os.CopyFS(dir, os.DirFS("../examples")))
	for _, name := range []string{"REFUND_TOKEN", "DESK_TOKEN", "HOOK_SECRET", "LEDGER_SECRET", "PORTER_SECRET"} {
		t.Setenv(name, "a-long-secret-token")
	}
	for _, file := range append(filesLike(t, dir+"/specs/*.yaml"), dir+"/hyphen/triage.json") {
		o := &Options{Registry: registry(), Limits: pawl.Limits{Iterations: 7}}
		if strings.HasSuffix(file, ".json") {
			o.Tools, o.Model = dir+"/hyphen/tools.yaml", "script:"+dir+"/hyphen/script.yaml"
		}
		s, err := Load(file, o)
		if err != nil && strings.HasSuffix(file, "caged.yaml") {
			t.Log("left out, since this machine cannot enforce a cage: ", err)
			continue
		}
		must(t, err)
		a, err := s.Agent(registry())
		must(t, err)
		state := begun(t, a, map[string]string{"team": "ops", "n": "5"})
		if d := state.Declaration(); d.ResultKey != "" { // which a spec cannot say
			a.ResultKey = ""
		}
		e := Of(state)
		asJSON, err := json.Marshal(e)
		must(t, err)
		for name, text := range map[string]string{"spec.yaml": e.String(), "spec.json": string(asJSON)} {
			path := filepath.Join(t.TempDir(), name)
			must(t, os.WriteFile(path, []byte(text), 0o600))
			again, err := Load(path, &Options{Registry: registry()})
			if err != nil {
				t.Fatalf("%s: %v\n%s", file, err, text)
			}
			if w := again.Warnings(registry()); len(w) > 0 {
				t.Errorf("%s: %v", file, w)
			}
			b, err := again.Agent(registry())
			must(t, err)
			m, err := pawl.NewMachine(team.Guard(progress.Guard(window.Guard(b))))
			must(t, err)
			if diff := m.Declaration().Differences(state.Declaration()); diff != nil {
				t.Errorf("%s: %s differs in %v\n%s", file, name, diff, text)
			}
			if b.Limits.Iterations != 7 || b.Labels["n"] != "5" || again.Name != s.Name {
				t.Errorf("%s: %+v", file, b)
			}
		}
	}
}

// Of an agent that a program made, what a spec can say is said, and the rest is
// there to be read.
func TestEffectiveOfProgram(t *testing.T) {
	look := tool.Func("look", "Look something up.", func(context.Context, struct {
		Q string `json:"q"`
	}) (string, error) {
		return "", errors.New("no")
	}, pawl.Read)
	a := pawl.Agent{
		Name: "a", Description: "Looks: up", Prompt: "First line.\n\n  Second: line.\nkey=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("x"), nil }),
		Tools: []pawl.Tool{look, tool.AskHuman(), tool.Client("pick", "Pick.", json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}}}`), nil)},
		Stop:  stop.Iterations(3), Limits: pawl.Limits{Tokens: 1000}, Serial: true, Trace: true, ResultKey: "r",
		Approvals: pawl.Approvals{StopOnDeny: true}, Sampling: pawl.Sampling{Temperature: -1, MaxTokens: 50},
	}
	e := Of(begun(t, a, nil))
	const want = `# tool: look, of the program
# model: func, of the program
# the answer is @r in the result's context
# policy: context(keep 5)
# policy: no_progress(3, fail)
name: a
description: "Looks: up"
model: {temperature: 0, max_tokens: 50}
prompt: |-
  First line.

    Second: line.
  key=[redacted]
loop: react
tools:
  - name: pick
    description: Pick.
    client: true
    input: {type: object, properties: {"n": {type: number}}}
    effect: write
  - {builtin: [ask_human]}
parallel: false
trace: true
stop: iterations >= 3
limits:
  iterations: 20
  tokens: 1000
  time: 30m
  tool_errors: 3
  depth: 10
  margin: 0.1
approvals: {on_deny: stop}
`
	got := e.String()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s, err := Parse("spec.yaml", []byte(got), &Options{Registry: registry(), Model: "mechanic"})
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if len(s.tools) != 1 || len(s.own) != 1 || !s.serial || !s.trace || !strings.HasPrefix(s.prompt, "First line.\n\n  Second: line.\nkey=") {
		t.Errorf("%+v", s)
	}
}

// Whatever is written reads back as the same values.
func FuzzEmit(f *testing.F) {
	for _, pattern := range []string{"testdata/problems/*.txtar", "../examples/specs/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if archive, err := txtar.ParseFile(file); err == nil {
				f.Add(archive.Comment)
				for _, part := range archive.Files {
					f.Add(part.Data)
				}
			}
		}
	}
	f.Add([]byte("{\"a\": \"x\\n y\\n\\nz\\n\", \"b: c\": \" # d\", \"yes\": [\"\", \"~\", \"1e3\", {\"k\": [[]]}], \"é\": \"\\u2028\\u0085\\ufeff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, root := readDocument("in.json", string(data))
		if len(d.problems) > 0 || root == nil {
			d, root = readDocument("in.yaml", string(data))
		}
		if len(d.problems) > 0 || root == nil || root.kind != mapping || len(root.pairs) == 0 {
			return
		}
		var b strings.Builder
		root.yaml(&b, "")
		again, back := readDocument("out.yaml", b.String())
		if len(again.problems) > 0 {
			t.Fatalf("%v\n%s", again.problems, b.String())
		}
		var was, is bytes.Buffer
		root.json(&was)
		back.json(&is)
		if diff := cmp.Diff(was.String(), is.String()); diff != "" {
			t.Errorf("%s\n%s", diff, b.String())
		}
	})
}
