package spec

// stepTables are the kinds of steps, distinguished by the key that names their
// action.
var stepTables = []*table{singleStepKeys, toolStepKeys, agentStepKeys, workflowStepKeys, switchStepKeys, parallelStepKeys, eachStepKeys, whileStepKeys,
	voteStepKeys, rankStepKeys, mergeStepKeys, refineStepKeys, finalStepKeys}

// stepKinds are those keys, in the order of the tables.
var stepKinds = []string{"single", "tool", "agent", "workflow", "switch", "parallel", "for_each", "while", "vote", "rank", "merge", "refine", "final"}

// askingKinds are those whose keys stand in a mapping of their own.
var askingKinds = []string{"single", "vote", "rank", "merge", "refine"}

// stepSchema refers to the tables by name, because steps are nested.
var stepSchema, caseSchema = listOfSteps(1), listOfSteps(0)

func listOfSteps(least int) object {
	var kinds []any
	for _, kind := range stepKinds {
		kinds = append(kinds, object{"$ref": "#/$defs/" + kind + "-step"})
	}
	return object{"type": "array", "minItems": least, "items": object{"anyOf": kinds}}
}

var (
	// stepList is the shape of steps, innerSteps that of do.
	stepList = shape{
		says: "list of steps: [single](#single-step), [tool](#tool-step), [agent](#agent-step), [workflow](#workflow-step), [switch](#switch-step), " +
			"[parallel](#parallel-step), [for_each](#for_each-step), [while](#while-step), [vote](#vote-step), [rank](#rank-step), [merge](#merge-step), [refine](#refine-step) or [final](#final-step)",
		schema: stepSchema, tables: append(stepTables[:len(stepTables):len(stepTables)], singleKeys, voteKeys, rankKeys, mergeKeys, refineKeys),
	}
	// nodeMap is the shape of the nodes of a graph.
	nodeMap = shape{says: "mapping of ids to [steps](#single-step), without their `id`",
		schema: object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "object", "minProperties": 1}}, tables: append(stepTables[:len(stepTables):len(stepTables)], singleKeys, voteKeys, rankKeys, mergeKeys, refineKeys)}
	innerSteps = shape{says: "list of steps", schema: stepSchema}
	anExpr     = shape{says: "expression over `input`, `steps` and items", schema: object{"type": []any{"string", "boolean"}}}
	aTemplate  = shape{says: "text with `{{…}}`", schema: object{"type": "string", "pattern": `\S`}}
)

// stepTable returns the table of a kind of step, which is a type in Go.
func stepTable(kind, about, inGo string, keys ...key) *table {
	return &table{name: kind + "-step", title: "step", one: "the step", named: "id", about: about, keys: append([]key{
		{name: "id", needed: true, value: shape{says: "up to 40 letters, digits, _ and -", schema: object{"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,40}$"}},
			about: "what it is called in the log, and by the steps after it, as in `{{steps.ID.output}}`", inGo: inGo + ".ID"},
		{name: "if", value: anExpr, otherwise: "always", about: "leave the step out unless this holds", inGo: inGo + ".If"},
		{name: "suspend", value: oneOf("before", "after"), otherwise: "not at all",
			about: "wait for a person, who approves, denies or edits what the step runs with or what it has come to", inGo: inGo + ".Suspend"},
		{name: "weight", value: aCount(1), otherwise: "1",
			about: "how many of the equal shares the step gets, into which what is left of the limits [is divided](workflow.md#budgets-and-children) among the branches or nodes that run at once", inGo: inGo + ".Weight"},
	}, keys...)}
}

var singleStepKeys = stepTable("single", "One call of the model, without tools.", "workflow.Single",
	append([]key{{name: "single", needed: true, value: in(singleKeys), about: "what it is asked", inGo: "workflow.Single"}}, linkKeys("workflow.Single")...)...)

// linkKeys say whose conversation a step goes on with.
func linkKeys(inGo string) []key {
	return []key{
		{name: "continues", value: anyText, otherwise: "it begins one", about: "a step that runs an agent or asks the model, such as this one in a loop: this step [goes on with the conversation](workflow.md#conversations) of its latest run", inGo: inGo + ".Continues"},
		{name: "carry", value: carryWord, otherwise: "all", about: "what it sees of that conversation: all, what that step was asked last with what it answered, or only what it was asked", inGo: inGo + ".Carry"},
	}
}

