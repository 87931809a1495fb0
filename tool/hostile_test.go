//go:build linux || darwin

package tool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/hostile"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// taker is a tool that keeps what it was given, and what came back of it.
type taker struct {
	pawl.Tool
	mu    sync.Mutex
	given map[string]json.RawMessage
	back  map[string]json.RawMessage
}

func (k *taker) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	out, err := k.Tool.Run(ctx, inv)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given[inv.Call], k.back[inv.Call] = inv.Args, out.JSON
	return out, err
}

// take has a model call a tool with each of many arguments, and returns what the
// tool was given, by the index of the arguments.
func take(t *testing.T, inner pawl.Tool, all []string) map[int]json.RawMessage {
	t.Helper()
	given := map[int]json.RawMessage{}
	const batch = 40
	for from := 0; from < len(all); from += batch {
		part := all[from:min(from+batch, len(all))]
		k := &taker{Tool: inner, given: map[string]json.RawMessage{}, back: map[string]json.RawMessage{}}
		var reply pawl.Reply
		for _, args := range part {
			reply.Parts = append(reply.Parts, pawl.Call{Tool: "take", Args: json.RawMessage(args)})
		}
		r, err := engine.Run(t.Context(), pawl.Agent{
			Name: "a", Model: script.Replies(reply, pawl.Say("done")), Tools: []pawl.Tool{k}, Limits: pawl.Limits{Tokens: 1 << 40, ToolErrors: 1000},
		}, "go")
		if err != nil || len(r.Steps) == 0 || len(r.Steps[0].Calls) != len(part) {
			t.Fatalf("%v: %+v", err, r.Reason)
		}
		for i, c := range r.Steps[0].Calls {
			args, ran := k.given[c.Call]
			if ran != (c.Status == "ok") {
				t.Errorf("%.100q is %s", part[i], c.Status)
			}
			if !ran {
				continue
			}
			if given[from+i] = args; !same(t, args, k.back[c.Call]) {
				t.Errorf("%.100q reached the program as %.100q", args, k.back[c.Call])
			}
		}
	}
	return given
}

func same(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	x, err := wire.Canonical(a)
	if err != nil {
		t.Fatalf("%.100q: %v", a, err)
	}
	y, err := wire.Canonical(b)
	return err == nil && string(x) == string(y)
}

// Of hundreds of texts that are no arguments, none starts the tool; of hundreds
// that are, each reaches the program as it was written, on its standard input and
// nowhere else.
func TestHostileArguments(t *testing.T) {
	cat := tool.Command("take", "Takes.", []string{"cat"}, &tool.CommandOptions{Input: json.RawMessage(hostile.Schema), Effect: pawl.Read, MaxOutput: 4 << 20})
	type args struct {
		Text string   `json:"text"`
		N    int      `json:"n,omitempty"`
		Flag bool     `json:"flag,omitempty"`
		List []string `json:"list,omitempty"`
		Any  any      `json:"any,omitempty"`
	}
	typed := tool.Func("take", "Takes.", func(_ context.Context, a args) (args, error) { return a, nil }, pawl.Read)
	bad := hostile.Bad()
	if len(bad) < 250 {
		t.Errorf("only %d bad arguments", len(bad))
	}
	for _, inner := range []pawl.Tool{cat, typed} {
		for i, args := range take(t, inner, bad) {
			t.Errorf("%.200q ran as %.200q", bad[i], args)
		}
	}
	good := hostile.Good()
	given := take(t, cat, good)
	for i, args := range good {
		if given[i] == nil || !same(t, json.RawMessage(args), given[i]) {
			t.Errorf("%.200q ran as %.200q", args, given[i])
		}
	}
}

// What a model writes reaches a program as the words that they are, whatever a
// shell would make of them, and no variable comes with it.
func TestHostileWords(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{"AWS_SECRET_ACCESS_KEY": "leak-1", "LD_LIBRARY_PATH": "leak-2", "BASH_ENV": "leak-3", "ENV": "leak-4", "PAWL_DATABASE": "leak-5", "SSH_AUTH_SOCK": "leak-6", "http_proxy": "leak-7", "IFS": "leak-8"} {
		t.Setenv(name, value)
	}
	run := tool.RunCommand(&tool.CommandOptions{Dir: dir})
	call := func(argv ...string) (string, error) {
		raw, err := json.Marshal(map[string]any{"argv": argv})
		must(t, err)
		out, err := run.Run(t.Context(), pawl.Invocation{Args: raw, Attempt: 1})
		var s string
		_ = json.Unmarshal(out.JSON, &s)
		return s, err
	}
	var words []string
	for _, w := range hostile.Strings {
		if len(w) < 4096 && w != "true" { // which is a program
			words = append(words, w)
		}
	}
	shown, err := call(append(part(t, "words"), words...)...)
	var got []string
	if err != nil || json.Unmarshal([]byte(shown), &got) != nil {
		t.Fatal(shown, err)
	}
	if diff := cmp.Diff(words, got); diff != "" {
		t.Error(diff)
	}
	// None is a program, an option of the program that starts it, or a way around PATH.
	before, err := os.ReadDir(dir)
	must(t, err)
	for _, w := range append(words, "./none.sh", "sub/none", "..", ".", "/", "/etc/passwd", dir, "sh -c id", "sh\x00", "\x00", strings.Repeat("x", 1<<20)) {
		if out, err := call(w, "-c", "echo leaked > "+filepath.Join(dir, "x")); err == nil {
			t.Errorf("%.100q ran: %q", w, out)
		}
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Error(after, err)
	}
	env, err := call("env")
	if err != nil || strings.Contains(env, "leak-") {
		t.Errorf("%q, %v", env, err)
	}
	for line := range strings.Lines(env) {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains([]string{"PATH", "HOME", "LANG", "TMPDIR", "PAWL_RUN", "PAWL_CALL", "PAWL_ATTEMPT", "PAWL_IDEMPOTENCY_KEY", "PAWL_FILES"}, name) {
			t.Errorf("the program sees %s", name)
		}
	}
}
