package spec

// The keys of a Hyphen loop document, an alternative form of a spec.
var (
	hyphenKeys = &table{name: "hyphen", title: "the Hyphen document", about: "A loop as Hyphen declares it.", keys: []key{
		{name: "type", needed: true, value: oneOf("loop"), about: "what makes it one", inGo: "spec.Load"},
		{name: "properties", needed: true, value: in(hyphenLoopKeys), about: "the agent", inGo: "spec.Load"},
	}}
	hyphenLoopKeys = &table{name: "hyphen_loop", title: "properties", about: "A ReAct loop whose model answers every turn with thought, action and action_input.", keys: []key{
		{name: "mode", value: oneOf("react"), otherwise: "react", about: "the kind of loop", inGo: "pawl.Agent.Loop"},
		{name: "objective", needed: true, value: aText, about: "what is to be done; it stands in the system prompt", inGo: "pawl.Agent.Prompt"},
		{name: "tools", value: listOf(in(hyphenToolKeys)), about: "the actions that are allowed, besides those that are always there", inGo: "pawl.Agent.Tools"},
		{name: "model", value: aModel, otherwise: "`--model`, or `PAWL_MODEL`", about: "the model; a bare name is looked up in the model sheet", inGo: "pawl.Agent.Model"},
		{name: "max_iterations", value: shape{says: "whole number up to 10,000", schema: object{"type": "integer", "minimum": 1, "maximum": mostIterations}},
			otherwise: "20", about: "model turns", inGo: "pawl.Limits.Iterations"},
		{name: "timeout_ms", value: aCount(1), otherwise: "1800000", about: "milliseconds while running, not while waiting", inGo: "pawl.Limits.Time"},
		{name: "temperature", value: aMeasure(false), otherwise: "the provider's", about: "how much chance there is in replies", inGo: "pawl.Sampling.Temperature"},
		{name: "on_stuck", value: in(hyphenStuckKeys), otherwise: "3 turns, then fail", about: "what being stuck is, and what is done about it", inGo: "progress.NoProgress"},
		{name: "include_reasoning_trace", value: aFlag, otherwise: "false", about: "show the reasoning trace with the result", inGo: "pawl.Agent.Trace"},
		{name: "result_key", value: aText, about: "what the result's context knows the answer by", inGo: "pawl.Agent.ResultKey"},
	}}
	hyphenToolKeys = &table{name: "hyphen_tool", title: "a tool", one: "the tool", about: "A tool by its name: an action of `--tools FILE`, or a workflow of `--workflows DIR`.", keys: []key{
		{name: "type", needed: true, value: oneOf("action", "workflow"), about: "where it is looked up", inGo: "spec.Options.Tools"},
		{name: "name", value: aText, about: "the action", inGo: "spec.Options.Tools"},
		{name: "id", value: aText, about: "the workflow", inGo: "spec.Options.Workflows"},
	}, more: object{"oneOf": []any{
		object{"properties": object{"type": object{"const": "action"}, "id": false}, "required": []any{"name"}},
		object{"properties": object{"type": object{"const": "workflow"}}, "anyOf": []any{object{"required": []any{"id"}}, object{"required": []any{"name"}}}},
	}}}
	hyphenStuckKeys = &table{name: "on_stuck", title: "on_stuck", about: "When the loop goes round in circles.", keys: []key{
		{name: "iterations", value: aCount(1), otherwise: "3", about: "how many equal turns in a row are too many; 1 counts as 2", inGo: "progress.NoProgress"},
		{name: "action", value: oneOf("fail", "escalate", "retry_with_hint"), otherwise: "fail", about: "end the run, ask a person, or tell the model once", inGo: "progress.Then"},
		{name: "hint", value: aText, otherwise: "what the pattern suggests", about: "what the model is told under retry_with_hint", inGo: "progress.NoProgress"},
	}}
)
