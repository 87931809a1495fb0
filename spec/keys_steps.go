package spec

// stepTables are the kinds of steps, distinguished by the key that names their
// action.
var stepTables = []*table{singleStepKeys, toolStepKeys, agentStepKeys, workflowStepKeys, switchStepKeys, parallelStepKeys, eachStepKeys, whileStepKeys}

// stepKinds are those keys, in the order of the tables.
var stepKinds = []string{"single", "tool", "agent", "workflow", "switch", "parallel", "for_each", "while"}

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
			"[parallel](#parallel-step), [for_each](#for_each-step) or [while](#while-step)",
		schema: stepSchema, tables: append(stepTables[:len(stepTables):len(stepTables)], singleKeys),
	}
	// nodeMap is the shape of the nodes of a graph.
	nodeMap = shape{says: "mapping of ids to [steps](#single-step), without their `id`",
		schema: object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "object", "minProperties": 1}}, tables: append(stepTables[:len(stepTables):len(stepTables)], singleKeys)}
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
}}
