package lessons

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// structuredKept: a document that answers is in the result and in the journal,
// with either loop.
func structuredKept(t *testing.T) {
	for _, loop := range []pawl.Loop{pawl.SingleCall{}, pawl.ReAct{}} {
		path := filepath.Join(t.TempDir(), "pawl.db")
		agent := pawl.Agent{Name: "sorter", Loop: loop, Model: says(t, pawl.Say(`{"kind":"question"}`)),
			Output: json.RawMessage(`{"type":"object","properties":{"kind":{"type":"string"}},"required":["kind"]}`)}
		res := ends(t, begin(t, engine.New(open(t, path), nil), agent), pawl.Success)
		kept := pawl.ResultOf(state(t, open(t, path)))
		if string(res.Output) != `{"kind":"question"}` || !bytes.Equal(res.Output, kept.Output) {
			t.Errorf("%s: the result has %s, the journal %s", loop.Name(), res.Output, kept.Output)
		}
	}
}

// doubleResume: of many who go on with a run at once one does; the others are
// told, and the run that goes on does not notice.
func doubleResume(t *testing.T) {
	for range 5 {
		path, count := filepath.Join(t.TempDir(), "pawl.db"), new(tally)
		agent := parked(t, count)
		first := engine.New(open(t, path), nil)
		ends(t, begin(t, first, agent), pawl.WaitingClientTool)
		submit(t, first, "c_1", "1")
		var engines []*engine.Engine
		for range 4 {
			engines = append(engines, engine.New(open(t, path), nil))
		}
		paying, pay := make(chan struct{}), make(chan struct{})
		agent.Tools[1] = does("pay", pawl.Write, func(context.Context, int) (string, error) {
			count.add("pay")
			close(paying)
			<-pay
			return "paid", nil
		})
		won := make(chan *engine.Handle, len(engines))
		var all sync.WaitGroup
		for _, e := range engines {
			all.Go(func() {
				h, err := e.Resume(t.Context(), agent, run, nil)
				if err == nil {
					won <- h
				} else if !held(err) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d of them go on with the run", len(won))
		}
		<-paying
		close(pay)
		ends(t, <-won, pawl.Success)
		if n := len(events[pawl.RunResumed](t, open(t, path))); n != 1 || count.of("pay") != 1 {
			t.Errorf("resumed %d times, paid %d times", n, count.of("pay"))
		}
	}
}

// resumeLive: a run that was never paused is refused to whoever would resume it.
func resumeLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.db")
	in, out := make(chan struct{}), make(chan struct{})
	agent := pawl.Agent{Name: "worker", Model: says(t, do("work", 1), pawl.Say("done")), Tools: []pawl.Tool{
		does("work", pawl.Write, func(context.Context, int) (string, error) { close(in); <-out; return "worked", nil }),
	}}
	h := begin(t, engine.New(open(t, path), nil), agent)
	<-in
	for range 3 {
		if _, err := engine.New(open(t, path), nil).Resume(t.Context(), agent, run, nil); !held(err) {
			t.Errorf("a live run is resumed: %v", err)
		}
	}
	close(out)
	ends(t, h, pawl.Success)
	if s := state(t, open(t, path)); s.Status() != pawl.Success || s.Epoch() != 1 {
		t.Errorf("the journal says %v, epoch %d", s.Status(), s.Epoch())
	}
}

// paired: wherever a run is cut short, and from wherever it is forked, each
// call in a request has its result. The ear hears one that has not.
func paired(t *testing.T) {
	agent := func() pawl.Agent {
		return pawl.Agent{Name: "worker", Model: says(t, pawl.Do(call("look", 1), call("put", 1), call("pay", 1), call("look", 2)), do("pay", 2), pawl.Say("done")),
			Tools: []pawl.Tool{echo("look", pawl.Read, nil), echo("put", pawl.Idempotent, nil), echo("pay", pawl.Write, nil)}}
	}
	full := disk(t)
	ends(t, begin(t, engine.New(full, nil), agent()), pawl.Success)
	n := len(log(t, full))
	forks := 0
	for seq := 1; seq < n; seq++ {
		j := cut(t, full, seq)
		e := engine.New(j, nil)
		h := resume(t, e, agent(), nil)
		res, err := h.Wait(t.Context())
		for err == nil && res.Status == pawl.WaitingDoubt {
			for _, p := range res.Pending {
				if err := e.Happened(t.Context(), run, p.Call, "test", json.RawMessage(`"it did"`)); err != nil {
					t.Fatal(err)
				}
			}
			res, err = resume(t, e, agent(), nil).Wait(t.Context())
		}
		if err != nil || res.Status != pawl.Success {
			t.Errorf("cut at %d: %v, %v", seq, res.Verdict, err)
		}
		sound(t, e, agent())
		fork, err := engine.New(full, nil).Fork(t.Context(), agent(), run, uint64(seq), nil)
		if err != nil {
			continue // something is in flight there
		}
		forks++
		ends(t, fork, pawl.Success)
	}
	if forks < 5 {
		t.Errorf("there are %d places to fork from", forks)
	}
}

// contextEnds: a run whose context ends says that it is parked, and does not
// for ever claim to be running.
func contextEnds(t *testing.T) {
	j := disk(t)
	e := engine.New(j, nil)
	in := make(chan struct{}, 2)
	agent := pawl.Agent{Name: "worker", Model: says(t, do("work", 1), pawl.Say("done")), Tools: []pawl.Tool{
		does("work", pawl.Read, func(ctx context.Context, _ int) (string, error) {
			if in <- struct{}{}; len(in) == 2 {
				return "worked", nil
			}
			<-ctx.Done()
			return "", ctx.Err()
		}),
	}}
	ctx, end := context.WithCancel(t.Context())
	h, err := e.Start(ctx, agent, "go", &engine.StartOptions{ID: run})
	if err != nil {
		t.Fatal(err)
	}
	soon(t, "it works", func() bool { return len(in) == 1 })
	end()
	if res := ends(t, h, pawl.Paused); !res.Resumable || state(t, j).Status() != pawl.Paused {
		t.Errorf("the journal says %v", state(t, j).Status())
	}
	ends(t, resume(t, e, agent, nil), pawl.Success)
}

// watchful tells once when half of the tokens are used. It remembers that in the log.
type watchful struct{ half int }

func (watchful) String() string { return "watchful" }

func (w watchful) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if _, said := s.Note("watchful", "half"); said || s.Tokens() < w.half {
		return step
	}
	if _, thinks := step.(pawl.Think); !thinks {
		return step
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: "watchful", Name: "half", Value: json.RawMessage("true")}}}
}