var singleKeys = &table{name: "single", title: "single", about: "What the model is asked.", keys: []key{
	{name: "prompt", needed: true, value: aTemplate, about: "what it is shown, after the spec's prompt", inGo: "workflow.Single.Prompt"},
	{name: "output", value: aSchema, otherwise: "text", about: "what the reply must look like; it is asked for again until it does", inGo: "workflow.Single.Output"},
}}

var toolStepKeys = stepTable("tool", "One call of a tool.", "workflow.Call",
	key{name: "tool", needed: true, value: anyText, about: "one of the spec's tools", inGo: "workflow.Call.Tool"},
	key{name: "args", value: shape{says: "mapping, with `{{…}}` in its texts", schema: object{"type": "object"}}, otherwise: "none",
		about: "its arguments; a text that is only one `{{…}}` is the value itself", inGo: "workflow.Call.Args"})

var anInput = either(aTemplate, shape{says: "mapping, with `{{…}}` in its texts", schema: object{"type": []any{"object", "array"}}})

var agentStepKeys = stepTable("agent", "Another agent, as a child run.", "workflow.Run",
	append([]key{
		{name: "agent", needed: true, value: anyText, about: "its spec, relative to this one. One that names no model has this workflow's", inGo: "workflow.Run.Agent"},
		{name: "input", value: anInput, otherwise: "what the workflow was asked", about: "what it is asked", inGo: "workflow.Run.Input"},
	}, linkKeys("workflow.Run")...)...)

var workflowStepKeys = stepTable("workflow", "Another workflow, as a child run.", "workflow.Run",
	key{name: "workflow", needed: true, value: anyText, about: "its spec, relative to this one", inGo: "workflow.Run.Agent"},
	key{name: "input", value: anInput, otherwise: "what the workflow was asked", about: "what it is asked", inGo: "workflow.Run.Input"})

var finalStepKeys = &table{name: "final-step", title: "step", one: "the step", named: "id", about: "The last of a workflow's steps or of a graph's nodes, for its end at a limit.", keys: []key{
	{name: "id", needed: true, value: anyText, about: "what it is called", inGo: "workflow.Final.ID"},
	{name: "final", needed: true, value: shape{says: "text", schema: object{"type": "string", "pattern": `\S`}},
		about: "at a limit, what the model is asked for in one call: an answer [from the steps that are finished](workflow.md#budgets-and-children)", inGo: "workflow.Final.Prompt"},
}}

var switchStepKeys = stepTable("switch", "One of several ways to go on.", "workflow.Switch",
	key{name: "switch", needed: true, value: anExpr, about: "what names the case", inGo: "workflow.Switch.On"},
	key{name: "cases", needed: true, value: shape{says: "mapping to lists of steps", schema: object{"type": "object", "minProperties": 1, "additionalProperties": caseSchema}},
		about: "what to do in each case", inGo: "workflow.Switch.Cases"},
	key{name: "default", value: shape{says: "list of steps", schema: caseSchema}, otherwise: "the run fails", about: "what to do in any other", inGo: "workflow.Switch.Default"})

var parallelStepKeys = stepTable("parallel", "Several branches at once, each a child run. Its output is the list of theirs.", "workflow.Parallel",
	key{name: "parallel", needed: true, value: shape{says: "list of lists of steps", schema: object{"type": "array", "minItems": 1, "items": stepSchema}},
		about: "the branches", inGo: "workflow.Parallel.Branches"})

var eachStepKeys = stepTable("for_each", "The same steps for every item of a list, each a child run. Its output is the list of theirs.", "workflow.ForEach",
	key{name: "for_each", needed: true, value: anExpr, about: "the list", inGo: "workflow.ForEach.In"},
	key{name: "as", value: anyText, otherwise: "item", about: "what the steps call their item", inGo: "workflow.ForEach.As"},
	key{name: "width", value: aCount(1), otherwise: "4", about: "how many at once", inGo: "workflow.ForEach.Width"},
	key{name: "on_error", value: oneOf("stop", "continue"), otherwise: "stop", about: "fail when an item does, or go on with the others", inGo: "workflow.ForEach.Continue"},
	key{name: "do", needed: true, value: innerSteps, about: "the steps", inGo: "workflow.ForEach.Do"})

var whileStepKeys = stepTable("while", "Steps again and again. Its output is that of the last step.", "workflow.While",
	key{name: "while", needed: true, value: anExpr, about: "go on as long as this holds", inGo: "workflow.While.Cond"},
	key{name: "max", needed: true, value: aCount(1), about: "how often at most", inGo: "workflow.While.Max"},
	key{name: "do", needed: true, value: innerSteps, about: "the steps", inGo: "workflow.While.Do"})

