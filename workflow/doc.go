// Package workflow runs known steps in a known order: what is a loop for want
// of knowing better costs a model call for every choice, and a workflow asks
// the model only what its steps ask.
//
//	desk := workflow.New(pawl.Agent{Name: "desk", Model: model, Tools: tools},
//		workflow.Single{ID: "kind", Prompt: "A bug or a question? {{input}}", Output: workflow.OneOf("bug", "question")},
//		workflow.Switch{ID: "route", On: "steps.kind.output", Cases: map[string][]workflow.Step{
//			"bug":      {workflow.Call{ID: "file", Tool: "create_ticket", Args: map[string]any{"title": "{{input}}"}}},
//			"question": {workflow.Single{ID: "reply", Prompt: "Answer: {{input}}"}},
//		}},
//	)
//
// It is one more loop over the same machine: its runs are durable, bounded,
// paused, resumed, forked, replayed and explained like any other, its tools
// run through the same gates, and every branch, item and agent is a child run
// with a share of the budget.
//
// # Data
//
// A step refers to what the workflow was asked and to what came of the steps
// before it: {{input}}, or {{input.x}} when that is a JSON object,
// {{steps.ID.output}}, {{steps.ID.output.member[0]}}, and within a for-each to
// its item by the name it has. Conditions are written in the language of stop
// conditions over the same names, without the braces:
// steps.review.output.score >= 8 && input.lang == "de". A reference in a text
// to what does not exist fails the step; in a condition it is null, and so is
// what came of a step that was left out.
//
// # Failing
//
// A step that fails ends the run as failed and says which it was. Resuming the
// run takes that step again, and nothing that went well before it.
package workflow