// saidOnce: what a policy has said it knows across pauses, and a ceiling counts
// what was used before them.
func saidOnce(t *testing.T) {
	j := disk(t)
	agent := pawl.Agent{
		Name: "asker", Limits: pawl.Limits{Tokens: 20_000}, Policies: []pawl.Policy{watchful{8000}}, Tools: []pawl.Tool{client("ask")},
		Model: scripted(t, "replies: [{calls: [{tool: ask, args: {n: \"{{turn}}\"}}], usage: {input: 4500, output: 10}}]\nrepeat: last"),
	}
	e := engine.New(j, nil)
	h := begin(t, e, agent)
	for turn := 1; ; turn++ {
		res, err := h.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if res.Status == pawl.Exhausted {
			if res.Iterations != 4 || res.Reason.Leaf != "tokens >= 20000" {
				t.Errorf("it ended after %d turns: %v", res.Iterations, res.Reason)
			}
			break
		}
		if res.Status != pawl.WaitingClientTool || turn > 9 {
			t.Fatalf("turn %d: %v", turn, res.Verdict)
		}
		submit(t, e, fmt.Sprintf("c_%d", turn), "1")
		e = engine.New(j, nil)
		h = resume(t, e, agent, nil)
	}
	if n := len(events[pawl.Noted](t, j)); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}

