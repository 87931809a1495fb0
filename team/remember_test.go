package team_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// counts is an agent that answers with what it was asked in its conversation.
func counts() pawl.Agent {
	return pawl.Agent{Name: "counts", Description: "Counts.", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		var said []string
		for _, m := range r.Messages {
			if text, ok := m.Parts[0].(pawl.Text); ok && m.Role == pawl.RoleUser {
				said = append(said, text.Text)
			}
		}
		return pawl.Say(strings.Join(said, "+")), nil
	})}
}

// TestRemember: an agent that is called again goes on with its conversation, wherever a process died;
// calls of one reply go on with the same.
func TestRemember(t *testing.T) {
	ask := func(input string) pawl.Call { return do("counts", fmt.Sprintf(`{"input":%q}`, input)) }
	build := func() pawl.Agent {
		lead := func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			switch all := results(r); len(all) {
			case 0:
				return pawl.Do(ask("a")), nil
			case 1:
				return pawl.Do(ask("b"), ask("c")), nil
			default:
				return pawl.Say(strings.Join(all, " ")), nil
			}
		}
		return pawl.Agent{Name: "lead", Model: pawl.ModelFunc(lead), Tools: []pawl.Tool{tool.Agent(counts(), &tool.AgentOptions{Remember: true})}}
	}
	pawltest.KillEverywhere(t, build, "Count.")
	if r := drive(t, memory.New(), build()); r.Answer != "a a+b a+c" {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
}

// TestContinues: a step goes on with the conversation of its own earlier rounds, or of another
// step.
func TestContinues(t *testing.T) {
	build := func() pawl.Agent {
		return workflow.New(pawl.Agent{Name: "rounds", Model: counts().Model},
			workflow.While{ID: "twice", Cond: "steps.twice.rounds != 2", Max: 2, Do: []workflow.Step{
				workflow.Run{ID: "draft", Agent: counts(), Input: "a", Continues: "draft"},
			}},
			workflow.Run{ID: "title", Agent: counts(), Input: "b", Continues: "draft"},
		)
	}
	pawltest.KillEverywhere(t, build, "Count.")
	if r := drive(t, memory.New(), build()); r.Answer != "a+a+b" {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
	for want, run := range map[string]workflow.Run{
		"nothing is no step beside this one": {ID: "x", Agent: counts(), Continues: "nothing"},
		"ask runs no agent":                  {ID: "x", Agent: counts(), Continues: "ask"},
	} {
		_, err := pawl.NewMachine(workflow.New(pawl.Agent{Name: "w", Model: counts().Model}, workflow.Single{ID: "ask", Prompt: "Ask."}, run))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
