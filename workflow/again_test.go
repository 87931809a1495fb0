package workflow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/workflow"
)

// A step that refers to itself is told the same of the round before however
// often the model, or its reply, fails.
func TestAskedAgain(t *testing.T) {
	rounds := func(s Step) Step {
		return Step{ID: "w", While: "true", Max: 2, Do: []Step{s, look("l", "{{steps.a.output}}")}}
	}
	for _, c := range []struct {
		name  string
		step  Step
		model func(n int, asked string) (pawl.Reply, error)
	}{
		{"the model fails", Step{ID: "a", Single: &Single{Prompt: "say [{{steps.a.output}}] after {{steps.w.output.word}} in {{steps.w.rounds}}"}}, func(n int, _ string) (pawl.Reply, error) {
			if n == 1 {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassOverloaded, Message: "come back"}
			}
			return pawl.Say("one"), nil
		}},
		{"the model fails for good", Step{ID: "a", Single: &Single{Prompt: "say [{{steps.a.output}}] after {{steps.w.output.word}} in {{steps.w.rounds}}"}}, func(n int, _ string) (pawl.Reply, error) {
			if n == 1 {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no such key"}
			}
			return pawl.Say("one"), nil
		}},
		{"the reply does not do", Step{ID: "a", Single: &Single{Prompt: "say [{{steps.a.output}}] after {{steps.w.output.word}} in {{steps.w.rounds}}", Output: OneOf("one")}}, func(n int, _ string) (pawl.Reply, error) {
			if n == 1 {
				return pawl.Say("two"), nil
			}
			return pawl.Say("one"), nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			w := &world{}
			agent := w.agent()
			agent.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				asked = append(asked, r.Messages[0].Text())
				return c.model(len(asked)-1, asked[len(asked)-1])
			})
			e := engine.New(memory.New(), nil)
			agent = New(agent, rounds(c.step))
			id, r := start(t, e, agent, "x")
			if r.Status == pawl.StatusFailed {
				r = resume(t, e, agent, id, nil)
			}
			if r.Status != pawl.StatusSuccess {
				t.Fatal(r.Verdict, r.Reason.Detail)
			}
			const first, second = "say [] after  in ", "say [one] after one in 1"
			if diff := cmp.Diff([]string{first, second, second}, asked); diff != "" {
				t.Error(diff)
			}
			if _, err := e.Replay(t.Context(), agent, id); err != nil {
				t.Error(err)
			}
		})
	}
}

// What failed in a later round is taken again with what it was told at first.
func TestResumeLaterRound(t *testing.T) {
	w := &world{fail: map[string]int{"zz": 1}}
	e := engine.New(memory.New(), nil)
	agent := New(w.agent(), Step{ID: "w", While: "true", Max: 3, Do: []Step{look("l", "{{steps.l.output.word}}z")}})
	id, r := start(t, e, agent, "x")
	if r.Status != pawl.StatusFailed {
		t.Fatal(r.Verdict)
	}
	r = resume(t, e, agent, id, nil)
	if got := strings.Join(w.calls, "; "); r.Status != pawl.StatusSuccess || got != "look z; look zz; look zz; look zzz" {
		t.Errorf("%v after %s", r.Verdict, got)
	}
}

// Items that failed and were lived with stay what they are when a step after
// them fails and is taken again.
func TestResumeBehindItems(t *testing.T) {
	w := &world{fail: map[string]int{"bad": 9}}
	agent, down := w.agent(), true
	agent.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if down {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no such key"}
		}
		return pawl.Say(strings.TrimPrefix(r.Messages[0].Text(), "say ")), nil
	})
	agent = New(agent, Step{ID: "f", ForEach: "input", OnError: "continue", Do: []Step{look("l", "{{item}}")}},
		Step{ID: "s", Single: &Single{Prompt: "say {{steps.f.output[2].word}} {{steps.f.errors[1]}}"}})
	e := engine.New(memory.New(), nil)
	id, r := start(t, e, agent, `["a","bad","c"]`)
	if r.Status != pawl.StatusFailed {
		t.Fatal(r.Verdict)
	}
	down = false
	if r = resume(t, e, agent, id, nil); r.Status != pawl.StatusSuccess || r.Answer != "c flow-f ended as failed: step l: no such word: bad" || len(w.calls) != 3 {
		t.Errorf("%v %q (%s) after %s", r.Verdict, r.Answer, r.Reason.Detail, w.calls)
	}
}

// again has calls that failed made again.
type again struct{}

func (again) Name() string { return "again" }

func (again) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	done, ok := e.Event.(pawl.ToolFinished)
	return engine.Direction{Retry: ok && done.Status != pawl.ToolOK, Reason: "once more"}
}

