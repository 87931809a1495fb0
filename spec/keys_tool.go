package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/tool"
)

// toolList is the shape of tools. The keys of an entry determine its kind.
var toolList = shape{
	says:   "list of tools: [command](#tool), [client](#tool), [builtin](#builtin), [agent](#agent-tool), [workflow](#workflow-tool), [mcp](#mcp-tool), [a2a](#a2a-tool) or [hosted](#hosted)",
	schema: object{"type": "array", "items": object{"anyOf": []any{in(toolKeys).schema, in(builtinKeys).schema, in(agentToolKeys).schema, in(workflowToolKeys).schema, in(mcpToolKeys).schema, in(a2aToolKeys).schema, in(hostedKeys).schema}}},
	tables: []*table{toolKeys, builtinKeys, agentToolKeys, workflowToolKeys, mcpToolKeys, a2aToolKeys, hostedKeys},
}

var effectWord = oneOf("read", "idempotent", "write")

var trustWord = oneOf("trusted", "untrusted")

var toolKeys = &table{
	name: "tool", title: "tool", one: "the tool", named: "name", about: "A tool: a program, or, with `client: true`, something that the client that started the run does.",
	keys: []key{
		{name: "name", needed: true, value: shape{says: "up to 64 letters, digits, _ and -", schema: object{"type": "string", "pattern": "^(_?[a-zA-Z0-9-][a-zA-Z0-9_-]{0,62}|_)$"}},
			about: "what the model calls it", inGo: "pawl.ToolInfo.Name"},
		{name: "description", needed: true, value: aText, about: "what it does and when to use it", inGo: "pawl.ToolInfo.Description"},
		{name: "command", value: argv, about: "the program and its arguments; there is no shell. What starts with `./` is relative to the spec's directory", inGo: "tool.Command"},
		{name: "client", value: aFlag, otherwise: "false", about: "the run waits until somebody submits the result", inGo: "tool.Client"},
		{name: "input", value: argumentSchema, otherwise: "no arguments", about: "the arguments, an object", inGo: "tool.CommandOptions.Input"},
		{name: "effect", value: effectWord, otherwise: "write", about: "what repeating a call would do: nothing, nothing more, or something", inGo: "tool.CommandOptions.Effect"},
		{name: "timeout", value: aDuration, otherwise: "60s", about: "of one attempt", inGo: "tool.CommandOptions.Timeout"},
		{name: "max_output", value: aSize, otherwise: "16KB", about: "how much of the output the model sees, its beginning and its end", inGo: "tool.CommandOptions.MaxOutput"},
		{name: "max_calls", value: aCount(1), otherwise: "no limit", about: "how often it may run in a run", inGo: "tool.CommandOptions.MaxCalls"},
		{name: "max_parallel", value: aCount(1), otherwise: "as many as the agent's", about: "calls of it that run at once; a write runs alone", inGo: "tool.CommandOptions.MaxParallel"},
		{name: "parallel", value: aFlag, otherwise: "true", about: "run in parallel with other calls; a write never does", inGo: "tool.CommandOptions.Alone"},
		{name: "stuck", value: oneOf("exempt"), about: "equal calls are no sign of being stuck, as when polling", inGo: "tool.CommandOptions.Exempt"},
		{name: "on_doubt", value: oneOf("ask", "fail", "tell"), otherwise: "ask", about: "what to do when it is unknown whether a write took place: ask a person, end the run, or tell the model", inGo: "tool.CommandOptions.OnDoubt"},
		{name: "trust", value: trustWord, otherwise: "trusted", about: "whose words its results are, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.CommandOptions.Trust"},
		{name: "reaches", value: wordList, otherwise: "what looks like an address", about: "arguments that say where a call goes, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.CommandOptions.Reaches"},
		{name: "content", value: wordList, otherwise: "by their names, such as `body`", about: "arguments that are prose for a reader, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.CommandOptions.Content"},
		{name: "approval", value: approvalValue, about: "which calls a person approves first", inGo: "approval.For"},
		{name: "witness", value: wordList, about: "files whose content the approver relied on, relative to `dir`", inGo: "tool.CommandOptions.Witness"},
	},
	more: object{
		"if":   object{"properties": object{"client": object{"const": true}}, "required": []any{"client"}},
		"then": object{"properties": forbidden(commandOnly)},
		"else": object{"required": []any{"command"}},
	},
}