// reasoningKept and samplingKept: what a run has used and how it asks is the
// same on both sides of a pause.
func reasoningKept(t *testing.T) {
	j := disk(t)
	agent := pawl.Agent{Name: "asker", Tools: []pawl.Tool{client("ask")}, Model: scripted(t, `
replies:
  - {calls: [{tool: ask}], usage: {input: 1000, output: 600, reasoning: 500, cache_read: 800, cache_write: 100}}
  - {text: done, usage: {input: 1100, output: 20, reasoning: 7, cache_read: 1000}}`)}
	ends(t, begin(t, engine.New(j, nil), agent), pawl.WaitingClientTool)
	e := engine.New(j, nil)
	submit(t, e, "c_1", "1")
	ends(t, resume(t, e, agent, nil), pawl.Success)
	want := pawl.Usage{Input: 2100, Output: 620, CacheRead: 1800, CacheWrite: 100, Reasoning: 507}
	if got := state(t, j).Usage(); got != want {
		t.Errorf("used %+v, want %+v", got, want)
	}
}

func samplingKept(t *testing.T) {
	j := disk(t)
	agent := parked(t, nil)
	model := agent.Model.(*ear)
	agent.Prompt = "Be quick."
	agent.Sampling = pawl.Sampling{Temperature: 0.2, MaxTokens: 2000, ThinkingTokens: 1000, Options: map[string]json.RawMessage{"top_p": json.RawMessage("0.5")}}
	ends(t, begin(t, engine.New(j, nil), agent), pawl.WaitingClientTool)
	e := engine.New(j, nil)
	submit(t, e, "c_1", "1")
	other := agent
	other.Sampling.Temperature = 0.9
	_, err := e.Resume(t.Context(), other, run, nil)
	if parts := changed(t, err); !slices.Equal(parts, []string{"sampling"}) {
		t.Errorf("changed: %v", parts)
	}
	ends(t, resume(t, e, agent, nil), pawl.Success)
	if len(model.heard) != 3 {
		t.Fatalf("asked %d times", len(model.heard))
	}
	for i, r := range model.heard {
		if fmt.Sprint(r.Sampling) != fmt.Sprint(agent.Sampling) || r.MaxTokens != 2000 || r.System != "Be quick." {
			t.Errorf("request %d: %+v, %d, %q", i+1, r.Sampling, r.MaxTokens, r.System)
		}
	}
}

// mortal is a journal whose process dies once it is written that a run was resumed.
type mortal struct{ *sqlite.Journal }

func (m mortal) Append(ctx context.Context, b pawl.Batch) error {
	err := m.Journal.Append(ctx, b)
	if err == nil && has(b, "run.resumed") {
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	return err
}

// asking is an agent that needs an answer and then pays.
func asking(ledger string) pawl.Agent {
	return pawl.Agent{Name: "asking", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return do("ask", 1), nil
		}
		if len(r.Messages) == 3 {
			return do("pay", 1), nil
		}
		return pawl.Say(told(r)), nil
	}), Tools: []pawl.Tool{client("ask"), does("pay", pawl.Write, func(context.Context, int) (string, error) {
		f, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = fmt.Fprintln(f, "paid")
		return "paid", errors.Join(err, f.Close())
	})}}
}

// perish resumes the run in a directory and dies.
func perish(args []string) error {
	dir := args[0]
	j, err := sqlite.Open(context.Background(), filepath.Join(dir, "pawl.db"), &sqlite.Options{Normal: true})
	if err != nil {
		return err
	}
	_, err = engine.New(mortal{j}, nil).Resume(context.Background(), asking(filepath.Join(dir, "ledger")), run, nil)
	return fmt.Errorf("it lives: %w", err)
}

// deathAfterClaim: whoever has claimed a run and dies keeps it from nobody, and
// the answer that was given is not lost with him.
func deathAfterClaim(t *testing.T) {
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "pawl.db"))
	ledger := filepath.Join(dir, "ledger")
	e := engine.New(j, nil)
	ends(t, begin(t, e, asking(ledger)), pawl.WaitingClientTool)
	submit(t, e, "c_1", `"forty-two"`)
	for range 2 {
		out, err := program(t, "child", "perish", dir).CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != -1 {
			t.Fatalf("it was not killed: %v\n%s", err, out)
		}
	}
	res := ends(t, resume(t, engine.New(j, nil), asking(ledger), nil), pawl.Success)
	paid, err := os.ReadFile(ledger)
	if err != nil || string(paid) != "paid\n" || !strings.Contains(res.Answer, "forty-two") {
		t.Errorf("paid %q, %v; the model was told\n%s", paid, err, res.Answer)
	}
	if n := len(events[pawl.RunResumed](t, j)); n != 3 {
		t.Errorf("resumed %d times, want by two who died and one who did not", n)
	}
}

