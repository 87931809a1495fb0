package spec

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/workflow"
)

// stepKinds are the keys of which a step has exactly one: what it does.
var stepKinds = []string{"single", "tool", "agent", "workflow", "switch", "parallel", "for_each", "while"}

var (
	// stepSchema and caseSchema are lists of steps. They name the table, because steps are nested.
	stepSchema = object{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/step"}}
	caseSchema = object{"type": "array", "items": object{"$ref": "#/$defs/step"}}

	// stepList is the shape of steps, innerSteps that of do.
	stepList   = shape{says: "list of [steps](#step)", schema: stepSchema, tables: []*table{stepKeys}}
	innerSteps = shape{says: "list of steps", schema: stepSchema}
	// nodeMap is the shape of the nodes of a graph.
	nodeMap = shape{says: "mapping of ids to [steps](#step), without their `id`", tables: []*table{stepKeys},
		schema: object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "object", "minProperties": 1}}}
	anExpr    = shape{says: "[expression](workflow.md#data)", schema: object{"type": []any{"string", "boolean"}}}
	aTemplate = shape{says: "text with `{{…}}`", schema: object{"type": "string", "pattern": `\S`}}
	anInput   = either(aTemplate, shape{says: "mapping, with `{{…}}` in its texts", schema: object{"type": []any{"object", "array"}}})
)

// stepKeys are the keys of all steps. Which of them belong together is said by the tags of
// [workflow.Step].
var stepKeys = together(&table{name: "step", title: "step", one: "the step", named: "id",
	about: "A step of a [workflow](workflow.md), or a node of a graph. It has exactly one of `single`, `tool`, `agent`, `workflow`, `switch`, `parallel`, `for_each` and `while`.", keys: []key{
		{name: "id", needed: true, value: shape{says: "up to 40 letters, digits, _ and -", schema: object{"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,40}$"}},
			about: "name in the log and in later steps, as in `{{steps.ID.output}}`"},
		{name: "if", value: anExpr, otherwise: "always", about: "the step is skipped unless this holds"},
		{name: "suspend", value: oneOf("before", "after"), about: "a person approves, denies or [edits](workflow.md#suspending) the step's input or output"},
		{name: "weight", value: aCount(1), otherwise: "1",
			about: "shares of the step, when branches or nodes that run at once [divide](workflow.md#budgets-and-children) the rest of the limits"},
		{name: "single", value: in(singleKeys), about: "a request to the model, without tools"},
		{name: "tool", value: anyText, about: "call of a tool of the spec"},
		{name: "args", value: shape{says: "mapping, with `{{…}}` in its texts", schema: object{"type": "object"}}, otherwise: "none",
			about: "arguments; a text that is only one `{{…}}` becomes the value itself"},
		{name: "agent", value: anyText, about: "spec of an agent, relative to this one, as a child run; without a model it uses this workflow's"},
		{name: "workflow", value: anyText, about: "spec of another workflow, relative to this one, as a child run", inGo: "workflow.Step.Agent"},
		{name: "input", value: anInput, otherwise: "the workflow's", about: "input of the child run"},
		{name: "continues", value: anyText, about: "a step whose latest [conversation](workflow.md#conversations) this step continues"},
		{name: "carry", value: carryWord, otherwise: "all", about: "this step sees that whole conversation, its last request and answer, or only its last request"},
		{name: "switch", value: anExpr, about: "names the case, one of several lists of steps"},
		{name: "cases", needed: true, value: shape{says: "mapping to lists of steps", schema: object{"type": "object", "minProperties": 1, "additionalProperties": caseSchema}},
			about: "steps of each case"},
		{name: "default", value: shape{says: "list of steps", schema: caseSchema}, otherwise: "the run fails", about: "steps of any other case"},
		{name: "parallel", value: shape{says: "list of lists of steps", schema: object{"type": "array", "minItems": 1, "items": stepSchema}},
			about: "branches that run at once, each as a child run; the output is a list of their outputs"},
		{name: "for_each", value: anExpr, about: "a list; steps run for every item in a child run, and the output is a list of their outputs"},
		{name: "as", value: anyText, otherwise: "item", about: "name of the item in the steps"},
		{name: "width", value: aCount(1), otherwise: "4", about: "items at once"},
		{name: "on_error", value: oneOf("stop", "continue"), otherwise: "stop", about: "when an item fails: fail, or continue with the others"},
		{name: "while", value: anExpr, about: "steps repeat while this holds; the output is that of the last step"},
		{name: "max", needed: true, value: aCount(1), about: "most repetitions"},
		{name: "do", needed: true, value: innerSteps, about: "the steps"},
	}})

var singleKeys = &table{name: "single", title: "single", about: "A request to the model.", keys: []key{
	{name: "prompt", needed: true, value: aTemplate, about: "prompt, after that of the spec", inGo: "workflow.Single.Prompt"},
	{name: "output", value: aSchema, otherwise: "text", about: "schema of the reply; the model is asked again until its reply fits", inGo: "workflow.Single.Output"},
}}

var edgeKeys = &table{name: "edge", title: "edge", one: "the edge", about: "An edge of a graph.", keys: []key{
	{name: "from", value: anyText, otherwise: "the beginning of the run", about: "node before", inGo: "workflow.Edge.From"},
	{name: "to", needed: true, value: anyText, about: "node after", inGo: "workflow.Edge.To"},
	{name: "if", value: anExpr, otherwise: "always", about: "the edge is taken only if this holds when `from` is over", inGo: "workflow.Edge.If"},
	{name: "join", value: either(oneOf("all", "any", "first"), aCount(1)), otherwise: "all",
		about: "edges into `to` that must be taken: all that still can be, any, or a number, after which the others are cancelled (`first` is 1); the same on every edge into a node", inGo: "workflow.Edge.Join"},
}}

// together adds to the keys of steps what the type of a step says: the field of a key and the
// actions that it belongs to. The schema then holds their combinations.
func together(t *table) *table {
	var one []any
	for _, kind := range stepKinds {
		one = append(one, needing(kind))
	}
	dependent := object{}
	for field := range reflect.TypeFor[workflow.Step]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		k := &t.keys[slices.IndexFunc(t.keys, func(k key) bool { return k.name == name })]
		k.inGo = "workflow.Step." + field.Name
		if of := field.Tag.Get("of"); of != "" {
			k.of = strings.Split(of, ",")
			var any []any
			for _, kind := range k.of {
				any = append(any, needing(kind))
			}
			dependent[name] = object{"anyOf": any}
		}
	}
	for _, kind := range stepKinds {
		var needed []string
		for _, k := range t.keys {
			if k.needed && slices.Contains(k.of, kind) {
				needed = append(needed, k.name)
			}
		}
		if needed != nil {
			dependent[kind] = needing(needed...)
		}
	}
	t.more = object{"oneOf": one, "dependentSchemas": dependent}
	return t
}

func needing(keys ...string) object { return object{"required": anyOf(keys)} }

// stepTable returns the keys of a step of one kind.
func stepTable(kind string) *table {
	t := *stepKeys
	t.keys = slices.DeleteFunc(slices.Clone(t.keys), func(k key) bool {
		return k.of != nil && !slices.Contains(k.of, kind) || k.name != kind && slices.Contains(stepKinds, k.name)
	})
	return &t
}
