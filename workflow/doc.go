// Package workflow runs known steps in a known order, as a list ([New]) or as a graph
// ([Graph]). A ReAct loop spends a model call on every choice; a workflow calls the
// model only in the steps that say so.
//
//	desk := workflow.New(pawl.Agent{Name: "desk", Model: model, Tools: tools},
//		workflow.Step{ID: "kind", Single: &workflow.Single{Prompt: "A bug or a question? {{input}}", Output: workflow.OneOf("bug", "question")}},
//		workflow.Step{ID: "route", Switch: "steps.kind.output", Cases: map[string][]workflow.Step{
//			"bug":      {{ID: "file", Tool: "create_ticket", Args: map[string]any{"title": "{{input}}"}}},
//			"question": {{ID: "reply", Single: &workflow.Single{Prompt: "Answer: {{input}}"}}},
//		}},
//	)
//
// A workflow is a [pawl.Loop], so its runs are durable and bounded, and can be
// suspended, resumed, forked, replayed and explained like any other. Its tools need
// the same approvals. Every branch, item and agent is a child run with a share of
// the limits.
//
// # Data
//
// A step refers to the workflow's input and to the outputs of earlier steps:
// {{input}}, or {{input.x}} if that is a JSON object, {{steps.ID.output}},
// {{steps.ID.output.member[0]}}, and within a for-each to its item by name.
// Conditions use the language of stop conditions and the same names without
// braces: steps.review.output.score >= 8 && input.lang == "de". In a text, a
// reference to a missing value fails the step; in a condition it is null. The
// output of a skipped step is null.
//
// # Failures
//
// A step that fails ends the run as failed with the step's id. Resuming the run
// repeats that step, but none that succeeded before it.
package workflow
