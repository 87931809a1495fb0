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
	anExpr     = shape{says: "[expression](workflow.md#data)", schema: object{"type": []any{"string", "boolean"}}}
	aTemplate  = shape{says: "text with `{{…}}`", schema: object{"type": "string", "pattern": `\S`}}
)

// stepTable returns the table of a kind of step, which is a type in Go.
func stepTable(kind, about, inGo string, keys ...key) *table {
	return &table{name: kind + "-step", title: "step", one: "the step", named: "id", about: about, keys: append([]key{
		{name: "id", needed: true, value: shape{says: "up to 40 letters, digits, _ and -", schema: object{"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,40}$"}},
			about: "name in the log and in later steps, as in `{{steps.ID.output}}`", inGo: inGo + ".ID"},
		{name: "if", value: anExpr, otherwise: "always", about: "the step is skipped unless this holds", inGo: inGo + ".If"},
		{name: "suspend", value: oneOf("before", "after"), about: "a person approves, denies or [edits](workflow.md#suspending) the step's input or output", inGo: inGo + ".Suspend"},
		{name: "weight", value: aCount(1), otherwise: "1",
			about: "shares of the step, when branches or nodes that run at once [divide](workflow.md#budgets-and-children) the rest of the limits", inGo: inGo + ".Weight"},
	}, keys...)}
}

var singleStepKeys = stepTable("single", "A request to the model, without tools.", "workflow.Single",
	append([]key{{name: "single", needed: true, value: in(singleKeys), about: "the request", inGo: "workflow.Single"}}, linkKeys("workflow.Single")...)...)

// linkKeys say whose conversation a step goes on with.
func linkKeys(inGo string) []key {
	return []key{
		{name: "continues", value: anyText, about: "a step whose latest [conversation](workflow.md#conversations) this step continues", inGo: inGo + ".Continues"},
		{name: "carry", value: carryWord, otherwise: "all", about: "this step sees that whole conversation, its last request and answer, or only its last request", inGo: inGo + ".Carry"},
	}
}

var singleKeys = &table{name: "single", title: "single", about: "A request to the model.", keys: []key{
	{name: "prompt", needed: true, value: aTemplate, about: "prompt, after that of the spec", inGo: "workflow.Single.Prompt"},
	{name: "output", value: aSchema, otherwise: "text", about: "schema of the reply; the model is asked again until its reply fits", inGo: "workflow.Single.Output"},
}}

var toolStepKeys = stepTable("tool", "A call of a tool.", "workflow.Call",
	key{name: "tool", needed: true, value: anyText, about: "a tool of the spec", inGo: "workflow.Call.Tool"},
	key{name: "args", value: shape{says: "mapping, with `{{…}}` in its texts", schema: object{"type": "object"}}, otherwise: "none",
		about: "arguments; a text that is only one `{{…}}` becomes the value itself", inGo: "workflow.Call.Args"})

var anInput = either(aTemplate, shape{says: "mapping, with `{{…}}` in its texts", schema: object{"type": []any{"object", "array"}}})

var agentStepKeys = stepTable("agent", "Another agent, as a child run.", "workflow.Run",
	append([]key{
		{name: "agent", needed: true, value: anyText, about: "spec of the agent, relative to this one; without a model it uses this workflow's", inGo: "workflow.Run.Agent"},
		{name: "input", value: anInput, otherwise: "the workflow's", about: "input of the child run", inGo: "workflow.Run.Input"},
	}, linkKeys("workflow.Run")...)...)

var workflowStepKeys = stepTable("workflow", "Another workflow, as a child run.", "workflow.Run",
	key{name: "workflow", needed: true, value: anyText, about: "spec of the workflow, relative to this one", inGo: "workflow.Run.Agent"},
	key{name: "input", value: anInput, otherwise: "the workflow's", about: "input of the child run", inGo: "workflow.Run.Input"})

var switchStepKeys = stepTable("switch", "One of several lists of steps.", "workflow.Switch",
	key{name: "switch", needed: true, value: anExpr, about: "names the case", inGo: "workflow.Switch.On"},
	key{name: "cases", needed: true, value: shape{says: "mapping to lists of steps", schema: object{"type": "object", "minProperties": 1, "additionalProperties": caseSchema}},
		about: "steps of each case", inGo: "workflow.Switch.Cases"},
	key{name: "default", value: shape{says: "list of steps", schema: caseSchema}, otherwise: "the run fails", about: "steps of any other case", inGo: "workflow.Switch.Default"})

var parallelStepKeys = stepTable("parallel", "Branches that run at once, each as a child run. The output is a list of their outputs.", "workflow.Parallel",
	key{name: "parallel", needed: true, value: shape{says: "list of lists of steps", schema: object{"type": "array", "minItems": 1, "items": stepSchema}},
		about: "the branches", inGo: "workflow.Parallel.Branches"})

var eachStepKeys = stepTable("for_each", "Steps for every item of a list, each item in a child run. The output is a list of their outputs.", "workflow.ForEach",
	key{name: "for_each", needed: true, value: anExpr, about: "the list", inGo: "workflow.ForEach.In"},
	key{name: "as", value: anyText, otherwise: "item", about: "name of the item in the steps", inGo: "workflow.ForEach.As"},
	key{name: "width", value: aCount(1), otherwise: "4", about: "items at once", inGo: "workflow.ForEach.Width"},
	key{name: "on_error", value: oneOf("stop", "continue"), otherwise: "stop", about: "when an item fails: fail, or continue with the others", inGo: "workflow.ForEach.Continue"},
	key{name: "do", needed: true, value: innerSteps, about: "the steps", inGo: "workflow.ForEach.Do"})

var whileStepKeys = stepTable("while", "Repeated steps. The output is that of the last step.", "workflow.While",
	key{name: "while", needed: true, value: anExpr, about: "the steps repeat while this holds", inGo: "workflow.While.Cond"},
	key{name: "max", needed: true, value: aCount(1), about: "most repetitions", inGo: "workflow.While.Max"},
	key{name: "do", needed: true, value: innerSteps, about: "the steps", inGo: "workflow.While.Do"})

var edgeKeys = &table{name: "edge", title: "edge", one: "the edge", about: "An edge of a graph.", keys: []key{
	{name: "from", value: anyText, otherwise: "the beginning of the run", about: "node before", inGo: "workflow.Edge.From"},
	{name: "to", needed: true, value: anyText, about: "node after", inGo: "workflow.Edge.To"},
	{name: "if", value: anExpr, otherwise: "always", about: "the edge is taken only if this holds when `from` is over", inGo: "workflow.Edge.If"},
	{name: "join", value: either(oneOf("all", "any", "first"), aCount(1)), otherwise: "all",
		about: "edges into `to` that must be taken: all that still can be, any, or a number, after which the others are cancelled (`first` is 1); the same on every edge into a node", inGo: "workflow.Edge.Join"},
}}
