package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

var token = "ghp_" + strings.Repeat("aB3x", 9)

// course runs an agent under a guard and returns the result and what the log
// has: of each entry that matters a line.
func course(t *testing.T, g *guard.Guard, input string, result string, replies ...pawl.Reply) (pawl.Result, []string) {
	t.Helper()
	echo := func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		if result == "" {
			return in.Text, nil
		}
		return result, nil
	}
	agent := pawl.Agent{
		Name: "guarded", Model: script.Replies(replies...), Policies: []pawl.Policy{g},
		Tools: []pawl.Tool{tool.Func("echo", "Say it again.", echo, pawl.Write)},
	}
	ctx, j := t.Context(), memory.New()
	e := engine.New(j, nil)
	r := replayed(t, e, agent, "", input)
	var lines []string
	for entry, err := range engine.Entries(ctx, j, r.Run, 1) {
		must(t, err)
		switch e := entry.Event.(type) {
		case pawl.ModelCalled:
			lines = append(lines, "called")
		case pawl.ToolStarted:
			lines = append(lines, "started "+string(e.Args))
		case pawl.ToolFinished:
			lines = append(lines, "finished "+string(e.Result))
		case pawl.ToolRefused:
			lines = append(lines, "refused "+e.Why)
		case pawl.PlanRejected:
			lines = append(lines, fmt.Sprintf("rejected %d: %s", e.Rejection, strings.Join(e.Reasons, "; ")))
		case pawl.Noted:
			lines = append(lines, "noted "+e.By+" "+string(e.Value))
		}
	}
	return r, lines
}

func echo(text string) pawl.Reply {
	args, _ := json.Marshal(map[string]string{"text": text})
	return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "I echo."}, pawl.Call{Tool: "echo", Args: args}}}
}

func TestGuard(t *testing.T) {
	said := func(text string) pawl.Reply {
		r := echo("hello")
		r.Parts[0] = pawl.Text{Text: text}
		return r
	}
	for name, c := range map[string]struct {
		g             *guard.Guard
		input, result string
		replies       []pawl.Reply
		status        pawl.Status
		answer        string
		lines         []string
	}{
		"a blocked input": {guard.New(guard.Secrets(guard.Block)), "use " + token, "", nil, pawl.StatusFailed, "", nil},
		"a blocked argument": {guard.New(guard.Secrets(guard.Block)), "go", "",
			[]pawl.Reply{echo(token), pawl.Say("ok")}, pawl.StatusSuccess, "ok",
			[]string{"called", "refused not run: its arguments hold what is blocked: secrets (github_token); leave that out", "called"}},
		"the calls of a blocked reply": {guard.New(guard.Topics(guard.Block, "gambling")), "go", "",
			[]pawl.Reply{said("Gambling it is."), pawl.Say("ok")}, pawl.StatusSuccess, "ok",
			[]string{"called", "refused not run: the reply it stands in holds what is blocked: topics (topic)", "called"}},
		"a blocked answer": {guard.New(guard.PII(guard.Block)), "go", "",
			[]pawl.Reply{pawl.Say("ask ada@example.org")}, pawl.StatusFailed, "(withheld: it holds pii (email))", []string{"called"}},
		"a blocked result": {guard.New(guard.PII(guard.Block)), "go", "ask ada@example.org",
			[]pawl.Reply{echo("x"), pawl.Say("never")}, pawl.StatusFailed, "",
			[]string{"called", `started {"text":"x"}`, `finished "ask ada@example.org"`}},
		"a redacted call is made": {guard.New(guard.PII(guard.Redact)), "go, 078-05-1120", "",
			[]pawl.Reply{echo("ada@example.org"), pawl.Say("078-05-1120")}, pawl.StatusSuccess, "[redacted ssn]",
			[]string{"called", `started {"text":"[redacted email]"}`, `finished "[redacted email]"`, "called"}},
		"a warning": {guard.New(guard.PII(guard.Warn, guard.IP), guard.Topics(guard.Warn, "hello")), "hello", "10.0.0.1",
			[]pawl.Reply{echo("x"), pawl.Say("10.0.0.1")}, pawl.StatusSuccess, "10.0.0.1",
			[]string{
				`noted guard(pii(ip): warn, topics("hello"): warn) {"found":["topic"],"in":"the input","rule":"topics(\"hello\")"}`,
				"called", `started {"text":"x"}`, `finished "10.0.0.1"`,
				`noted guard(pii(ip): warn, topics("hello"): warn) {"found":["ip"],"in":"the result of c_1 (echo)","rule":"pii(ip)"}`,
				"called",
				`noted guard(pii(ip): warn, topics("hello"): warn) {"found":["ip"],"in":"the answer","rule":"pii(ip)"}`,
			}},
	} {
		t.Run(name, func(t *testing.T) {
			r, lines := course(t, c.g, c.input, c.result, c.replies...)
			if r.Status != c.status || r.Answer != c.answer {
				t.Errorf("ended as %v with %q: %s", r.Status, r.Answer, r.Reason.Detail)
			}
			if diff := cmp.Diff(c.lines, lines); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
			if r.Status == pawl.StatusFailed && (r.Reason.Leaf != "guard" || strings.Contains(r.Reason.Detail, token)) {
				t.Errorf("reason %+v", r.Reason)
			}
		})
	}
}

