package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/hook"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

var took = regexp.MustCompile(` after [^:]+:`)

// plain leaves out what differs from run to run.
func plain(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.TimeKey, "run", "duration", "entry_time":
		return slog.Attr{}
	case slog.MessageKey:
		return slog.String(a.Key, took.ReplaceAllString(a.Value.String(), ":"))
	}
	return a
}

var key = "ghp_" + strings.Repeat("aB3x", 9)

// clerk looks something up, fails at something, and answers.
func clerk() pawl.Agent {
	type in struct {
		Name string `json:"name"`
	}
	look := func(_ context.Context, i in) (map[string]string, error) {
		if i.Name == "nobody" {
			return nil, errors.New("no such\nperson, password=hunter2")
		}
		return map[string]string{"token": "abc", "note": "the key is " + key}, nil
	}
	return pawl.Agent{
		Name: "clerk",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "look", Args: json.RawMessage(`{"name": "ada"}`)}, pawl.Call{Tool: "look", Args: json.RawMessage(`{"name": "nobody"}`)}),
			pawl.Say("Done with "+key),
		),
		Tools:  []pawl.Tool{tool.Func("look", "Look somebody up.", look, pawl.Read)},
		Serial: true,
	}
}

func drive(t *testing.T, j pawl.Journal, agent pawl.Agent, hooks ...engine.Hook) pawl.Result {
	t.Helper()
	e := engine.New(j, &engine.Options{Hooks: hooks})
	h, err := e.Start(t.Context(), agent, "Go.", &engine.StartOptions{ID: "r"})
	must(t, err)
	r, err := h.Wait(t.Context())
	must(t, err)
	if _, err := e.Replay(t.Context(), agent, "r"); err != nil {
		t.Error(err)
	}
	return r
}

// An entry is a record with the members of its data, without what looks like a secret.
func TestRecords(t *testing.T) { // Promises: L11.
	var b bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: plain}))
	drive(t, memory.New(), clerk(), hook.Records(logger, &hook.Options{Texts: 60}))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i, want := range [][]string{
		{"level=INFO msg=run.started seq=1 at=0 iteration=0 agent=clerk ", " input=Go. ", " model=script/replies "},
		{"level=DEBUG msg=model.called seq=2 at=1 iteration=1 attempt=1 ", " purpose=turn "},
		{"level=INFO msg=model.replied seq=3 at=1 iteration=1 ", " stop_reason=calls "},
		{`level=DEBUG msg=tool.started seq=4 at=3 iteration=1 args="{\"name\":\"ada\"}" attempt=1 call=c_1 effect=read `, " tool=look"},
		{"level=INFO msg=tool.finished seq=5 at=3 iteration=1 call=c_1 ", ` result="{\"note\":\"the key is [redacted]\",\"token\":\"[redacted]\"}" status=ok tool=look `},
		{"level=DEBUG msg=tool.started seq=6 ", " call=c_2 "},
		{"level=WARN msg=tool.finished seq=7 at=3 iteration=1 call=c_2 ", ` error="no such person, password=[redacted]" status=error tool=look `},
		{"level=DEBUG msg=model.called seq=8 at=7 iteration=2 "},
		{"level=INFO msg=model.replied seq=9 at=7 iteration=2 ", ` text="Done with [redacted]" `},
		{"level=INFO msg=run.stopped seq=10 at=9 iteration=2 ", " leaf=done status=success"},
	} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d has no %q: %s", i+1, part, lines[i])
			}
		}
	}
}

func TestTextsCanBeLeftOut(t *testing.T) {
	var b bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&b, nil))
	drive(t, memory.New(), clerk(), hook.Records(logger, &hook.Options{Texts: -1}), hook.Log(logger, &hook.Options{Texts: -1}))
	for _, text := range []string{"Go.", "ada", "Done", "note", "person"} {
		if strings.Contains(b.String(), text) {
			t.Errorf("%q is in %s", text, b.String())
		}
	}
}

// The budget is the run's: it is not used up by other runs of the same hook, and
// a run that is resumed by another process has what is left of it.
func TestRetryBudget(t *testing.T) { // Promises: L11.
	retry := hook.Retry(3, nil)
	agent := func(pause bool) pawl.Agent {
		turn := 0
		return pawl.Agent{Name: "silent", Builtins: true, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			said := 0
			for _, m := range r.Messages {
				if m.Role == pawl.RoleAssistant {
					said++
				}
			}
			turn++
			if said == 2 && pause {
				return pawl.Do(pawl.Call{Tool: "__pause_for_human__", Args: json.RawMessage(`{"question":"?"}`)}), nil
			}
			return pawl.Say("N/A"), nil
		})}
	}
	retries := func(j pawl.Journal) (counts string) {
		n := map[string]int{}
		for e, err := range engine.Entries(t.Context(), j, "r", 1) {
			must(t, err)
			if d, ok := e.Event.(pawl.HookDirected); ok {
				n[d.Direction+d.Refused]++
			}
		}
		return fmt.Sprint(n)
	}
	for range 2 {
		j := memory.New()
		a := agent(false)
		a.Builtins = false
		// Three replies are rejected, which is as many as one iteration has; the
		// next iteration's stands.
		if r := drive(t, j, a, retry); r.Status != pawl.StatusSuccess || r.Answer != "N/A" {
			t.Errorf("ended as %v: %+v", r.Status, r.Reason)
		}
		if got, want := retries(j), "map[retry:3 retry refusedits budget of 3 is used up:1]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	defer j.Close()
	a := agent(true)
	if r := drive(t, j, a, retry); r.Status != pawl.StatusWaitingInput {
		t.Fatalf("parked as %v", r.Status)
	}
	e := engine.New(j, &engine.Options{Hooks: []engine.Hook{hook.Retry(3, nil)}})
	must(t, e.Answer(t.Context(), "r", "c_1", "ada", "yes"))
	h, err := e.Resume(t.Context(), a, "r", nil)
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
		t.Errorf("ended as %v: %v", r.Status, err)
	}
	if got, want := retries(j), "map[retry:3 retry refusedits budget of 3 is used up:1]"; got != want {
		t.Errorf("resumed: got %s, want %s", got, want)
	}
}

func TestUnusable(t *testing.T) {
	for text, unusable := range map[string]bool{
		"…": true, " - ": true, "```\n```": true, "N/A": true, "`null`": true, "None.": true,
		"42": false, "no": false, "€": false, "{}": false, "[]": false, "はい": false,
	} {
		if got := hook.Unusable(pawl.Say(text)); (got != "") != unusable {
			t.Errorf("%q: %q", text, got)
		}
	}
	if hook.Unusable(pawl.Reply{Stop: pawl.StopRefusal, Parts: []pawl.Part{pawl.Text{Text: "I will not."}}}) == "" {
		t.Error("a refusal is an answer")
	}
	if hook.Unusable(pawl.Do(pawl.Call{Tool: "x"})) != "" {
		t.Error("a call is of no use")
	}
}

var must = check.Must