var edgeKeys = &table{name: "edge", title: "edge", one: "the edge", about: "An edge of a graph.", keys: []key{
	{name: "from", value: anyText, otherwise: "the beginning of the run", about: "the node that it leads from", inGo: "workflow.Edge.From"},
	{name: "to", needed: true, value: anyText, about: "the node that it leads to", inGo: "workflow.Edge.To"},
	{name: "if", value: anExpr, otherwise: "always", about: "take the edge only if this holds when the node before is over", inGo: "workflow.Edge.If"},
	{name: "join", value: either(oneOf("all", "any", "first"), aCount(1)), otherwise: "all",
		about: "how many edges into the node must be taken: all that still can be, any, or so many, and then the others are cancelled (`first` is 1). The same on every edge into a node", inGo: "workflow.Edge.Join"},
	{name: "reduce", value: oneOf("list", "merge", "sum", "last"), otherwise: "list",
		about: "what `{{joined}}` is in the node: a list of the outputs that the edges bring, one object of all, their sum, or the output of the node that ran last. The same on every edge into a node", inGo: "workflow.Edge.Reduce"},
}}

var voteStepKeys = stepTable("vote", "Several answers to the same question, each in a child run. Its output is the answer that most gave.", "workflow.Vote",
	key{name: "vote", needed: true, value: in(voteKeys), about: "what is asked", inGo: "workflow.Vote"})

var voteKeys = &table{name: "vote", title: "vote", about: "What is asked, and how often.", keys: []key{
	{name: "prompt", needed: true, value: aTemplate, about: "what the model is shown, after the spec's prompt", inGo: "workflow.Vote.Prompt"},
	{name: "output", value: aSchema, otherwise: "text, of which only equal ones agree", about: "what each reply must look like", inGo: "workflow.Vote.Output"},
	{name: "answers", value: aCount(1), otherwise: "3", about: "how many are asked for; those that can no longer change the outcome are cancelled", inGo: "workflow.Vote.Answers"},
}}

var rankStepKeys = stepTable("rank", "The model orders a list. Its output is the list, best first.", "workflow.Rank",
	key{name: "rank", needed: true, value: in(rankKeys), about: "what is ordered, and how", inGo: "workflow.Rank"})

var rankKeys = &table{name: "rank", title: "rank", about: "What is ordered, and how.", keys: []key{
	{name: "in", needed: true, value: anExpr, about: "the list", inGo: "workflow.Rank.In"},
	{name: "prompt", needed: true, value: aTemplate, about: "by what to order; the items follow it", inGo: "workflow.Rank.Prompt"},
}}

var mergeStepKeys = stepTable("merge", "The model makes one of several.", "workflow.Merge",
	key{name: "merge", needed: true, value: in(mergeKeys), about: "what is merged, and how", inGo: "workflow.Merge"})

var mergeKeys = &table{name: "merge", title: "merge", about: "What is merged, and how.", keys: []key{
	{name: "in", needed: true, value: anExpr, about: "the list", inGo: "workflow.Merge.In"},
	{name: "prompt", needed: true, value: aTemplate, about: "what to make of the items, which follow it", inGo: "workflow.Merge.Prompt"},
	{name: "output", value: aSchema, otherwise: "text", about: "what the reply must look like", inGo: "workflow.Merge.Output"},
}}

var refineStepKeys = stepTable("refine", "The model answers, judges the answer and answers again until it is accepted. Its output is the latest answer.", "workflow.Refine",
	key{name: "refine", needed: true, value: in(refineKeys), about: "what is asked and judged", inGo: "workflow.Refine"})

var refineKeys = &table{name: "refine", title: "refine", about: "What is asked and judged.", keys: []key{
	{name: "prompt", needed: true, value: aTemplate, about: "what the model is asked; from the second round on, its last answer and what was wrong with it follow", inGo: "workflow.Refine.Prompt"},
	{name: "output", value: aSchema, otherwise: "text", about: "what the answer must look like", inGo: "workflow.Refine.Output"},
	{name: "judge", needed: true, value: aTemplate, about: "what a good answer is; the answer follows it", inGo: "workflow.Refine.Judge"},
	{name: "max", value: aCount(1), otherwise: "3", about: "how many rounds at most", inGo: "workflow.Refine.Max"},
}}