// Who weakens a guard does not resume its runs unnoticed.
func TestGuardIsDigested(t *testing.T) {
	agent := func(g *guard.Guard) pawl.Agent {
		return pawl.Agent{Name: "a", Model: script.Replies(pawl.Say("x")), Policies: []pawl.Policy{g}}
	}
	declared := func(g *guard.Guard) pawl.Declaration {
		m, err := pawl.NewMachine(agent(g))
		must(t, err)
		return m.Declaration()
	}
	was := declared(guard.New(guard.PII(guard.Redact), guard.Topics(guard.Block, "a", "b")))
	now := declared(guard.New(guard.PII(guard.Redact), guard.Topics(guard.Block, "a")))
	if diff := cmp.Diff([]string{"policies"}, was.Differences(now)); diff != "" {
		t.Error(diff)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	for want, g := range map[string]*guard.Guard{
		"it has no rules":                    guard.New(),
		"pii: 0 is not an action":            guard.New(guard.PII(0)),
		"kind(7) is not a kind":              guard.New(guard.PII(guard.Warn, 7)),
		"topics has no topics":               guard.New(guard.Topics(guard.Block)),
		`the topic " - " has no word`:        guard.New(guard.Topics(guard.Block, "x", " - ")),
		"secrets: 9 is not an action; use R": guard.New(guard.Secrets(9), guard.PII(guard.Warn)),
	} {
		_, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: script.Replies(), Policies: []pawl.Policy{g}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		g.Filter("a@b.de")
	}
}

// The last words of an exhausted run are withheld like any other answer.
func TestLandingIsWithheld(t *testing.T) {
	again := func(context.Context, struct{}) (string, error) { return "more", nil }
	agent := pawl.Agent{
		Name: "guarded", Limits: pawl.Limits{Iterations: 1},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if r.Purpose == pawl.PurposeFinal {
				return pawl.Say("So far: " + token), nil
			}
			return pawl.Do(pawl.Call{Tool: "again", Args: json.RawMessage(`{}`)}), nil
		}),
		Policies: []pawl.Policy{guard.New(guard.Secrets(guard.Block))},
		Tools:    []pawl.Tool{tool.Func("again", "Go on.", again, pawl.Read)},
	}
	r, err := engine.Run(t.Context(), agent, "go")
	if err != nil || r.Status != pawl.StatusFailed || strings.Contains(r.Answer, token) || !strings.Contains(r.Reason.Detail, "the answer holds what is blocked") {
		t.Errorf("%v %q %q, %v", r.Status, r.Answer, r.Reason.Detail, err)
	}
}

// What runs before it in its thread brought is looked at before a run's model
// reads it: they had no guard, or one that ended them first.
func TestThread(t *testing.T) {
	e := engine.New(memory.New(), nil)
	run := func(thread, input string, result string, g ...pawl.Policy) pawl.Result {
		t.Helper()
		echo := func(context.Context, struct{}) (string, error) { return result, nil }
		agent := pawl.Agent{
			Name: "guarded", Model: script.Replies(pawl.Do(pawl.Call{Tool: "echo"}), pawl.Say("done"), pawl.Say("done")), Policies: g,
			Tools: []pawl.Tool{tool.Func("echo", "Say something.", echo, pawl.Read)},
		}
		return replayed(t, e, agent, thread, input)
	}
	block := guard.New(guard.Secrets(guard.Block))
	for thread, first := range map[string][2]string{"said": {"mine is " + token, "fine"}, "found": {"go", "it is " + token}} {
		run(thread, first[0], first[1])
		for range 2 { // the first such run does not make it known
			if r := run(thread, "go on", "fine", block); r.Status != pawl.StatusFailed || r.Usage.ModelCalls != 0 || !strings.Contains(r.Reason.Detail, "thread") && !strings.Contains(r.Reason.Detail, "of run") {
				t.Errorf("%s: %v after %d calls: %s", thread, r.Status, r.Usage.ModelCalls, r.Reason.Detail)
			}
		}
	}
	run("clean", "go", "fine", block)
	if r := run("clean", "go on", "fine", block); r.Status != pawl.StatusSuccess {
		t.Errorf("%v: %s", r.Status, r.Reason.Detail)
	}
}
