package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// A scene is a run and how it is looked at.
type scene struct {
	name   string
	status pawl.Status // of the report
	play   func(*lab) []pawl.Entry
	opt    *explain.Options
}

const shopping = `
price: {input: 3, output: 15}
replies:
  - {text: Let me look., delay: 800ms, usage: {input: 120, output: 15}, calls: [{tool: search, args: {q: shoes}}, {tool: search, args: {q: hats}}]}
  - {thinking: Both were found., usage: {input: 240, output: 12, cache_read: 100}, calls: [{tool: pay, args: {eur: 40}}]}
  - {text: "Paid: *40* euros.", usage: {input: 300, output: 9}}
`

func shopper(l *lab, more ...pawl.Policy) pawl.Agent {
	return pawl.Agent{Name: "shopper", Model: scripted(l.t, shopping), Tools: []pawl.Tool{search(), pay()}, Policies: more}
}

const endless = `
repeat: last
replies:
  - {text: "Looking for number {{turn}}.", usage: {input: 100, output: 10}, calls: [{tool: search, args: {q: "{{turn}}"}}]}
`

func seeker(l *lab) pawl.Agent {
	return pawl.Agent{Name: "seeker", Model: scripted(l.t, endless), Tools: []pawl.Tool{search()}}
}

func one(l *lab, reply string, tools ...pawl.Tool) pawl.Agent {
	return pawl.Agent{Name: "one", Model: scripted(l.t, "repeat: last\nreplies:\n  - "+reply), Tools: tools}
}

