package spec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// Commands are caged by this program, started once more, and run under a
// supervisor, as those of pawl are.
func TestMain(m *testing.M) {
	tool.Supervise()
	dir, err := os.MkdirTemp("", "pawl-spec-")
	if err != nil {
		panic(err)
	}
	tool.RecordIn(dir, nil)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// drive runs a spec on its own input, on a journal that outlives the process.
func drive(t *testing.T, path string) (*engine.Engine, pawl.Agent, pawl.Result) {
	t.Helper()
	s, err := Load(path, &Options{Registry: registry()})
	must(t, err)
	if w := s.Warnings(registry()); len(w) > 0 {
		t.Fatal(w)
	}
	a, err := s.Agent(registry())
	must(t, err)
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), nil)
	must(t, err)
	t.Cleanup(func() { j.Close() })
	e := engine.New(j, nil)
	t.Cleanup(func() { e.Close() })
	run, err := e.Start(t.Context(), a, s.Input.Text, nil)
	must(t, err)
	r, err := run.Wait(t.Context())
	must(t, err)
	return e, a, r
}

func show(r pawl.Result) string {
	b, _ := json.Marshal(r)
	return string(b)
}

// What observes and measures is caged as tools are.
func TestCagedObserver(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "report.sh")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\necho seen; cat /etc/passwd || exit 0\n"), 0o700))
	c := command{argv: []string{script}, dir: dir, cage: &tool.Cage{Files: &tool.CageFiles{}}}
	if err := c.cage.Missing(); err != nil {
		if _, err := c.observe(t.Context()); err == nil {
			t.Error("it was run without its cage")
		}
		t.Skip(err)
	}
	if seen, err := c.observe(t.Context()); err != nil || seen.Text != "seen" {
		t.Errorf("%+v, %v", seen, err)
	}
}

// A goal is measured by one program and what it is about is shown by another,
// which has the variables under env but cannot tell them to the model.
func TestGoal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"report.sh": "#!/bin/sh\necho \"$SEEN $(cat state 2>/dev/null)\"\n",
		"score.sh":  "#!/bin/sh\nif [ -e state ]; then echo '{\"value\": 0, \"open\": []}'; else echo '{\"value\": -1, \"open\": [\"state\"]}'; fi\n",
		"work.sh":   "#!/bin/sh\necho done > state\n",
		"s.yaml":    "replies:\n  - {expect: '{{secret:SEEN}}', calls: [{tool: work}]}\n",
		"spec.yaml": `name: worker
model: script:s.yaml
prompt: p
input: go
env: [SEEN]
observe: {command: [./report.sh]}
goal: {metric: {command: [./score.sh]}, success: metric >= 0}
tools:
  - {name: work, description: d, command: [./work.sh]}
`,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	t.Setenv("SEEN", "seen nothing")
	_, _, r := drive(t, filepath.Join(dir, "spec.yaml"))
	if r.Status != pawl.StatusSuccess || r.Verdict.Leaf != "metric >= 0" || r.Iterations != 1 {
		t.Error(show(r))
	}
}

func TestMeasures(t *testing.T) {
	for out, want := range map[string]string{
		"-3":                                  "-3 []",
		" 2.5\n":                              "2.5 []",
		"1e3":                                 "1000 []",
		`{"value": 1, "open": ["a", "b"]}`:    "1 [a b]",
		`{"open": []}`:                        "there is no value",
		`{"value": 1, "opne": []}`:            "unknown field",
		`{"value": 1} 2`:                      "something follows",
		"NaN":                                 "invalid character 'N'",
		"":                                    "EOF",
		"three":                               "invalid character 'h'",
		`{"value": 1, "open": [1]}`:           "cannot unmarshal",
		strings.Repeat("many words ", 10_000): "invalid character",
	} {
		m, err := parseMeasure(out)
		got := strings.TrimSpace(strings.Join([]string{jsonNumber(m.Value), "[" + strings.Join(m.Open, " ") + "]"}, " "))
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) || len(got) > 1000 {
			t.Errorf("%.40q: got %.300q, want %q", out, got, want)
		}
	}
}

func jsonNumber(v float64) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestCommandFails(t *testing.T) {
	dir := t.TempDir()
	c := func(script string) command {
		return command{argv: []string{"sh", "-c", script}, dir: dir}
	}
	for script, want := range map[string]string{
		"echo no >&2; exit 3": "sh: exit status 3: no",
		"echo no; exit 3":     "sh: exit status 3: no",
	} {
		if _, err := c(script).observe(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
		if _, err := c(script).measure(t.Context(), pawl.Observation{}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
	}
	seen, err := c(`echo '{"a": 1}'`).observe(t.Context())
	if err != nil || seen.Text != `{"a": 1}` || string(seen.Data) != `{"a": 1}` {
		t.Errorf("%+v, %v", seen, err)
	}
	if seen, err = c(`printf 'a\n\nb\377\n'`).observe(t.Context()); err != nil || seen.Text != "a\n\nb\ufffd" || seen.Data != nil {
		t.Errorf("%+v, %v", seen, err)
	}
	if _, err = c("echo; head -c 20000 /dev/zero | tr '\\0' 1").measure(t.Context(), pawl.Observation{}); err == nil || !strings.Contains(err.Error(), "more than 16384 bytes") {
		t.Error(err)
	}
}