// commandOnly are the keys that configure a program.
var commandOnly = []string{"command", "timeout", "max_output", "max_calls", "max_parallel", "parallel", "on_doubt"}

func forbidden(names []string) object {
	all := object{}
	for _, name := range names {
		all[name] = false
	}
	return all
}

var builtinKeys = &table{name: "builtin", title: "builtin", about: "[Tools](tools.md) that come with Pawl. Files are those beneath `dir`.", keys: []key{
	{name: "builtin", needed: true, value: ownNames, about: "which", inGo: "files.Tools"},
	{name: "trust", value: trustWord, otherwise: "untrusted for fetch and read_more, else trusted", about: "whose words their results are, for the [data-flow guard](governance.md#data-flow)", inGo: "pawl.Agent.Trust"},
	{name: "approval", value: approvalValue, about: "which calls a person approves first", inGo: "approval.For"},
}}

var hostedKeys = &table{name: "hosted", title: "tool", about: "A [tool that the model's provider runs](tools.md#hosted-tools) while the model replies.", keys: []key{
	{name: "hosted", needed: true, value: oneOf(hostedNames...), about: "which", inGo: "tool.Hosted"},
	{name: "max_calls", value: aCount(1), otherwise: "5", about: "how often it may be used in one reply; the limits set the price of so many uses aside", inGo: "tool.HostedOptions.MaxCalls"},
	{name: "max_output", value: aSize, otherwise: "32KB", about: "how much of a result the log keeps, and how long results are expected to be", inGo: "tool.HostedOptions.MaxOutput"},
	{name: "trust", value: trustWord, otherwise: "untrusted", about: "whose words its results are, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.HostedOptions.Trust"},
}}

var hostedNames = []string{tool.WebSearch, tool.CodeExecution}

var carryWord = oneOf("all", "summary", "last")

var agentToolKeys = &table{name: "agent-tool", title: "agent", about: "Another agent as a tool. Each call is a run of its own, within what is left of this one's limits.", keys: append([]key{
	{name: "agent", needed: true, value: anyText, about: "its spec, relative to this one. One that names no model has this agent's", inGo: "tool.Agent"},
	{name: "memory", value: aFlag, otherwise: "false", about: "a call goes on with the conversation of the call before it; see [specialists that remember](teams.md#remembering)", inGo: "tool.AgentOptions.Remember"},
	{name: "carry", value: carryWord, otherwise: "nothing", about: "what a call sees of [this conversation](teams.md#what-a-called-agent-sees): all, what a person said last with a summary by this agent, or only what a person said last", inGo: "tool.AgentOptions.Carry"},
}, localKeys...)}

var workflowToolKeys = &table{name: "workflow-tool", title: "workflow", about: "A workflow as a tool: the same, with [known steps](workflow.md).", keys: append([]key{
	{name: "workflow", needed: true, value: anyText, about: "its spec, relative to this one", inGo: "tool.Agent"},
}, localKeys...)}

var a2aToolKeys = &table{name: "a2a-tool", title: "tool", about: "An agent of another server as a tool, over the [Agent2Agent protocol](a2a.md). Each call is a run of its own, which has a task there.", keys: append([]key{
	{name: "a2a", needed: true, value: in(a2aKeys), about: "where it is", inGo: "a2a.Agent"},
}, remoteRunKeys()...)}

