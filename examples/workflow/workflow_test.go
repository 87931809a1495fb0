// Package workflow_test holds a workflow with every kind of step to what the
// other loops stand: it is killed at every entry of its log.
package workflow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// editor answers every prompt by what it says.
var editor = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	said := r.Messages[0].Text()
	switch {
	case strings.HasPrefix(said, "Which kind"):
		return pawl.Say(`["news","sport"]`), nil
	case strings.HasPrefix(said, "Write about"):
		return pawl.Say("a piece on " + strings.TrimPrefix(said, "Write about ")), nil
	case strings.HasPrefix(said, "Grade"):
		return pawl.Say(strings.Repeat("!", 1+strings.Count(said, "!"))), nil
	}
	return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "nobody asks: " + said}
})

func paper() pawl.Agent {
	call := func(id, tool, name string) workflow.Step {
		return workflow.Step{ID: id, Tool: tool, Args: map[string]any{"name": name}}
	}
	name := func(_ context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		return in.Name, nil
	}
	tools := []pawl.Tool{
		tool.Func("put", "Puts it away.", name, pawl.Write),
		tool.Func("print", "Prints it.", name, pawl.Idempotent),
	}
	return workflow.New(pawl.Agent{Name: "paper", Model: editor, Tools: tools},
		call("open", "put", "the paper"),
		workflow.Step{ID: "kinds", Single: &workflow.Single{Prompt: "Which kinds of pieces? {{input}}", Output: []byte(`{"type":"array"}`)}},
		workflow.Step{ID: "pieces", ForEach: "steps.kinds.output", As: "kind", Width: 1, Do: []workflow.Step{
			{ID: "text", Single: &workflow.Single{Prompt: "Write about {{kind}}"}},
			call("out", "print", "{{steps.text.output}}"),
		}},
		workflow.Step{ID: "better", While: `steps.grade.output != "!!"`, Max: 5, Do: []workflow.Step{
			{ID: "grade", Single: &workflow.Single{Prompt: "Grade {{steps.pieces.output}} {{steps.grade.output}}"}},
		}},
		workflow.Step{ID: "then", Switch: "steps.grade.output", Cases: map[string][]workflow.Step{"!!": {call("fold", "put", "{{steps.better.rounds}} rounds")}}},
	)
}

func TestSurvives(t *testing.T) {
	log := pawltest.KillEverywhere(t, paper, "monday", nil)
	if last, ok := log[len(log)-1].Event.(pawl.RunStopped); !ok || last.Status != pawl.StatusSuccess || last.Answer != "2 rounds" {
		t.Errorf("undisturbed it ends with %+v", log[len(log)-1].Event)
	}
}
