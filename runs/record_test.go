package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/tool"
)

// live is a provider that says one thing after another, whatever it is asked. Each
// is a [pawl.Reply] or an error.
type live struct{ said *[]any }

func (l live) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "script/run", Price: &pawl.Price{Input: 3, Output: 15}}
}

func (l live) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		next := (*l.said)[0]
		*l.said = (*l.said)[1:]
		if reply, ok := next.(pawl.Reply); ok {
			yield(pawl.Chunk{Reply: &reply}, nil)
			return
		}
		if yield(pawl.Chunk{Text: "I was about to"}, nil) {
			yield(pawl.Chunk{}, next.(error))
		}
	}
}

func call(name, args string) pawl.Call {
	return pawl.Call{Tool: name, Args: json.RawMessage(args), Ref: "toolu_7"}
}

func reply(parts ...pawl.Part) pawl.Reply {
	return pawl.Reply{Parts: parts, Usage: pawl.Usage{Input: 100, Output: 20, CacheRead: 10}}
}

func thinking(text string) pawl.Part {
	return pawl.Thinking{Text: text, Opaque: []byte(`"sig"`), Model: "script/run"}
}

// clerk is an agent with tools, a judge, an agent of its own and a typed answer.
func clerk(m pawl.Model) pawl.Agent {
	add := func(_ context.Context, in struct{ A, B int }) (int, error) {
		if in.A < 0 {
			time.Sleep(time.Millisecond) // so that it returns after the other call
			return 0, errors.New("no negative numbers")
		}
		return in.A + in.B, nil
	}
	helper := pawl.Agent{Name: "helper", Description: "Helps.", Model: m}
	return pawl.Agent{
		Name: "clerk", Model: m,
		Tools:    []pawl.Tool{tool.Func("add", "Adds.", add, pawl.Read), tool.Agent(helper, nil)},
		Output:   json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}`),
		Policies: []pawl.Policy{judge.Reflexion(&judge.ReflexionOptions{Every: 1, Model: m})},
	}
}

// conversations are what a provider may say to the clerk.
var conversations = map[string][]any{
	"tools, several at once, out of order": {
		reply(thinking("Two\nsums.\n"), pawl.Text{Text: "Let me see: "}, call("add", `{"A":1,"B":2}`), call("add", `{"B":2,"A":-1}`)),
		reply(pawl.Text{Text: `{"confidence":0.9}`}),
		reply(pawl.Text{Text: "First"}, thinking("then"), thinking(""), call("add", `{"A":3,"B":12345678901234567890}`), pawl.Text{Text: "\tlast "}, call("add", `"no object"`)),
		reply(pawl.Text{Text: `{"confidence":0.3,"hint":"Add again."}`}),
		reply(pawl.Text{Text: `{"sum":"three"}`}),
		reply(pawl.Text{Text: `{"sum":3}`}),
	},
	"failures and retries": {
		&pawl.ModelError{Class: pawl.ClassRateLimit, Message: "slow down"},
		&pawl.ModelError{Class: pawl.ClassTruncated, Message: "broke off", Usage: pawl.Usage{Input: 90, Output: 4}, Billed: true},
		reply(call("add", `{"A":1,"B":2}`)),
		&pawl.ModelError{Class: pawl.ClassOverloaded, Message: "later"},
		reply(pawl.Text{Text: `{"confidence":0.9}`}),
		reply(pawl.Text{Text: `{"sum":3}`}),
	},
	"a child": {
		reply(call("helper", `{"input":"Help."}`)),
		reply(pawl.Text{Text: "Helped: yes."}),
		reply(pawl.Text{Text: `{"confidence":0.9}`}),
		reply(pawl.Text{Text: `{"sum":1}`}),
	},
	"a failure for good": {
		reply(call("add", `{"A":1,"B":2}`)),
		reply(pawl.Text{Text: `{"confidence":0.9}`}),
		&pawl.ModelError{Class: pawl.ClassInvalid, Message: "what is that?"},
	},
}

// passing matches what differs from run to run: times, what only a provider knows, and the
// estimates that count it.
var passing = regexp.MustCompile(`"(time|retry_at|ref|opaque|reserved_tokens|reserved_usd|bytes)":("[^"]*"|[\d.]+),?`)

func play(t *testing.T, agent pawl.Agent) (j *memory.Journal, log []string) {
	t.Helper()
	j = memory.New()
	h, err := engine.New(j, nil).Start(t.Context(), agent, "Add.", &engine.StartOptions{ID: "run"})
	must(t, err)
	_, err = h.Wait(t.Context())
	must(t, err)
	for _, run := range []string{"run", "run.c_1"} {
		for e, err := range engine.Entries(t.Context(), j, run, 1) {
			if errors.Is(err, pawl.ErrUnknownRun) {
				break
			}
			line, wrong := e.AppendJSON(nil)
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			log = append(log, strings.ReplaceAll(passing.ReplaceAllString(string(line), ""), `,}`, `}`))
		}
	}
	return j, log
}

// TestRecordPlays records runs, and plays the scripts: the same entries come again.
func TestRecordPlays(t *testing.T) {
	for name, said := range conversations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, want := play(t, clerk(live{&said}))
				if len(said) > 0 {
					t.Fatalf("%d replies are left:\n%s", len(said), strings.Join(want, "\n"))
				}
				made, err := runs.Record(t.Context(), j, "run", nil)
				must(t, err)
				text, err := made.Script.YAML()
				must(t, err)
				m, err := script.Parse("run", text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if _, got := play(t, clerk(m)); cmp.Diff(want, got) != "" {
					t.Errorf("it came out differently (-recorded +played):\n%s\n%s", cmp.Diff(want, got), text)
				}
				if places := m.Unasked(); len(places) > 0 {
					t.Errorf("not asked for: %v\n%s", places, text)
				}
			})
		})
	}
}

// TestRecordSecrets: a secret in a text is removed, one in an argument refused.
func TestRecordSecrets(t *testing.T) {
	const key = "sk-ant-api03-Zk4tB8vYw2QmN6xLr9PsD1fGh3Jc5VbE7uTaKoIiXyWzQnMp0RlCdHgFjSeAvUbOtLkYi"
	text := []any{reply(pawl.Text{Text: "The key is " + key}), reply(pawl.Text{Text: "{}"})}
	args := []any{reply(call("add", `{"A":1,"B":2,"key":"`+key+`"}`)), reply(pawl.Text{Text: "{}"})}
	plain := func(m pawl.Model) pawl.Agent {
		return pawl.Agent{Name: "plain", Model: m, Tools: clerk(m).Tools[:1]}
	}
	j, _ := play(t, plain(live{&text}))
	made, err := runs.Record(t.Context(), j, "run", nil)
	if err != nil || len(made.Redacted) != 1 || strings.Contains(*made.Script.Replies[0].Text, key) {
		t.Errorf("%v, %+v", err, made)
	}
	j, _ = play(t, plain(live{&args}))
	if _, err := runs.Record(t.Context(), j, "run", nil); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a secret in an argument: %v", err)
	}
	if made, err := runs.Record(t.Context(), j, "run", &runs.RecordOptions{Raw: true}); err != nil || len(made.Redacted) != 0 {
		t.Errorf("raw: %v, %v", err, made)
	}
}

var must = check.Must