var a2aKeys = &table{name: "a2a", title: "a2a", about: "An agent of another server.", keys: []key{
	{name: "url", needed: true, value: aText, about: "of its card, or the one below which the card is at `/.well-known/agent-card.json`: https, or http on this machine", inGo: "a2a.Agent"},
	{name: "token", value: anyText, otherwise: "none", about: "the variable that holds the bearer token; its value is a secret", inGo: "a2a.Options.Token"},
	{name: "trusted", value: aFlag, otherwise: "false", about: "its words may instruct this agent; otherwise they are untrusted", inGo: "a2a.Options.Trusted"},
	{name: "timeout", value: aDuration, otherwise: "10m", about: "how long a task may take between two messages; then it is cancelled there, and the call fails", inGo: "a2a.Options.Timeout"},
}}

// remoteRunKeys are runKeys for an agent whose declaration is not known here.
func remoteRunKeys() []key {
	keys := slices.Clone(runKeys)
	for i := range keys {
		if other, ok := map[string]string{
			"name": "from the url", "description": "that it is at the host", "effect": "write", "trust": "as it is `trusted`",
		}[keys[i].name]; ok {
			keys[i].otherwise = other
		}
	}
	return keys
}

// localKeys are runKeys, and those for an agent whose runs are here.
var localKeys = append(slices.Clone(runKeys), []key{
	{name: "iterations", value: aCount(1), otherwise: "its own limit", about: "the most iterations of a call, beside its own limit", inGo: "tool.AgentOptions.Iterations"},
	{name: "weight", value: aCount(1), otherwise: "1", about: "how many of the equal shares a call gets, into which what is left of the limits is divided among the calls of a reply", inGo: "tool.AgentOptions.Weight"},
}...)

// runKeys are the keys of a tool whose calls are runs.
var runKeys = []key{
	{name: "name", value: shape{says: "up to 64 letters, digits, _ and -", schema: object{"type": "string"}}, otherwise: "its own", about: "what the model calls it", inGo: "tool.AgentOptions.Name"},
	{name: "description", value: aText, otherwise: "its own", about: "what it does and when to use it", inGo: "tool.AgentOptions.Description"},
	{name: "effect", value: effectWord, otherwise: "read if all its tools are, else write", about: "what repeating a call would do", inGo: "tool.AgentOptions.Effect"},
	{name: "max_output", value: aSize, otherwise: "16KB", about: "how much of the answer the model sees", inGo: "tool.AgentOptions.MaxOutput"},
	{name: "max_calls", value: aCount(1), otherwise: "no limit", about: "how often it may be asked in a run", inGo: "tool.AgentOptions.MaxCalls"},
	{name: "max_parallel", value: aCount(1), otherwise: "as many as the agent's", about: "calls of it that run at once; a write runs alone", inGo: "tool.AgentOptions.MaxParallel"},
	{name: "parallel", value: aFlag, otherwise: "true", about: "run in parallel with other calls; a write never does", inGo: "tool.AgentOptions.Alone"},
	{name: "stuck", value: oneOf("exempt"), about: "equal calls are no sign of being stuck", inGo: "tool.AgentOptions.Exempt"},
	{name: "trust", value: trustWord, otherwise: "untrusted if the results of one of its tools are", about: "whose words its answers are, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.AgentOptions.Trust"},
	{name: "approval", value: approvalValue, about: "which calls a person approves first", inGo: "approval.For"},
}

var ownNames = shape{says: "list of `" + strings.Join(slices.Sorted(maps.Keys(ownTools)), "`, `") + "`, and the names of tools that the program [registers](tools.md#your-own-pawl)", schema: object{"type": "array", "items": object{"type": "string", "examples": anyOf(slices.Sorted(maps.Keys(ownTools)))}}}

