package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/workflow"
)

// answers answers each request with what follows its first line.
func answers(t *testing.T, asked *[]string, reply func(said string) string) pawl.Model {
	t.Helper()
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		said := r.Messages[0].Text()
		if asked != nil {
			*asked = append(*asked, said)
		}
		return pawl.Say(reply(said)), nil
	})
}

func TestAnswers(t *testing.T) {
	refine := workflow.Refine{ID: "r", Prompt: "Write {{input}}", Judge: "Is it good?"}
	strict := func(said string) string {
		switch {
		case strings.HasPrefix(said, "Is it good?"):
			return fmt.Sprintf(`{"accepted": %t, "feedback": "too short"}`, strings.Contains(said, "two"))
		case strings.Contains(said, "too short"):
			return "two"
		}
		return "one"
	}
	for _, c := range []struct {
		name  string
		input string
		steps []Step
		reply func(string) string
		want  string
		asked []string
	}{
		{"rank", `["a","b","c"]`, []Step{workflow.Rank{ID: "r", In: "input", Prompt: "Best first."}, look("l", "{{steps.r.output[0]}}")},
			func(string) string { return "[3, 1, 2]" }, `success: {"list":["c","c!"],"size":1,"word":"c"}`, []string{"Best first.\n\n1. a\n\n2. b\n\n3. c"}},
		{"rank in a loop", `["a","b"]`, []Step{While{ID: "w", Cond: "steps.w.rounds == null || steps.w.rounds < 2", Max: 5, Do: []Step{
			ForEach{ID: "f", In: "input", Do: []Step{say("s", "{{item}}{{steps.r.output}}")}}, workflow.Rank{ID: "r", In: "steps.f.output", Prompt: "Best first."}}}},
			func(said string) string {
				if word, ok := strings.CutPrefix(said, "say "); ok {
					return word
				}
				return "[2, 1]"
			}, `success: ["b[\"b\",\"a\"]","a[\"b\",\"a\"]"]`, nil},
		{"rank nothing", `[]`, []Step{workflow.Rank{ID: "r", In: "input", Prompt: "Best first."}}, nil, "failed: step r: in: input is empty", nil},
		{"merge", `["a","b"]`, []Step{workflow.Merge{ID: "m", In: "input", Prompt: "Make one."}}, func(string) string { return "ab" }, "success: ab", []string{"Make one.\n\n1. a\n\n2. b"}},
		{"merge documents", `["a","b"]`, []Step{workflow.Merge{ID: "m", In: "input", Prompt: "Make one.", Output: json.RawMessage(`{"type":"object"}`)}, look("l", "{{steps.m.output.x}}")},
			func(string) string { return `{"x":"y"}` }, `success: {"list":["y","y!"],"size":1,"word":"y"}`, nil},
		{"refine", "it", []Step{refine, say("s", "{{steps.r.output}} {{steps.r.rounds}} {{steps.r.accepted}}")},
			func(said string) string {
				if word, ok := strings.CutPrefix(said, "say "); ok {
					return word
				}
				return strict(said)
			}, "success: two 2 true", []string{"Write it", "Is it good?\n\none", "Write it\n\nYour last answer was:\n\none\n\nIt was not accepted:\n\ntoo short", "Is it good?\n\ntwo", "say two 2 true"}},
		{"refine in vain", "it", []Step{workflow.Refine{ID: "r", Prompt: "Write", Judge: "Is it good?", Max: 1}, say("s", "{{steps.r.output}} {{steps.r.accepted}}")},
			func(said string) string {
				if word, ok := strings.CutPrefix(said, "say "); ok {
					return word
				}
				return strict(said)
			}, "success: one false", nil},
		{"refine twice", `["a","b"]`, []Step{ForEach{ID: "f", In: "input", Width: 1, Do: []Step{workflow.Refine{ID: "r", Prompt: "Write {{item}}", Judge: "Is it good?"}}}}, strict, `success: ["two","two"]`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			w := &world{}
			agent := w.agent()
			agent.Model = answers(t, &asked, c.reply)
			agent = New(agent, c.steps...)
			e := engine.New(memory.New(), nil)
			id, r := start(t, e, agent, c.input)
			got := fmt.Sprintf("%v: %s", r.Status, r.Answer)
			if r.Status != pawl.StatusSuccess {
				got = fmt.Sprintf("%v: %s", r.Status, r.Reason.Detail)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if c.asked != nil && strings.Join(asked, "\n---\n") != strings.Join(c.asked, "\n---\n") {
				t.Errorf("asked %q\nwant  %q", asked, c.asked)
			}
			if _, err := e.Replay(t.Context(), agent, id); err != nil {
				t.Errorf("replay: %v", err)
			}
		})
	}
}

