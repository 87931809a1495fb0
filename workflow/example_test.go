package workflow_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// A request is classified by one model call and routed by what that says; the
// ticket is filed without another.
func Example() {
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if strings.Contains(r.Messages[0].Text(), "crashes") {
			return pawl.Say("bug"), nil
		}
		return pawl.Say("question"), nil
	})
	type ticket struct {
		Title string `json:"title"`
	}
	file := tool.Func("create_ticket", "File a ticket.", func(_ context.Context, t ticket) (string, error) {
		return "T-1: " + t.Title, nil
	}, pawl.Idempotent)

	desk := workflow.New(pawl.Agent{Name: "desk", Model: model, Tools: []pawl.Tool{file}},
		workflow.Step{ID: "kind", Single: &workflow.Single{Prompt: "A bug or a question? {{input}}", Output: workflow.OneOf("bug", "question")}},
		workflow.Step{ID: "route", Switch: "steps.kind.output", Cases: map[string][]workflow.Step{
			"bug":      {{ID: "file", Tool: "create_ticket", Args: map[string]any{"title": "{{input}}"}}},
			"question": {{ID: "reply", Single: &workflow.Single{Prompt: "Answer: {{input}}"}}},
		}},
	)
	result, err := engine.Run(context.Background(), desk, "The export button crashes.")
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer)
	fmt.Println(result.Usage.ModelCalls, "model call")
	// Output:
	// success: done <nil>
	// T-1: The export button crashes.
	// 1 model call
}