var mcpToolKeys = &table{name: "mcp-tool", title: "tool", about: "The tools of a [server of the Model Context Protocol](mcp.md), under NAME__tool.", keys: []key{
	{name: "mcp", needed: true, value: in(mcpKeys), about: "the server", inGo: "mcp.Connect"},
	{name: "allow", value: shape{says: "list of text", schema: object{"type": "array", "minItems": 1, "items": anyText.schema}}, otherwise: "all", about: "the tools that are offered, as the server calls them", inGo: "mcp.Options.Allow"},
	{name: "timeout", value: aDuration, otherwise: "60s", about: "of one call", inGo: "mcp.Options.Timeout"},
	{name: "max_output", value: aSize, otherwise: "16KB", about: "how much of a result the model sees, its beginning and its end", inGo: "mcp.Options.MaxOutput"},
	{name: "max_parallel", value: aCount(1), otherwise: "as many as the agent's", about: "calls of one of them that run at once; a write runs alone", inGo: "mcp.Options.MaxParallel"},
	{name: "trust", value: trustWord, otherwise: "as the server is", about: "whose words their results are, for the [data-flow guard](governance.md#data-flow)", inGo: "pawl.Agent.Trust"},
	{name: "approval", value: approvalValue, about: "which calls a person approves first", inGo: "approval.For"},
}}

var mcpKeys = &table{name: "mcp", title: "mcp", about: "A server of the Model Context Protocol: a program, or a place.", keys: []key{
	{name: "name", needed: true, value: shape{says: "up to 32 letters and digits, with single _ or - between them", schema: object{"type": "string", "pattern": "^[a-zA-Z0-9]+([_-]?[a-zA-Z0-9]+)*$", "maxLength": longestServer}},
		about: "what its tools' names begin with", inGo: "mcp.Connect"},
	{name: "command", value: argv, about: "the program and its arguments; there is no shell. What starts with `./` is relative to the spec's directory", inGo: "mcp.Command"},
	{name: "url", value: aText, about: "where it is, in place of a command: https, or http on this machine", inGo: "mcp.HTTP"},
	{name: "token", value: anyText, otherwise: "none", about: "the variable that holds the bearer token for the url; its value is a secret", inGo: "mcp.HTTPOptions.Header"},
	{name: "auth", value: in(mcpAuthKeys), otherwise: "none", about: "how requests to the url are [authorised](mcp.md#authorisation), in place of a token", inGo: "mcp.HTTPOptions.OAuth"},
	{name: "trusted", value: aFlag, otherwise: "false", about: "believe what its tools say, and what they say of their effects; otherwise each is a write, and its results are untrusted", inGo: "mcp.Options.Trusted"},
}, more: object{"oneOf": []any{object{"required": []any{"command"}}, object{"required": []any{"url"}}}}}

var searchKeys = &table{name: "tool_search", title: "tool_search", about: "The tools are shown to the model as it finds them, with the tool `tool_search`.", keys: []key{
	{name: "core", value: wordList, otherwise: "none", about: "the tools that it is shown from the start; `*` stands for any characters", inGo: "pawl.Agent.Core"},
}}

var fetchKeys = &table{name: "fetch", title: "fetch", about: "Where the builtin tool fetch may go.", keys: []key{
	{name: "allow", value: hostList, otherwise: "all public hosts", about: "the only hosts, such as `docs.example.org`, `*.example.org` or `localhost:8080`; they may be private", inGo: "fetch.Options.Allow"},
}}

var hostList = shape{says: "list of hosts", schema: object{"type": "array", "minItems": 1, "items": anyText.schema}}

var approvalValue = either(oneOf("required"), in(whenKeys))

var whenKeys = &table{name: "approval", title: "approval", about: "A gate on one tool.", keys: []key{
	{name: "when", needed: true, value: aCondition, about: "a condition on arguments, as in `args.amount > 100`", inGo: "approval.When"},
}}

// argumentSchema is the JSON Schema of an object.
var argumentSchema = shape{says: "JSON Schema", schema: object{"type": "object", "properties": object{
	"type": object{"not": object{"enum": []any{"array", "string", "number", "integer", "boolean", "null"}}},
}}}