var scenes = []scene{
	{"rare", pawl.StatusRunning, func(l *lab) []pawl.Entry { return rare(l.run(shopper(l), "Buy shoes.")) }, nil},
	{"success", pawl.StatusSuccess, func(l *lab) []pawl.Entry { return l.run(shopper(l), "Buy shoes.") }, nil},
	{"success-goal", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		a := one(l, `{text: All done.}`)
		a.Model = scripted(l.t, `
replies:
  - {text: I shall fix A., calls: [{tool: search, args: {q: A}}]}
  - {text: I shall fix B., calls: [{tool: search, args: {q: B}}]}
  - {text: All done.}
  - {text: I shall fix C., calls: [{tool: search, args: {q: C}}]}
`)
		a.Tools = []pawl.Tool{search()}
		a.Observer = func(context.Context) (pawl.Observation, error) {
			return pawl.Observation{Text: "the tests ran"}, nil
		}
		a.Goal = course(pawl.Measured{Value: 3, Open: []string{"TestA", "TestB", "TestC"}}, pawl.Measured{Value: 2, Open: []string{"TestB", "TestC"}},
			pawl.Measured{Value: 1, Open: []string{"TestD"}}, pawl.Measured{Value: 1, Open: []string{"TestD"}}, pawl.Measured{Value: 0})
		return l.run(a, "Make the tests pass.")
	}, nil},
	{"judged", pawl.StatusFailed, judged, nil},
	{"attempts", pawl.StatusExhausted, func(l *lab) []pawl.Entry { return l.run(mender(l), "Make the tests pass.") }, nil},
	{"exhausted-iterations", pawl.StatusExhausted, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Limits.Iterations = 300
		return l.run(a, "Find them all.")
	}, nil},
	{"exhausted-stop", pawl.StatusExhausted, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Stop = stop.Any(stop.ToolCalled("pay"), stop.Iterations(2))
		a.Tools = append(a.Tools, pay())
		return l.run(a, "Find them all.")
	}, nil},
	{"exhausted-tokens", pawl.StatusExhausted, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Limits.Tokens = 400
		return l.run(a, "Find them all.")
	}, nil},
	{"exhausted-cost", pawl.StatusExhausted, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Model = scripted(l.t, "price: {input: 3, output: 15}\n"+endless)
		a.Limits.Cost = 0.002
		return l.run(a, "Find them all.")
	}, nil},
	{"exhausted-time", pawl.StatusExhausted, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Limits.Time = time.Second
		return l.run(a, "Find them all.")
	}, nil},
	{"no-progress-stalled", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{text: Again., calls: [{tool: search, args: {q: it}}]}`, search()), "Find it.")
	}, nil},
	{"hinted", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		a := one(l, `{text: x}`, search())
		a.Model = scripted(l.t, `
replies:
  - {text: Again., calls: [{tool: search, args: {q: it}}]}
  - {text: Again., calls: [{tool: search, args: {q: it}}]}
  - {text: Again., calls: [{tool: search, args: {q: it}}]}
  - {text: There is only one.}
`)
		a.Policies = []pawl.Policy{progress.NoProgress(2, progress.Hint, "Look elsewhere.")}
		return l.run(a, "Find it.")
	}, nil},
	{"no-progress-errors", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{calls: [{tool: fetch, args: {n: "{{turn}}"}}]}`, broken()), "Fetch it.")
	}, nil},
	{"waiting-approval", pawl.StatusWaitingApproval, func(l *lab) []pawl.Entry { return l.run(shopper(l, gate{"pay"}), "Buy shoes.") }, nil},
	{"approved", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		a := shopper(l, gate{"pay"})
		l.run(a, "Buy shoes.")
		time.Sleep(90 * time.Second)
		l.must(l.eng.Approve(l.t.Context(), runID, "c_3", "bob", &engine.ApproveOptions{Args: json.RawMessage(`{"eur":35}`)}))
		return l.resume(a, nil)
	}, nil},
	{"expired", pawl.StatusExpired, func(l *lab) []pawl.Entry {
		log := l.run(shopper(l, gate{"pay"}), "Buy shoes.")
		for i, e := range log {
			if ask, ok := e.Event.(pawl.ApprovalRequested); ok {
				ask.Expires = e.Time.Add(time.Hour)
				log[i].Event = ask
			}
		}
		return log
	}, &explain.Options{Now: time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC)}},
	{"denied", pawl.StatusDenied, func(l *lab) []pawl.Entry {
		a := shopper(l, gate{"pay"})
		a.Approvals.StopOnDeny = true
		l.run(a, "Buy shoes.")
		l.must(l.eng.Deny(l.t.Context(), runID, "c_3", "bob", "too dear", nil))
		return l.resume(a, nil)
	}, nil},
	{"waiting-input", pawl.StatusWaitingInput, func(l *lab) []pawl.Entry {
		a := one(l, `{calls: [{tool: __pause_for_human__, args: {question: "Which size?"}}]}`)
		a.Builtins = true
		return l.run(a, "Buy shoes.")
	}, nil},
	{"waiting-client-tool", pawl.StatusWaitingClientTool, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{calls: [{tool: pick_cell, args: {row: 3}}]}`, picker()), "Pick one.")
	}, nil},
	{"interrupted", pawl.StatusInterrupted, func(l *lab) []pawl.Entry {
		log := l.run(shopper(l), "Buy shoes.")
		return log[:len(until(log, "tool.started"))+1]
	}, &explain.Options{Status: pawl.StatusInterrupted}},
	{"interrupted-thinking", pawl.StatusInterrupted, func(l *lab) []pawl.Entry {
		return until(l.run(shopper(l), "Buy shoes."), "model.called")
	}, &explain.Options{Status: pawl.StatusInterrupted}},
	{"running", pawl.StatusRunning, func(l *lab) []pawl.Entry { return until(l.run(shopper(l), "Buy shoes."), "tool.finished") }, nil},
	{"waiting-doubt", pawl.StatusWaitingDoubt, doubted, nil},
	{"settled", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		l = l.crash(doubted(l), time.Minute)
		l.must(l.eng.Resolve(l.t.Context(), runID, "c_3", "bob", engine.DidNotHappen()))
		return l.resume(shopper(l), nil)
	}, nil},
	{"plan-failed", pawl.StatusPlanFailed, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{calls: [{tool: delete, args: {}}]}`, search()), "Delete it.")
	}, nil},
	{"hooked", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		l.eng = engine.New(l.disk, &engine.Options{Owner: &engine.Owner{User: "ann", Host: "anvil", PID: 7}, Hooks: []engine.Hook{hook{}}})
		a := one(l, "{text: x}", search(), pay())
		a.Model = scripted(l.t, `
replies:
  - {text: Hmpf., calls: [{tool: search, args: {q: shoes}}]}
  - {text: Let me look., calls: [{tool: search, args: {q: shoes}}, {tool: pay, args: {eur: 40}}]}
  - {text: Paid.}
`)
		return l.run(a, "Buy shoes.")
	}, nil},
	{"failed-auth", pawl.StatusFailed, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{error: {class: auth, message: invalid x-api-key}}`), "Go.")
	}, nil},
	{"failed-attempts", pawl.StatusFailed, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{error: {class: rate_limit, message: slow down, retry_after: 7s}}`), "Go.")
	}, nil},
	{"failed-panic", pawl.StatusFailed, func(l *lab) []pawl.Entry {
		a := shopper(l)
		a.Stop, a.Source = basketless{}, "a program"
		return l.run(a, "Buy shoes.")
	}, nil},
	{"failed-refusal", pawl.StatusFailed, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{text: I will not., stop: refusal}`), "Go.")
	}, nil},
	{"cancelled", pawl.StatusCancelled, func(l *lab) []pawl.Entry {
		run := l.start(shopper(l), "Buy shoes.")
		time.Sleep(850 * time.Millisecond)
		l.must(l.eng.Cancel(l.t.Context(), runID, "bob", "wrong shop"))
		return l.wait(run)
	}, nil},
	{"paused", pawl.StatusPaused, func(l *lab) []pawl.Entry {
		ctx, end := context.WithCancelCause(l.t.Context())
		run, err := l.eng.Start(ctx, shopper(l), "Buy shoes.", &engine.StartOptions{ID: runID})
		l.must(err)
		time.Sleep(850 * time.Millisecond)
		end(errors.New("interrupt"))
		return l.wait(run)
	}, nil},
	{"paused-rate-limit", pawl.StatusPaused, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{error: {class: rate_limit, message: daily limit, retry_after: 3h}}`), "Go.")
	}, nil},
	{"resumed", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		a := shopper(l)
		a.Limits.Iterations = 1
		l.run(a, "Buy shoes.")
		time.Sleep(time.Hour)
		return l.resume(a, &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 3}})
	}, nil},
	{"forked", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		log := l.run(shopper(l), "Buy shoes.")
		a := one(l, `{text: They are blue.}`, search(), pay())
		run, err := l.eng.Fork(l.t.Context(), a, runID, uint64(len(log)), &engine.ForkOptions{ID: "01FORK", Input: "Which colour?", AllowChange: true})
		l.must(err)
		return l.wait(run)
	}, nil},
	{"json-strategy", pawl.StatusSuccess, func(l *lab) []pawl.Entry {
		a := one(l, "{text: x}")
		a.Model = scripted(l.t, `
replies:
  - text: I am not sure.
  - text: '{"thought": "enough", "action": "__complete__", "action_input": {"answer": "x it is", "confidence": 0.9}}'
`)
		a.Tools, a.Strategy = []pawl.Tool{search()}, pawl.StrategyJSON
		return l.run(a, "What is it?")
	}, nil},
	{"hostile", pawl.StatusWaitingApproval, func(l *lab) []pawl.Entry {
		a := one(l, "{text: x}")
		a.Name, a.Model = "hostile", scripted(l.t, `
replies:
  - text: "fine\n# FORGED\n`+"```"+`\n# FORGED\n\u001b[2J\u001b]0;FORGED\u0007`+"`"+`\r\n## FORGED \u202Edesrever"
    calls:
      - {tool: echo, args: {q: "\n# FORGED\n`+"``"+`"}}
      - {tool: "no\n# FORGED`+"`"+`", args: {}}
  - text: "- # FORGED"
    calls: [{tool: pay, args: {why: "`+"````"+`\n# FORGED"}}]
`)
		a.Policies = []pawl.Policy{gate{"pay"}}
		a.Tools = []pawl.Tool{pay(), tool("echo", pawl.Read, func(context.Context, map[string]any) (string, error) {
			return "", errors.New("no such thing\n# FORGED\n```\n# FORGED")
		})}
		return l.run(a, "Be good.\n# FORGED\n````\n# FORGED")
	}, nil},
}