// lastPause: a question asked with the last turn that there is gets its answer
// to the model, which still says what it makes of it.
func lastPause(t *testing.T) {
	j := disk(t)
	agent := parked(t, nil)
	agent.Limits.Iterations = 1
	agent.Model = scripted(t, "replies: [{calls: [{tool: ask}]}]\npurposes: {landing: [{expect: forty-two, text: it is 42}]}")
	ends(t, begin(t, engine.New(j, nil), agent), pawl.WaitingClientTool)
	e := engine.New(j, nil)
	submit(t, e, "c_1", `"forty-two"`)
	res := ends(t, resume(t, e, agent, nil), pawl.Exhausted)
	if res.Answer != "it is 42" || !res.Resumable || res.Reason.Leaf != "iterations >= 1" {
		t.Errorf("%q, %v", res.Answer, res.Reason)
	}
}

// strategyKept: a reply is read after a pause as it was before.
func strategyKept(t *testing.T) {
	j := disk(t)
	ask := func(q string) pawl.Reply {
		return pawl.Say(`{"thought":"I must know","action":"__pause_for_human__","action_input":{"question":"` + q + `"}}`)
	}
	agent := pawl.Agent{Name: "asker", Strategy: pawl.JSON, Builtins: true, Model: says(t, ask("Which?"), ask("Sure?"),
		pawl.Say(`{"thought":"enough","action":"__complete__","action_input":{"answer":"this one"}}`))}
	ends(t, begin(t, engine.New(j, nil), agent), pawl.WaitingInput)
	for i, answer := range []string{"that one", "no, this one"} {
		e := engine.New(j, nil)
		if err := e.Answer(t.Context(), run, fmt.Sprintf("c_%d", i+1), "ada", answer); err != nil {
			t.Fatal(err)
		}
		other := agent
		other.Strategy = pawl.Native
		_, err := e.Resume(t.Context(), other, run, nil)
		if parts := changed(t, err); !slices.Contains(parts, "strategy") {
			t.Errorf("changed: %v", parts)
		}
		want := []pawl.Status{pawl.WaitingInput, pawl.Success}[i]
		res := ends(t, resume(t, e, agent, nil), want)
		if want == pawl.Success && res.Answer != "this one" {
			t.Errorf("the answer is %q", res.Answer)
		}
	}
}

