package spec

import (
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
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Warnings(registry()); len(w) > 0 {
		t.Error(w)
	}
	a, err := s.Agent(registry())
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "triage" || a.Strategy != pawl.JSON || !a.Builtins || !a.Trace || a.ResultKey != "triage" || len(a.Tools) != 2 {
		t.Errorf("%+v", a)
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	e := engine.New(j, nil)
	defer e.Close()
	run, err := e.Start(t.Context(), a, s.Input, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Wait(t.Context())
	if err != nil || r.Status != pawl.Success {
		t.Fatal(show(r), err)
	}
	whole, err := explain.ResultOf(engine.Entries(t.Context(), j, r.Run, 1))
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	b, err := again.Agent(registry())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := e.Replay(t.Context(), b, r.Run); err != nil || n == 0 {
		t.Errorf("replayed %d steps: %v", n, err)
	}
}

// The agent is called like its file.
func TestAgentNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"a/My_Agent 2.json": "my-agent-2", "x.y.yaml": "x-y", "Ä.json": "hyphen", "-.json": "hyphen", "plain": "plain",
	} {
		if got := agentNameOf(path); got != want || !agentName.MatchString(got) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Warnings(nil); len(w) != 1 || w[0].Line != 3 || !strings.HasSuffix(w[0].File, "tools.yaml") {
		t.Error(w)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
