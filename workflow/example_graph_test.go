package workflow_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/workflow"
)

// A draft goes to two reviewers at once, and back to the writer until both find it good,
// three times at most.
func ExampleGraph() {
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		switch asked := r.Messages[0].Text(); {
		case asked == "Write: sun []":
			return pawl.Say("son"), nil
		case strings.HasPrefix(asked, "Write"):
			return pawl.Say("sun"), nil
		case strings.Contains(asked, "spelt") && strings.HasSuffix(asked, "son"):
			return pawl.Say("bad"), nil
		}
		return pawl.Say("good"), nil
	})
	verdict := workflow.OneOf("good", "bad")
	notice := workflow.Graph(pawl.Agent{Name: "notice", Model: model, Limits: pawl.Limits{Rounds: 3}},
		[]workflow.Step{
			{ID: "draft", Single: &workflow.Single{Prompt: "Write: {{input}} {{joined}}"}},
			{ID: "spelling", Single: &workflow.Single{Prompt: "Is it spelt right? {{steps.draft.output}}", Output: verdict}},
			{ID: "style", Single: &workflow.Single{Prompt: "Is the style good? {{steps.draft.output}}", Output: verdict}},
			{ID: "done", Single: &workflow.Single{Prompt: "Is it good? {{joined}}"}},
		},
		workflow.Edge{To: "draft", Join: workflow.JoinAny},
		workflow.Edge{From: "draft", To: "spelling"},
		workflow.Edge{From: "draft", To: "style"},
		workflow.Edge{From: "spelling", To: "draft", Join: workflow.JoinAny, If: `steps.spelling.output == "bad"`},
		workflow.Edge{From: "style", To: "draft", Join: workflow.JoinAny, If: `steps.style.output == "bad"`},
		workflow.Edge{From: "spelling", To: "done", Join: 2, If: `steps.spelling.output == "good"`},
		workflow.Edge{From: "style", To: "done", Join: 2, If: `steps.style.output == "good"`},
	)
	result, err := engine.Run(context.Background(), notice, "sun")
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer, "after", result.Usage.ModelCalls, "model calls")
	// Output:
	// success: done <nil>
	// good after 7 model calls
}