// oneRun: of many who begin a run under one id, one does.
func oneRun(t *testing.T) {
	path, count := filepath.Join(t.TempDir(), "pawl.db"), new(tally)
	agent := pawl.Agent{Name: "payer", Model: says(t, do("pay", 1), pawl.Say("done")), Tools: []pawl.Tool{echo("pay", pawl.Write, count)}}
	var all sync.WaitGroup
	begun := new(tally)
	for range 4 {
		e := engine.New(open(t, path), nil)
		all.Go(func() {
			h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: run})
			switch {
			case err == nil:
				begun.add("begun")
				ends(t, h, pawl.Success)
			case !errors.Is(err, pawl.ErrRunExists) && !held(err):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if begun.of("begun") != 1 || count.of("pay") != 1 {
		t.Errorf("begun %d times, paid %d times", begun.of("begun"), count.of("pay"))
	}
}

// forkKeeps: a run that goes another way from a point of its log knows all that
// was said up to there.
func forkKeeps(t *testing.T) {
	j := disk(t)
	e := engine.New(j, nil)
	model := says(t, do("look", 1), do("look", 2), pawl.Say("done"))
	agent := pawl.Agent{Name: "looker", Prompt: "Look.", Model: model, Tools: []pawl.Tool{echo("look", pawl.Read, nil)}, Limits: pawl.Limits{Iterations: 2}}
	ends(t, begin(t, e, agent), pawl.Exhausted)
	before := told(model.heard[1]) // all up to the second turn
	at := uint64(0)
	for _, entry := range log(t, j) {
		if f, ok := entry.Event.(pawl.ToolFinished); ok && f.Call == "c_2" {
			at = entry.Seq
		}
	}
	h, err := e.Fork(t.Context(), agent, run, at, &engine.ForkOptions{Input: "look closer", Limits: pawl.Limits{Iterations: 5}})
	if err != nil {
		t.Fatal(err)
	}
	ends(t, h, pawl.Success)
	if got := told(model.last()); !strings.HasPrefix(got, before) || !strings.Contains(got, "result c_2: look of 2\nuser: look closer") || model.last().System != "Look." {
		t.Errorf("the fork's model was told\n%s", got)
	}
}

// wrongAgent: a mistaken resume claims nothing for good.
func wrongAgent(t *testing.T) {
	j := disk(t)
	e := engine.New(j, nil)
	agent := parked(t, nil)
	ends(t, begin(t, e, agent), pawl.WaitingClientTool)
	submit(t, e, "c_1", "1")
	n := len(log(t, j))
	_, err := engine.New(j, nil).Resume(t.Context(), pawl.Agent{Name: "other", Model: agent.Model}, run, nil)
	if parts := changed(t, err); !slices.Contains(parts, "agent") {
		t.Errorf("changed: %v", parts)
	}
	if _, err := engine.New(j, nil).Resume(t.Context(), pawl.Agent{}, run, nil); err == nil {
		t.Error("an agent without a model resumes a run")
	}
	if len(log(t, j)) != n || state(t, j).Status() != pawl.WaitingClientTool {
		t.Errorf("the journal says %v", state(t, j).Status())
	}
	ends(t, resume(t, engine.New(j, nil), agent, nil), pawl.Success)
}

// failsAfterEffect: what was paid and counted before the model failed is there
// when it is asked again.
func failsAfterEffect(t *testing.T) {
	j, count := disk(t), new(tally)
	model := func(last string) *ear {
		return scripted(t, "replies: [{calls: [{tool: ask}], usage: {input: 100, output: 10}}, {calls: [{tool: pay}], usage: {input: 200, output: 10}}, "+last+"]")
	}
	agent := pawl.Agent{Name: "payer", Tools: []pawl.Tool{client("ask"), echo("pay", pawl.Write, count)}}
	agent.Model = model("{error: {class: auth, message: the key was revoked}}")
	ends(t, begin(t, engine.New(j, nil), agent), pawl.WaitingClientTool)
	e := engine.New(j, nil)
	submit(t, e, "c_1", "1")
	res := ends(t, resume(t, e, agent, nil), pawl.Failed)
	if !res.Resumable || !strings.Contains(res.Reason.Detail, "revoked") || res.Usage.Input < 300 || count.of("pay") != 1 {
		t.Errorf("resumable %v, %v, %+v, paid %d times", res.Resumable, res.Reason, res.Usage, count.of("pay"))
	}
	agent.Model = model("{expect: pay of 0, text: done}")
	res = ends(t, resume(t, engine.New(j, nil), agent, nil), pawl.Success)
	if count.of("pay") != 1 || res.Usage.Input < 300 {
		t.Errorf("paid %d times, %+v", count.of("pay"), res.Usage)
	}
}

// nothingAfterTime: a command, and a function that heeds its context, do not
// get to what they would have done after their time.
func nothingAfterTime(t *testing.T) {
	needShell(t)
	file := filepath.Join(t.TempDir(), "done")
	agent := pawl.Agent{Name: "waiter", Model: says(t, pawl.Do(pawl.Call{Tool: "command"}), do("function", 1), pawl.Say("done")), Tools: []pawl.Tool{
		tool.Command("command", "Waits.", []string{"/bin/sh", "-c", `sleep 1; echo done >"$0"`, file}, &tool.CommandOptions{Effect: pawl.Read, Timeout: 100e6, Grace: 50e6}),
		tool.FuncWith("function", "Waits.", func(ctx context.Context, _ number) (string, error) {
			<-ctx.Done()
			return "", fmt.Errorf("not done: %w", context.Cause(ctx))
		}, pawl.Read, &tool.Options{Timeout: 1200e6}), // for as long as the command would have taken
	}}
	_, j := inMemory(t, agent, pawl.Success)
	for _, f := range events[pawl.ToolFinished](t, j) {
		if f.Status != pawl.ToolTimeout || f.Abandoned {
			t.Errorf("%s: %v, left behind %v", f.Tool, f.Status, f.Abandoned)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command went on to its end")
	}
}
