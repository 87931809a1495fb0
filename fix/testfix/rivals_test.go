package testfix_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/pawltest/fakeprovider"
)

// larger is a module with one fault whose test leaves its mark each time it runs.
func larger(t *testing.T, model pawl.Model, imports string) (f *testfix.Fix, runs func() int) {
	t.Helper()
	needsGo(t)
	dir, mark := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "mark")
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"m.go":   "package m\n\nfunc Max(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
		"m_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n" + imports + ")\n\n" + `func TestMax(t *testing.T) {
	f, err := os.OpenFile(os.Getenv("MARK"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("x")
	if got := Max(1, 2); got != 2 {
		t.Errorf("Max(1, 2) = %d, want %d", got, 2)
	}
	if got := Max(4, 3); got != 4 {
		t.Errorf("Max(4, 3) = %d, want %d", got, 4)
	}
}
`,
	})
	f = open(t, dir, model, &testfix.Options{Env: []string{"MARK=" + mark}})
	return f, func() int {
		text, err := os.ReadFile(mark)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
}

// A model reads what the mechanic knows before its first reply, and its edits are tried beside
// the mechanic's. The mechanic itself gets no such text.
func TestRivals(t *testing.T) {
	t.Parallel()
	f, _ := larger(t, anthropic.New("claude-sonnet-5-5", &anthropic.Options{BaseURL: "http://127.0.0.1:1", APIKey: "k"}), "") // it is not asked
	if _, err := f.Check(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"got 1, want 2", "m.go:3-7 1/0", "m.go:4 comparison operator < → >"} {
		if !strings.Contains(f.Input(), want) {
			t.Errorf("the input lacks %q:\n%s", want, f.Input())
		}
	}
	out, err := use(t, f, "try_edits", args{"edits": []args{edit("m.go", "return b", "return a + b")}})
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Summary string
		Fails   []int `json:"still_fail"`
		Rules   []struct {
			Path, Old, New string
			All            bool
		}
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatal(err)
	}
	if len(told.Fails) != 1 || len(told.Rules) == 0 || !told.Rules[0].All || !strings.HasPrefix(told.Summary, "1 of 1 edits tried") || !strings.Contains(told.Summary, "edits by rules tried beside them") {
		t.Fatalf("it says %s", out)
	}
	r := told.Rules[0]
	if _, err := use(t, f, "edit_file", edit(r.Path, r.Old, r.New)); err != nil {
		t.Fatal(err)
	}
	if text := observeOnce(t, f); !strings.HasPrefix(text, "ok: 1 passed") {
		t.Errorf("after the mechanic's edit the tests say %s", text)
	}

	f, _ = larger(t, mechanic.New(), "")
	if _, err := f.Check(t.Context(), nil); err != nil || strings.Contains(f.Input(), "Lines") {
		t.Errorf("%v, the mechanic gets: %s", err, f.Input())
	}
}

// The trial that shows that every test passes is the run after the edit, too, unless the tests
// read the source.
func TestTrialIsReused(t *testing.T) {
	t.Parallel()
	for imports, again := range map[string]bool{"": false, "\t_ \"os/exec\"\n": true} {
		f, runs := larger(t, mechanic.New(), imports)
		observeOnce(t, f)
		right := edit("m.go", "a < b", "a > b")
		if _, err := use(t, f, "try_edits", args{"edits": []args{right}}); err != nil {
			t.Fatal(err)
		}
		before := runs()
		if _, err := use(t, f, "edit_file", right); err != nil {
			t.Fatal(err)
		}
		if text := observeOnce(t, f); !strings.HasPrefix(text, "ok: 1 passed") {
			t.Errorf("the tests say %s", text)
		}
		if got := runs() > before; got != again {
			t.Errorf("with %q the tests ran again: %v, want %v", imports, got, again)
		}
		// Another edit is no such state.
		if _, err := use(t, f, "edit_file", edit("m.go", "return b", "return b + 1")); err != nil {
			t.Fatal(err)
		}
		if text := observeOnce(t, f); !strings.HasPrefix(text, "FAIL: 0 passed, 1 failed") {
			t.Errorf("the tests say %s", text)
		}
	}
}

// Whatever a provider answers, the project stays as it is unless every test passes.
func TestBadProvider(t *testing.T) {
	t.Parallel()
	needsGo(t)
	call := func(name string, args any) pawl.Call {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return pawl.Call{ID: "c", Tool: name, Args: raw}
	}
	bad := []pawl.Reply{
		pawl.Do(call("edit_file", args{"path": "../outside.go", "old": "package", "new": "x"})),
		pawl.Do(call("write_file", args{"path": "/tmp/pawl-outside.go", "content": "package x"})),
		pawl.Do(call("write_file", args{"path": "m_test.go", "content": "package m\n"})),
		pawl.Do(call("write_file", args{"path": "testmain_test.go", "content": "package m\n\nfunc init() {}\n"})),
		pawl.Do(call("edit_file", args{"path": "m.go", "old": "return b", "new": "return 2 +"})),
		pawl.Do(call("edit_file", args{"path": "m.go"})),
		pawl.Do(call("rm_rf", args{"path": "."})),
		pawl.Do(call("try_edits", args{"edits": []args{{"path": "m.go", "old": "", "new": ""}}})),
		pawl.Do(call("try_edits", args{"edits": "all"})),
		pawl.Do(call("write_file", args{"path": "m.go", "content": "package m\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n\nfunc Max(a, b int) int { return 0 }\n"})),
	}
	brain := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if turn >= len(bad) {
			return pawl.Say("Every test passes."), nil
		}
		return bad[turn], nil
	})
	for _, fault := range []string{"", "truncated-arguments", "unknown-tool", "refusal", "html-page"} {
		o := &fakeprovider.Options{}
		if fault != "" {
			o.FaultFor = func(int) fakeprovider.Fault { return fakeprovider.Must(fault) }
		}
		server := httptest.NewServer(fakeprovider.New(brain, o))
		f, _ := larger(t, anthropic.New("claude-sonnet-5-5", &anthropic.Options{BaseURL: server.URL, APIKey: "k"}), "")
		dir := f.Source().Dir
		before := snapshot(t, dir)
		agent := f.Agent()
		agent.Limits.Iterations, agent.Limits.Time = len(bad)+2, 30*time.Second
		run, err := engine.New(memory.New(), &engine.Options{Backoff: func(int) time.Duration { return time.Millisecond }}).Start(t.Context(), agent, f.Input(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, err := f.Outcome(t.Context(), r.Status)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Apply(d); err != nil {
			t.Fatal(err)
		}
		if r.Status == pawl.StatusSuccess || !d.Empty() {
			t.Errorf("%s: %v with %q", fault, r.Status, d)
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Errorf("%s: the project changed:\n%s", fault, diff)
		}
		server.Close()
	}
}
