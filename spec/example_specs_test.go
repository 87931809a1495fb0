package spec

import (
	"encoding/json"
	"errors"
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
	tool.Spool(dir, nil)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// drive runs a spec on its own input, on a journal that outlives the process.
func drive(t *testing.T, path string) (*engine.Engine, pawl.Agent, pawl.Result) {
	t.Helper()
	s, err := Load(path, &Options{Registry: registry()})
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Warnings(registry()); len(w) > 0 {
		t.Fatal(w)
	}
	a, err := s.Agent(registry())
	if err != nil {
		t.Fatal(err)
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	e := engine.New(j, nil)
	t.Cleanup(func() { e.Close() })
	run, err := e.Start(t.Context(), a, s.Input, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e, a, r
}

func show(r pawl.Result) string {
	b, _ := json.Marshal(r)
	return string(b)
}

func TestClassifier(t *testing.T) {
	_, _, r := drive(t, "../examples/specs/classifier.yaml")
	if r.Status != pawl.Success || string(r.Output) != `{"subject": "billing", "urgency": 3}` || r.Iterations != 1 {
		t.Error(show(r))
	}
}

func TestProcurement(t *testing.T) {
	e, a, r := drive(t, "../examples/specs/procurement.yaml")
	if r.Status != pawl.Success || !strings.Contains(r.Answer, "PO-v-17") || r.ToolCalls < 2 || r.Iterations != 3 {
		t.Error(show(r))
	}
	// The agent that its source makes decides every step the same.
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

func TestQuestion(t *testing.T) {
	e, a, r := drive(t, "../examples/specs/question.yaml")
	if r.Status != pawl.WaitingInput || len(r.Pending) != 1 {
		t.Fatal(show(r))
	}
	if err := e.Answer(t.Context(), r.Run, r.Pending[0].Call, "me", "Friday"); err != nil {
		t.Fatal(err)
	}
	run, err := e.Resume(t.Context(), a, r.Run, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = run.Wait(t.Context()); err != nil || r.Status != pawl.Success || !strings.Contains(r.Answer, "Friday") {
		t.Error(show(r), err)
	}
}

// The call that costs too much is refused, the answer that says the opposite of
// what was found is sent back, and the judges' calls are paid for and declared.
func TestJudged(t *testing.T) {
	e, a, r := drive(t, "../examples/specs/judged.yaml")
	if r.Status != pawl.Success || !strings.HasSuffix(r.Answer, "TP-4711 is not refundable.") || r.ToolCalls != 2 || r.Iterations != 5 ||
		r.Confidence == nil || *r.Confidence != 0.8 || r.Usage.ModelCalls != 11 || r.CostUSD == nil {
		t.Error(show(r))
	}
	if n, err := e.Replay(t.Context(), a, r.Run); err != nil || n == 0 {
		t.Errorf("replayed %d steps: %v", n, err)
	}
}

// A customer who is dissatisfied more than twice gets a ticket, and the run is
// over; one who is content the third time does not.
func TestSupport(t *testing.T) {
	for third, leaf := range map[string]string{
		"Still useless.":       `tool_called("open_ticket")`,
		"It works, thank you.": "done", // the script opens a ticket all the same, which ends nothing
	} {
		e, a, r := drive(t, "../examples/specs/support.yaml")
		for _, text := range []string{"That was not helpful.", third} {
			if r.Status != pawl.WaitingInput || len(r.Pending) != 1 {
				t.Fatal(show(r))
			}
			if err := e.Answer(t.Context(), r.Run, r.Pending[0].Call, "customer", text); err != nil {
				t.Fatal(err)
			}
			run, err := e.Resume(t.Context(), a, r.Run, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, err = run.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if r.Status != pawl.Success || r.Reason.Leaf != leaf {
			t.Error(show(r))
		}
	}
}

// The tools that come with Pawl see one directory, and a person is asked before
// any program but one.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../examples/specs")); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "notes", "INDEX.md")
	want, err := os.ReadFile(index)
	if err == nil {
		err = os.Remove(index)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, a, r := drive(t, filepath.Join(dir, "notes.yaml"))
	got, err := os.ReadFile(index)
	if r.Status != pawl.Success || r.ToolCalls != 6 || r.Iterations != 4 || err != nil || string(got) != string(want) {
		t.Errorf("%s\n%s, %v", show(r), got, err)
	}
	var names []string
	for _, tool := range a.Tools {
		names = append(names, tool.Info().Name)
	}
	if got := strings.Join(names, " "); got != "list_files search_files read_file edit_file write_file fetch ask_human run_command" {
		t.Error(got)
	}
}

// A model that may run any program reads and writes what the cage shows it, and
// the log says how that is enforced.
func TestCaged(t *testing.T) {
	if raced {
		t.Skip("the race detector needs more memory than the cage allows")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../examples/specs")); err != nil {
		t.Fatal(err)
	}
	total := filepath.Join(dir, "ledger/out/total.txt")
	if err := os.Remove(total); err != nil {
		t.Fatal(err)
	}
	whole := tool.Cage{Files: &tool.CageFiles{}, NoNetwork: true, Memory: 256 << 20, Processes: 32}
	if err := whole.Missing(); err != nil {
		_, err := Load(filepath.Join(dir, "caged.yaml"), &Options{Registry: registry()})
		if problems, ok := errors.AsType[Problems](err); !ok || !strings.Contains(problems[0].Message, "cage") || problems[0].Line != 14 {
			t.Errorf("a cage that cannot be enforced: %v", err)
		}
		t.Skip(whole.Missing())
	}
	e, a, r := drive(t, filepath.Join(dir, "caged.yaml"))
	got, err := os.ReadFile(total)
	if r.Status != pawl.Success || r.ToolCalls != 3 || err != nil || string(got) != "500\n" {
		t.Errorf("%s\n%s, %v", show(r), got, err)
	}
	if n, err := e.Replay(t.Context(), a, r.Run); err != nil || n == 0 {
		t.Errorf("replayed %d steps: %v", n, err)
	}
	cage := a.Tools[0].Info().Cage
	for _, part := range []string{"privileges: none", "files: read [.], write [out] (landlock", "network: none (seccomp", "memory: 268435456 bytes", "processes: 32"} {
		if !strings.Contains(cage, part) {
			t.Errorf("%q has no %q", cage, part)
		}
	}
}

// What observes and measures is caged as tools are.
func TestCagedObserver(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "report.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho seen; cat /etc/passwd || exit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := command{argv: []string{script}, dir: dir, cage: &tool.Cage{Files: &tool.CageFiles{}}}
	if err := c.cage.Missing(); err != nil {
		if _, err := (observer{c}).Observe(t.Context()); err == nil {
			t.Error("it was run without its cage")
		}
		t.Skip(err)
	}
	if seen, err := (observer{c}).Observe(t.Context()); err != nil || seen.Text != "seen" {
		t.Errorf("%+v, %v", seen, err)
	}
}

// A skill is read when it is needed, and what it does not allow is refused.
func TestSkilled(t *testing.T) {
	e, a, r := drive(t, "../examples/specs/skilled.yaml")
	if r.Status != pawl.Success || !strings.Contains(r.Answer, "exports as CSV") || r.ToolCalls != 3 || len(r.Steps) != 4 || r.Steps[2].Calls[0].Status != "refused" {
		t.Error(show(r))
	}
	if !strings.Contains(a.Prompt, "informed.\n\nThese skills") || !strings.Contains(a.Prompt, "\n- release-notes: Write release notes") {
		t.Errorf("%q", a.Prompt)
	}
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
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SEEN", "seen nothing")
	_, _, r := drive(t, filepath.Join(dir, "spec.yaml"))
	if r.Status != pawl.Success || r.Verdict.Leaf != "metric >= 0" || r.Iterations != 1 {
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
		"NaN":                                 `printed "NaN"; print`,
		"":                                    `printed ""; print`,
		"three":                               `printed "three"; print`,
		`{"value": 1, "open": [1]}`:           "cannot unmarshal",
		strings.Repeat("many words ", 10_000): "print a number",
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
		"echo no >&2; exit 3": "sh: exit 3: no",
		"echo no; exit 3":     "sh: exit 3: no",
	} {
		if _, err := (observer{c(script)}).Observe(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
		if _, err := (metric{c(script)}).Measure(t.Context(), pawl.Observation{}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
	}
	seen, err := observer{c(`echo '{"a": 1}'`)}.Observe(t.Context())
	if err != nil || seen.Text != `{"a": 1}` || string(seen.Data) != `{"a": 1}` {
		t.Errorf("%+v, %v", seen, err)
	}
	if seen, err = (observer{c(`printf 'a\n\nb\377\n'`)}).Observe(t.Context()); err != nil || seen.Text != "a\n\nb\ufffd" || seen.Data != nil {
		t.Errorf("%+v, %v", seen, err)
	}
	if _, err = (metric{c("echo; head -c 20000 /dev/zero | tr '\\0' 1")}).Measure(t.Context(), pawl.Observation{}); err == nil || !strings.Contains(err.Error(), "more than 16384 bytes") {
		t.Error(err)
	}
}