// The majority decides, and answers that can change nothing are not waited for.
func TestVote(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies []string // "wait" answers when it is cancelled
		want    string
	}{
		{"majority", []string{"a", "b", "a"}, "success: a 2"},
		{"no majority", []string{"a", "a", "b", "b"}, "success: a 2"},
		{"settled", []string{"a", "a", "wait"}, "success: a 2"},
		{"some fail", []string{"fail", "b", "fail"}, "success: b 1"},
		{"all fail", []string{"fail", "fail", "fail"}, "failed: step v: there is no answer: flow-v ended as failed: invalid: no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n atomic.Int32
			agent := pawl.Agent{Name: "flow", MaxParallel: 1}
			if c.replies[len(c.replies)-1] == "wait" {
				agent.MaxParallel = 0
			}
			agent.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
				said := r.Messages[0].Text()
				if word, ok := strings.CutPrefix(said, "say "); ok {
					return pawl.Say(word), nil
				}
				switch reply := c.replies[n.Add(1)-1]; reply {
				case "wait":
					<-ctx.Done()
					return pawl.Reply{}, ctx.Err()
				case "fail":
					return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "no"}
				default:
					return pawl.Say(reply), nil
				}
			})
			agent = New(agent, workflow.Vote{ID: "v", Prompt: "Which? {{input}}", Answers: len(c.replies)}, say("s", "{{steps.v.output}} {{steps.v.votes}}"))
			e := engine.New(memory.New(), nil)
			id, r := start(t, e, agent, "x")
			got := fmt.Sprintf("%v: %s", r.Status, r.Answer)
			if r.Status != pawl.StatusSuccess {
				got = fmt.Sprintf("%v: %s", r.Status, r.Reason.Detail)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if _, err := e.Replay(t.Context(), agent, id); err != nil {
				t.Errorf("replay: %v", err)
			}
		})
	}
}

func TestAnswersSurvive(t *testing.T) {
	log := pawltest.KillEverywhere(t, func() pawl.Agent {
		return New(pawl.Agent{Name: "flow", Model: answers(t, nil, func(said string) string {
			switch {
			case strings.HasPrefix(said, "Best"):
				return "[2, 1]"
			case strings.HasPrefix(said, "Is it good?"):
				return fmt.Sprintf(`{"accepted": %t, "feedback": "more"}`, strings.Contains(said, "more"))
			}
			return said
		})},
			workflow.Vote{ID: "v", Prompt: "{{input[0]}}", Answers: 2},
			workflow.Rank{ID: "r", In: "input", Prompt: "Best"},
			workflow.Refine{ID: "f", Prompt: "{{steps.r.output}} {{steps.v.output}}", Judge: "Is it good?"},
			workflow.Merge{ID: "m", In: "steps.r.output", Prompt: "{{steps.f.rounds}}"},
		)
	}, `["a","b"]`, nil)
	last, ok := log[len(log)-1].Event.(pawl.RunStopped)
	if !ok || last.Status != pawl.StatusSuccess || last.Answer != "2\n\n1. b\n\n2. a" {
		t.Errorf("undisturbed it ends with %+v", log[len(log)-1].Event)
	}
}

// TestVoting: the loop vote asks as often as it says, with what the agent says the answer looks like,
// wherever a process died; an agent that has tools is refused.
func TestVoting(t *testing.T) {
	build := func(answers int) pawl.Agent {
		return workflow.Voting(pawl.Agent{Name: "jury", Output: json.RawMessage(`{"enum":["ship","wait"]}`), Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) != 1 || r.Messages[0].Text() != "Ship it?" {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "a vote sees more than the question"}
			}
			return pawl.Say("wait"), nil
		})}, answers)
	}
	pawltest.KillEverywhere(t, func() pawl.Agent { return build(2) }, "Ship it?", nil) // of which neither is needless
	r, err := engine.Run(t.Context(), build(5), "Ship it?")
	if err != nil || string(r.Output) != `"wait"` || r.Usage.ModelCalls < 3 || r.Usage.ModelCalls > 5 {
		t.Errorf("%v: %q after %d calls, %v", r.Verdict, r.Output, r.Usage.ModelCalls, err)
	}
	_, err = pawl.NewMachine(workflow.Voting(pawl.Agent{Name: "jury", Model: build(1).Model, Builtins: true}, 0))
	if err == nil || !strings.Contains(err.Error(), "a vote calls no tools") {
		t.Error(err)
	}
}
