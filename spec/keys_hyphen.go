package spec

// The keys of a Hyphen loop document, an alternative form of a spec.
var (
	hyphenKeys = &table{name: "hyphen", title: "the Hyphen document", about: "A Hyphen loop.", keys: []key{
		{name: "type", needed: true, value: oneOf("loop"), about: "kind of document", inGo: "spec.Load"},
		{name: "properties", needed: true, value: in(hyphenLoopKeys), about: "the agent", inGo: "spec.Load"},
	}}
	hyphenLoopKeys = &table{name: "hyphen_loop", title: "properties", about: "A loop whose model answers every turn with `thought`, `action` and `action_input`.", keys: []key{
		{name: "mode", value: oneOf("react"), otherwise: "react", about: "kind of loop", inGo: "pawl.Agent.Loop"},
		{name: "objective", needed: true, value: aText, about: "task, for the system prompt", inGo: "pawl.Agent.Prompt"},
		{name: "tools", value: listOf(in(hyphenToolKeys)), about: "permitted actions, in addition to the five that begin with `__`", inGo: "pawl.Agent.Tools"},
		{name: "model", value: aModel, otherwise: "`--model`, or `PAWL_MODEL`", about: "model; a bare name is looked up in the model sheet", inGo: "pawl.Agent.Model"},
		{name: "max_iterations", value: shape{says: "integer up to 10,000", schema: object{"type": "integer", "minimum": 1, "maximum": mostIterations}},
			otherwise: "20", about: "model turns", inGo: "pawl.Limits.Iterations"},
		{name: "timeout_ms", value: aCount(1), otherwise: "1800000", about: "milliseconds of running; waiting does not count", inGo: "pawl.Limits.Time"},
		{name: "temperature", value: aMeasure(false), otherwise: "the provider's", about: "randomness of replies", inGo: "pawl.Sampling.Temperature"},
		{name: "on_stuck", value: in(hyphenStuckKeys), otherwise: "3 turns, then fail", about: "response to a stuck loop", inGo: "progress.NoProgress"},
		{name: "include_reasoning_trace", value: aFlag, otherwise: "false", about: "add the reasoning trace to the result", inGo: "pawl.Agent.Trace"},
		{name: "result_key", value: aText, about: "key of the answer in the result's context", inGo: "pawl.Agent.ResultKey"},
	}}
	hyphenToolKeys = &table{name: "hyphen_tool", title: "a tool", one: "the tool", about: "An action of `--tools FILE`, or a workflow of `--workflows DIR`.", keys: []key{
		{name: "type", needed: true, value: oneOf("action", "workflow"), about: "kind of tool", inGo: "spec.Options.Tools"},
		{name: "name", value: aText, about: "the action", inGo: "spec.Options.Tools"},
		{name: "id", value: aText, about: "the workflow", inGo: "spec.Options.Workflows"},
	}, more: object{"oneOf": []any{
		object{"properties": object{"type": object{"const": "action"}, "id": false}, "required": []any{"name"}},
		object{"properties": object{"type": object{"const": "workflow"}}, "anyOf": []any{object{"required": []any{"id"}}, object{"required": []any{"name"}}}},
	}}}
	hyphenStuckKeys = &table{name: "on_stuck", title: "on_stuck", about: "Response to a stuck loop.", keys: []key{
		{name: "iterations", value: aCount(1), otherwise: "3", about: "equal consecutive turns that count as stuck; 1 counts as 2", inGo: "progress.NoProgress"},
		{name: "action", value: oneOf("fail", "escalate", "retry_with_hint"), otherwise: "fail", about: "end the run, ask a person, or give the model one hint", inGo: "progress.Then"},
		{name: "hint", value: aText, otherwise: "what the pattern suggests", about: "text of the hint", inGo: "progress.NoProgress"},
	}}
)
