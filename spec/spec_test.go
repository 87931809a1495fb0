package spec

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// parseAgent makes the agent of a spec that stands in dir.
func parseAgent(t *testing.T, dir, text string, o *Options) (*Spec, pawl.Agent) {
	t.Helper()
	s, err := Parse(filepath.Join(dir, "spec.yaml"), []byte(text), o)
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	return s, a
}

// least is what every spec has to say.
const least = "name: a\nmodel: anthropic/x\n"

// Every key reaches the agent.
func TestKeysReachTheAgent(t *testing.T) {
	tool := func(lines string) string {
		return least + "tools:\n  - name: t\n    description: d\n    command: [x]\n" + lines
	}
	declared := func(get func(pawl.ToolInfo) any) func(*Spec, pawl.Agent) any {
		return func(_ *Spec, a pawl.Agent) any { return get(a.Tools[0].Info()) }
	}
	limit := func(get func(pawl.Limits) any) func(*Spec, pawl.Agent) any {
		return func(_ *Spec, a pawl.Agent) any { return get(a.Limits) }
	}
	sampling := func(get func(pawl.Sampling) any) func(*Spec, pawl.Agent) any {
		return func(_ *Spec, a pawl.Agent) any { return get(a.Sampling) }
	}
	policy := func(_ *Spec, a pawl.Agent) any { return a.Policies[0].String() }
	price := func(_ *Spec, a pawl.Agent) any { return *describe(a.Model).Price }
	for _, c := range []struct {
		key, text string
		get       func(*Spec, pawl.Agent) any
		want      any
	}{
		{"name", least, func(s *Spec, a pawl.Agent) any { return s.Name + a.Name }, "aa"},
		{"description", least + "description: d", func(s *Spec, a pawl.Agent) any { return s.Description + a.Description }, "dd"},
		{"labels", least + "labels: {team: ops}", func(_ *Spec, a pawl.Agent) any { return a.Labels["team"] }, "ops"},
		{"model", least, func(_ *Spec, a pawl.Agent) any { return *describe(a.Model).Price }, pawl.Price{Input: 3, Output: 15}},
		{"temperature", "name: a\nmodel: {name: mechanic, temperature: 0.2}", sampling(func(s pawl.Sampling) any { return s.Temperature }), 0.2},
		{"temperature zero", "name: a\nmodel: {name: mechanic, temperature: 0}", sampling(func(s pawl.Sampling) any { return s.Temperature }), -1.0},
		{"max_tokens", "name: a\nmodel: {name: mechanic, max_tokens: 99}", sampling(func(s pawl.Sampling) any { return s.MaxTokens }), 99},
		{"effort", "name: a\nmodel: {name: mechanic, effort: low}", sampling(func(s pawl.Sampling) any { return s.Effort }), "low"},
		{"fallback", "name: a\nmodel: {name: anthropic/x, fallback: [mechanic, openai/y]}", func(_ *Spec, a pawl.Agent) any {
			return len(a.Fallback)
		}, 2},
		{"prompt", least + "prompt: |\n  one\n  two\n", func(_ *Spec, a pawl.Agent) any { return a.Prompt }, "one\ntwo\n"},
		{"thread", least + "thread: talk", func(s *Spec, _ pawl.Agent) any { return s.Thread }, "talk"},
		{"input", least + "input: go", func(s *Spec, _ pawl.Agent) any { return s.Input.Text }, "go"},
		{"loop single", least + "loop: single", func(_ *Spec, a pawl.Agent) any { return a.Loop.Name() }, "single"},
		{"loop react", least + "loop: react", func(_ *Spec, a pawl.Agent) any { return a.Loop.Name() }, "react"},
		{"strategy json", least + "strategy: json", func(_ *Spec, a pawl.Agent) any { return a.Strategy }, pawl.StrategyJSON},
		{"strategy native", least + "strategy: native", func(_ *Spec, a pawl.Agent) any { return a.Strategy }, pawl.Strategy(0)},
		{"output", least + "output: {type: object, required: [x], minProperties: 1e0}", func(_ *Spec, a pawl.Agent) any { return string(a.Output) }, `{"type":"object","required":["x"],"minProperties":1e0}`},
		{"env", least + "env: [TOKEN]", func(s *Spec, _ pawl.Agent) any { return s.Env[0] }, "TOKEN"},
		{"builtins", least + "builtins: true", func(_ *Spec, a pawl.Agent) any { return a.Builtins }, true},
		{"parallel", least + "parallel: false", func(_ *Spec, a pawl.Agent) any { return a.Serial }, true},
		{"parallel true", least + "parallel: true", func(_ *Spec, a pawl.Agent) any { return a.Serial }, false},
		{"stop", least + "stop: iterations>=3", func(_ *Spec, a pawl.Agent) any { return a.Stop.String() }, "iterations >= 3"},
		{"iterations", least + "limits: {iterations: 7}", limit(func(l pawl.Limits) any { return l.Iterations }), 7},
		{"tokens", least + "limits: {tokens: 7_000}", limit(func(l pawl.Limits) any { return l.Tokens }), 7000},
		{"time", least + "limits: {time: 1h30m}", limit(func(l pawl.Limits) any { return l.Time }), 90 * time.Minute},
		{"cost", least + "limits: {cost: 2}", limit(func(l pawl.Limits) any { return l.Cost }), 2.0},
		{"tool_errors", least + "limits: {tool_errors: 5}", limit(func(l pawl.Limits) any { return l.ToolErrors }), 5},
		{"depth", least + "limits: {depth: 2}", limit(func(l pawl.Limits) any { return l.Depth }), 2},
		{"margin", least + "limits: {margin: 0.5}", limit(func(l pawl.Limits) any { return l.Margin }), 0.5},
		{"no_progress", least + "no_progress: {}", policy, "no_progress(3, fail)"},
		{"no_progress keys", least + "no_progress: {window: 5, then: hint, hint: think}", policy, `no_progress(5, hint, "think")`},
		{"no_progress then", least + "no_progress: {then: escalate}", policy, "no_progress(3, escalate)"},
		{"prices", least + "prices: {anthropic/x: {input: 1, output: 2, cache_read: 3, cache_write: 4}}", price, pawl.Price{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}},
		{"long prices", least + "prices: {x: {input: 1, output: 2, long: {from: 200_000, input: 2, output: 3, cache_read: 4, cache_write: 5}}}", price,
			pawl.Price{Input: 1, Output: 2, Long: pawl.Tier{From: 200_000, Input: 2, Output: 3, CacheRead: 4, CacheWrite: 5}}},
		{"prices of the bare name", least + "prices: {x: {input: 1, output: 2}}", price, pawl.Price{Input: 1, Output: 2}},
		{"prices of another", least + "prices: {y: {input: 1, output: 2}}", price, pawl.Price{Input: 3, Output: 15}},
		{"price_staleness", least + "price_staleness: refuse", price, pawl.Price{Input: 3, Output: 15}},
		{"tool name", tool(""), declared(func(i pawl.ToolInfo) any { return i.Name }), "t"},
		{"tool description", tool(""), declared(func(i pawl.ToolInfo) any { return i.Description }), "d"},
		{"input schema", tool("    input: {type: object, properties: {q: {type: string}}}"), declared(func(i pawl.ToolInfo) any { return string(i.Input) }), `{"type":"object","properties":{"q":{"type":"string"}}}`},
		{"effect", tool("    effect: idempotent"), declared(func(i pawl.ToolInfo) any { return i.Effect }), pawl.Idempotent},
		{"timeout", tool("    timeout: 3s"), declared(func(i pawl.ToolInfo) any { return i.Timeout }), 3 * time.Second},
		{"max_output", tool("    max_output: 1.5KB"), declared(func(i pawl.ToolInfo) any { return i.MaxOutput }), 1536},
		{"max_output in bytes", tool("    max_output: 700"), declared(func(i pawl.ToolInfo) any { return i.MaxOutput }), 700},
		{"max_calls", tool("    max_calls: 2"), declared(func(i pawl.ToolInfo) any { return i.MaxCalls }), 2},
		{"tool parallel", tool("    parallel: false"), declared(func(i pawl.ToolInfo) any { return i.Alone }), true},
		{"stuck", tool("    stuck: exempt"), declared(func(i pawl.ToolInfo) any { return i.Exempt }), true},
		{"on_doubt", tool("    on_doubt: tell"), declared(func(i pawl.ToolInfo) any { return i.OnDoubt }), pawl.DoubtTell},
		{"client", least + "tools: [{name: t, description: d, client: true, effect: read}]", declared(func(i pawl.ToolInfo) any { return i.Client && i.Effect == pawl.Read }), true},
		{"goal", least + "goal: {metric: {command: [x]}, success: metric >= 0}\nstop: metric < 3 || iterations > 4", func(_ *Spec, a pawl.Agent) any { return a.Goal.Success.String() }, "metric >= 0"},
	} {
		t.Run(c.key, func(t *testing.T) {
			got := c.get(parseAgent(t, t.TempDir(), c.text, nil))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A spec in JSON is the same spec.
func TestJSONSpec(t *testing.T) {
	text := "{\n\t\"name\": \"a\", \"model\": \"anthropic/x\", \"prompt\": \"a \\u003c b\\/c \\ud83d\\ude00\",\n\t\"limits\": {\"cost\": 1e-1}, \"parallel\": false\n}"
	s, err := Parse("spec.json", []byte(text), nil)
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	if a.Prompt != "a < b/c 😀" || a.Limits.Cost != 0.1 || !a.Serial {
		t.Errorf("got %q, %v, %v", a.Prompt, a.Limits.Cost, a.Serial)
	}
}

func TestOptionsReplace(t *testing.T) {
	text := least + "stop: nonsense\nlimits: {iterations: 3, tokens: 9}\n"
	o := &Options{Registry: registry(), Model: "openai/y", Stop: "tokens > 5", Limits: pawl.Limits{Iterations: 4}}
	_, a := parseAgent(t, ".", text, o)
	if a.Stop.String() != "tokens > 5" || a.Limits.Iterations != 4 || a.Limits.Tokens != 9 || describe(a.Model).Price != nil {
		t.Errorf("got %v, %+v, %+v", a.Stop, a.Limits, describe(a.Model))
	}

	o = &Options{Registry: registry(), Model: "z", Stop: "tokens > 5 || é && x", Limits: pawl.Limits{Iterations: 20_000}}
	_, err := Parse("spec.yaml", []byte("name: a\nfoo: 1"), o)
	want := "model: model \"z\" is not in the model sheet (write PROVIDER/NAME, such as anthropic/claude-sonnet-5-5, or script:FILE)\n" +
		"spec.yaml:2:1: unknown key foo in the spec"
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "\nstop: column 15: ") {
		t.Errorf("got %v", err)
	}

	o = &Options{Registry: registry(), Limits: pawl.Limits{Iterations: 20_000}}
	if _, err := Parse("spec.yaml", []byte(least+"limits: {tokens: 3}"), o); err == nil || !strings.HasPrefix(err.Error(), "limits: iterations is 20,000") {
		t.Errorf("got %v", err)
	}
	o = &Options{Registry: registry(), Model: "mechanic", Limits: pawl.Limits{Cost: 1}}
	if _, err := Parse("spec.yaml", []byte(least), o); err == nil || !strings.HasPrefix(err.Error(), "limits: cost is $1.00") {
		t.Errorf("got %v", err)
	}
}

func TestDefaultModel(t *testing.T) {
	r := registry()
	r.Default = "anthropic/x"
	s, err := Parse("spec.yaml", []byte("name: a"), &Options{Registry: r})
	must(t, err)
	a, err := s.Agent(r)
	if err != nil || describe(a.Model).Price == nil {
		t.Fatal(err)
	}
	// A run goes on with the model it had, whatever the default is by then.
	again, err := ParseSource(a.Source, nil)
	must(t, err)
	if a, err = again.Agent(registry()); err != nil || describe(a.Model).Price == nil {
		t.Error(err)
	}
	if _, err := s.Agent(nil); err == nil {
		t.Error("an agent without a model was made")
	}
}

// What is recorded in a run makes the same agent again, elsewhere.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "s.yaml"), []byte("replies: [{text: hi}]"), 0o600))
	text := "name: a\nmodel: script:s.yaml\ntools:\n  - {name: t, description: d, command: [./x.sh]}\nstop: done\n"
	o := &Options{Stop: "iterations > 2", Limits: pawl.Limits{Time: time.Minute, Cost: 3, Iterations: 4}, Model: "anthropic/x"}
	for _, o := range []*Options{nil, o} {
		_, a := parseAgent(t, dir, text, o)
		if !IsSource(a.Source) || IsSource("{}") || IsSource("x") {
			t.Error("a source is not told from others")
		}
		t.Chdir(t.TempDir())
		s, err := ParseSource(a.Source, &Options{Registry: registry()})
		must(t, err)
		b, err := s.Agent(registry())
		must(t, err)
		if a.Source != b.Source || a.Limits != b.Limits || a.Stop.String() != b.Stop.String() {
			t.Errorf("got %+v, want %+v", b, a)
		}
		if s.Tools[0].Tool.Command[0] != filepath.Join(dir, "x.sh") {
			t.Errorf("the command is %s", s.Tools[0].Tool.Command[0])
		}
	}
	if _, err := ParseSource(`{"kind":"other"}`, nil); err == nil {
		t.Error("another source was read")
	}
}

// A run that goes on with another spec, which names other agents, reads their specs.
func TestLiveSource(t *testing.T) {
	dir := tree(t, map[string]string{"spec.yaml": least + "tools: [{agent: ./b.yaml}]\n", "b.yaml": "name: b\ndescription: d\n"})
	s, err := Load(filepath.Join(dir, "spec.yaml"), nil)
	must(t, err)
	rec, _ := recordOf(s.record(registry()))
	rec.Files = nil
	for _, rec.Live = range []bool{false, true} {
		source, _ := json.Marshal(rec)
		if _, err := ParseSource(string(source), nil); (err == nil) != rec.Live {
			t.Errorf("live: %v: %v", rec.Live, err)
		}
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run.sh", "arg.txt"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	s, _ := parseAgent(t, dir, least+"dir: work\ntools: [{name: t, description: d, command: [./run.sh, ./arg.txt, ./..., ./none, 5, 1e3, true]}]\n", nil)
	want := []string{filepath.Join(dir, "run.sh"), filepath.Join(dir, "arg.txt"), "./...", "./none", "5", "1e3", "true"}
	if diff := cmp.Diff(want, s.Tools[0].Tool.Command); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := filepath.Join(dir, "work"); s.dir != want {
		t.Errorf("dir is %s", s.dir)
	}
}

func TestStalePrices(t *testing.T) { // Promises: T3.
	r := registry()
	r.Now = func() time.Time { return sheet.AsOf().Add(Outdated + time.Hour) }
	const listed = "name: a\nmodel: anthropic/claude-sonnet-5-5\nlimits: {cost: 2}\n"
	make := func(more string) (*Spec, pawl.Agent, error) {
		s, err := Parse("spec.yaml", []byte(listed+more), nil)
		must(t, err)
		a, err := s.Agent(r)
		return s, a, err
	}
	s, a, err := make("")
	if err != nil || a.Limits.Cost != 2 || len(s.Warnings(r)) != 1 || len(s.Warnings(registry())) != 0 {
		t.Error(err, s.Warnings(r))
	}
	if _, _, err := make("price_staleness: refuse"); err == nil || !strings.HasPrefix(err.Error(), "spec.yaml:4:18: the price of") {
		t.Error(err)
	}
	s, a, err = make("price_staleness: token-only")
	if err != nil || a.Limits.Cost != 0 || describe(a.Model).Price != nil || len(s.Warnings(r)) != 1 {
		t.Error(err, a.Limits)
	}
	s, a, err = make("price_staleness: refuse\nprices: {claude-sonnet-5-5: {input: 1, output: 1}}")
	if err != nil || a.Limits.Cost != 2 || len(s.Warnings(r)) != 0 {
		t.Error(err, s.Warnings(r))
	}
}

func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "x.sh"), nil, 0o600))
	t.Setenv("PAWL_SPEC_SET", "")
	t.Setenv("PAWL_SPEC_SHORT", "123")
	t.Setenv("PAWL_SPEC_LONG", "long enough")
	s, _ := parseAgent(t, dir, least+`env: [PAWL_SPEC_SET, PAWL_SPEC_UNSET, PAWL_SPEC_SHORT, PAWL_SPEC_LONG]
dir: none
tools:
  - {name: t, description: d, command: [./x.sh]}
  - {name: u, description: d, command: [./y.sh]}
  - {name: v, description: d, command: [z], witness: [./x.sh, y, /]}
approvals: {gates: ["delete_*"]}
triggers:
  - {watch: .}
  - {watch: inbox}
  - {webhook: w, secret: PAWL_SPEC_LONG}
  - {webhook: x, secret: PAWL_SPEC_UNSET}
cage: {files: {read: [./x.sh], write: [out]}}
`, nil)
	var got []string
	for _, w := range s.Warnings(nil) {
		got = append(got, strings.ReplaceAll(w.String(), dir+"/", ""))
	}
	want := []string{
		"spec.yaml:3:22: the variable PAWL_SPEC_UNSET is not set (commands run without it)",
		"spec.yaml:3:39: secret PAWL_SPEC_SHORT has 3 bytes, and one of fewer than 6 cannot be kept out of texts; make it longer, or do not call it a secret; commands get it, and their output in the log will contain it if they print it",
		"spec.yaml:4:6: there is no directory none (commands run in it)",
		"spec.yaml:6:41: ./x.sh cannot be executed (chmod +x it, or name its interpreter first)",
		"spec.yaml:7:41: there is no file ./y.sh in the spec's directory",
		"spec.yaml:8:41: there is no program z in PATH",
		"spec.yaml:8:63: the witness y is not there (it counts as missing; what makes it appear voids an approval)",
		"spec.yaml:8:66: the witness / is not a file (calls that need approval would be refused)",
		"spec.yaml:9:21: delete_* matches no tool of the agent",
		"spec.yaml:12:13: there is no folder inbox (nothing starts until there is)",
		"spec.yaml:14:26: the variable PAWL_SPEC_UNSET is not set (no server serves the webhook without it)",
		"spec.yaml:15:40: there is no none/out (commands are refused until it is there)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"PAWL_SPEC_LONG": "long enough"}, s.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestLoad(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "long.yaml")
	must(t, os.WriteFile(path, []byte(strings.Repeat("# long\n", mostBytes/7+1)), 0o600))
	_, err := Load(path, nil)
	if problems, ok := err.(Problems); !ok || !strings.Contains(problems[0].Message, "at most 1048576 bytes") {
		t.Error(err)
	}
	b, err := json.Marshal(err)
	if err != nil || !strings.Contains(string(b), `"line":1,"column":1,"message":"`) {
		t.Errorf("%s %v", b, err)
	}
}

var must = check.Must