// hook wants friendlier replies, and every call made twice.
type hook struct{}

func (hook) Name() string { return "friend" }

func (hook) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	switch e := e.Event.(type) {
	case pawl.ModelReplied:
		return engine.Direction{Retry: e.Reply.Text() == "Hmpf.", Reason: "be kinder"}
	case pawl.ToolFinished:
		c, _ := s.Call(e.Call)
		return engine.Direction{Retry: c.Retries == 0, Reason: "to be sure"}
	}
	return engine.Direction{}
}

func doubted(l *lab) []pawl.Entry {
	log := l.run(shopper(l), "Buy shoes.")
	for i, e := range log {
		if e, ok := e.Event.(pawl.ToolStarted); ok && e.Tool == "pay" {
			l = l.crash(log[:i+1], time.Minute)
			return l.resume(shopper(l), nil)
		}
	}
	return nil
}

// rare is the beginning of a log with every event that the other scenes have not.
func rare(log []pawl.Entry) []pawl.Entry {
	log = log[:3:3]
	at := log[2].Time
	step := func(events ...pawl.Event) {
		decided := uint64(len(log))
		for _, e := range events {
			at = at.Add(10 * time.Millisecond)
			log = append(log, pawl.Entry{Run: runID, Seq: uint64(len(log) + 1), At: decided, Time: at, Iteration: 1, Event: e})
		}
	}
	args := json.RawMessage(`{"q":"shoes"}`)
	step(pawl.ModelCalled{Purpose: pawl.PurposeJudge, Attempt: 1, Reserved: 500, MaxTokens: 100},
		pawl.ModelReplied{Purpose: pawl.PurposeJudge, Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Likely."}}, Stop: pawl.StopLength, Usage: pawl.Usage{Input: 90, Output: 3}}, Cost: 0.001, Priced: true})
	step(pawl.Reflected{Text: "goes well", Confidence: 0.7, By: "judge"})
	step(pawl.ChildStarted{Call: "c_1", Child: "01CHILD", Agent: "scout"})
	step(pawl.ChildStopped{Call: "c_1", Child: "01CHILD", Status: pawl.StatusSuccess, Usage: pawl.Usage{Input: 70, Output: 7}, Cost: 0.002})
	step(pawl.MemoryStored{Call: "c_1", Key: "size", Value: json.RawMessage(`42`)}, pawl.ToolFinished{Call: "c_1", Tool: "__store_memory__", Status: pawl.ToolOK, Result: json.RawMessage(`"stored"`)})
	step(pawl.ProgressLogged{Call: "c_2", Message: "half way"})
	step(pawl.ApprovalRequested{Call: "c_2", Tool: "search", Args: args, Reason: "is it wise?", Expires: at.Add(time.Minute)})
	step(pawl.ApprovalInvalidated{Call: "c_2", Changed: []string{"ledger.csv"}})
	step(pawl.ApprovalExpired{Call: "c_2"})
	step(pawl.ToolReused{Call: "c_2", Tool: "search", Of: "c_1"})
	step(pawl.ToolReused{Call: "c_1", Tool: "search", Of: "c_3"}, pawl.ApprovalInvalidated{Call: "c_2", Changed: []string{"ledger.csv"}}, pawl.ApprovalExpired{Call: "c_3"})
	step(pawl.ContextCompacted{From: 2, To: 9, Masked: []string{"c_1"}, Summary: "shoes were sought"})
	step(pawl.ModelCalled{Purpose: "vote", Attempt: 1, Reserved: 500, MaxTokens: 100, Waited: 12 * time.Second},
		pawl.ModelFailed{Purpose: "vote", Class: pawl.ClassTruncated, Message: "broke off", Attempt: 1, RetryAt: at.Add(time.Second), Usage: pawl.Usage{Input: 400, Output: 100}})
	step(pawl.ModelCalled{Purpose: "vote", Attempt: 2, Reserved: 500, MaxTokens: 100},
		pawl.ModelReplied{Purpose: "vote", Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "aye"}}, Stop: pawl.StopEnd, Usage: pawl.Usage{Input: 80, Output: 2}}, Priced: true})
	step(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 2, Reserved: 500, MaxTokens: 100},
		pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Hm."}}, Stop: pawl.StopPause, Usage: pawl.Usage{Input: 50, Output: 2}}, Priced: true})
	step(pawl.Grounded{Claims: []string{"they are blue"}})
	step(pawl.CausesFound{Graph: json.RawMessage(`{"c_1":["c_2"]}`)})
	step(pawl.Noted{By: "votes", Name: "tally", Value: json.RawMessage(`{"ayes":1}`)})
	step(pawl.Noted{By: "__budget__", Name: "refused", Value: json.RawMessage(`{"leaf":"budget tenant=acme per day","detail":"the next call does not fit"}`)})
	step(pawl.HookDirected{Hook: "guard", Direction: "retry", Reason: "not polite", Entry: 22})
	step(pawl.Grounded{OK: true})
	return log
}