// A call of a step that a hook wants made again stays a step's: it is no turn,
// and no failing one.
func TestHookRetry(t *testing.T) {
	for bad, want := range map[int]string{2: "success done 3", 9: `failed step("a") 3`} {
		w := &world{fail: map[string]int{"bad": bad}}
		agent := w.agent()
		agent.Limits.ToolErrors = 1
		agent = New(agent, look("a", "bad"))
		e := engine.New(memory.New(), &engine.Options{Hooks: []engine.Hook{again{}}})
		id, r := start(t, e, agent, "x")
		if got := fmt.Sprint(r.Status, " ", r.Reason.Leaf, " ", len(w.calls)); got != want {
			t.Errorf("%d failures: got %s (%s), want %s", bad, got, r.Reason.Detail, want)
		}
		if _, err := e.Replay(t.Context(), agent, id); err != nil {
			t.Error(err)
		}
	}
}

// Items that nothing is left for are none that failed: the run ends at its
// ceiling, and they are taken once it is raised.
func TestNothingLeftForItems(t *testing.T) {
	w := &world{}
	agent := New(w.agent(), look("a", "a"), Step{ID: "f", ForEach: "input", OnError: "continue", Do: []Step{{ID: "s", Single: &Single{Prompt: "say {{item}}"}}}})
	agent.Limits.Tokens = 400
	e := engine.New(memory.New(), nil)
	id, r := start(t, e, agent, `["b","c","d","e","f"]`)
	if r.Status != pawl.StatusExhausted || r.Reason.Leaf != "tokens >= 400" || len(w.asked) != 0 {
		t.Fatalf("%v (%s) after %q", r.Verdict, r.Reason.Detail, w.asked)
	}
	if r = resume(t, e, agent, id, nil); r.Status != pawl.StatusExhausted {
		t.Fatalf("under the same ceiling: %v", r.Verdict)
	}
	r = resume(t, e, agent, id, &engine.ResumeOptions{Limits: pawl.Limits{Tokens: 400_000}})
	if r.Status != pawl.StatusSuccess || r.Answer != `["b","c","d","e","f"]` || len(w.calls) != 1 {
		t.Errorf("%v %s (%s) after %s", r.Verdict, r.Answer, r.Reason.Detail, w.calls)
	}
}

// closes closes an engine when a child run has failed, or was not needed.
type closes struct{ e *engine.Engine }

func (*closes) Name() string { return "closes" }

func (c *closes) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	if stop, ok := e.Event.(pawl.RunStopped); ok && s.Parent() != "" && stop.Status != pawl.StatusSuccess {
		time.Sleep(time.Second) // until those beside it are over
		go func() { _ = c.e.Close() }()
		time.Sleep(time.Second) // until Close waits for the run
	}
	return engine.Direction{}
}

// A run that was only paused repeats none of its steps, also none that failed or was not needed.
func TestPausedRepeatsNothing(t *testing.T) {
	done := say("s", "done")
	for _, c := range []struct {
		name string
		make func(pawl.Agent) pawl.Agent
		want string
	}{
		{"items", func(a pawl.Agent) pawl.Agent {
			return New(a, Step{ID: "f", ForEach: "input", OnError: "continue", Do: []Step{look("l", "{{item}}")}}, done)
		}, "success after a, bad"},
		{"branches", func(a pawl.Agent) pawl.Agent {
			return New(a, Step{ID: "p", Parallel: [][]Step{{look("l", "a")}, {look("m", "bad")}}}, done)
		}, "failed after a, bad"},
		{"a race", func(a pawl.Agent) pawl.Agent {
			return workflow.Graph(a, []Step{look("a", "a"), look("b", "b"), {ID: "l", Tool: "look", If: "true", Args: map[string]any{"word": "bad"}}, done},
				workflow.Edge{From: "a", To: "b"}, workflow.Edge{From: "b", To: "s", Join: workflow.First}, workflow.Edge{From: "l", To: "s", Join: workflow.First})
		}, "success after a, b, bad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{fail: map[string]int{"bad": 1}}
				agent, asked := w.agent(), 0
				agent.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
					if r.Messages[0].Text() != "vote" {
						return pawl.Say("done"), nil
					}
					w.mu.Lock()
					asked++
					w.calls = append(w.calls, fmt.Sprint("look ", asked))
					last := asked == 3
					w.mu.Unlock()
					if last {
						<-ctx.Done()
						return pawl.Reply{}, ctx.Err()
					}
					time.Sleep(time.Millisecond) // until all three are asked
					return pawl.Say("yes"), nil
				})
				agent = c.make(agent)
				j, hook := memory.New(), &closes{}
				hook.e = engine.New(j, &engine.Options{Hooks: []engine.Hook{hook}})
				id, r := start(t, hook.e, agent, `["a","bad"]`)
				if r.Status != pawl.StatusPaused {
					t.Fatal(r.Status, r.Reason.Detail)
				}
				r = resume(t, engine.New(j, nil), agent, id, nil)
				if got := fmt.Sprintf("%v after %s", r.Status, strings.ReplaceAll(strings.ReplaceAll(sorted(w.calls), "look ", ""), ";", ",")); got != c.want {
					t.Errorf("%s (%s), want %s", got, r.Reason.Detail, c.want)
				}
			})
		})
	}
}
