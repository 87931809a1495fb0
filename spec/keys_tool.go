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
	name: "tool", title: "tool", one: "the tool", named: "name", about: "A program, or with `client: true` a tool that the client of the run executes.",
	keys: []key{
		{name: "name", needed: true, value: shape{says: "up to 64 letters, digits, _ and -", schema: object{"type": "string", "pattern": "^(_?[a-zA-Z0-9-][a-zA-Z0-9_-]{0,62}|_)$"}},
			about: "name for the model", inGo: "pawl.ToolInfo.Name"},
		{name: "description", needed: true, value: aText, about: "purpose of the tool, for the model", inGo: "pawl.ToolInfo.Description"},
		{name: "command", value: argv, about: "program and arguments, without a shell; `./` is the spec's directory", inGo: "tool.Command"},
		{name: "client", value: aFlag, otherwise: "false", about: "the run waits until somebody submits the result", inGo: "tool.Client"},
		{name: "input", value: argumentSchema, otherwise: "no arguments", about: "arguments, an object", inGo: "tool.CommandOptions.Input"},
		{name: "effect", value: effectWord, otherwise: "write", about: "effect of a repeated call: nothing, nothing more, or another effect", inGo: "tool.CommandOptions.Effect"},
		{name: "timeout", value: aDuration, otherwise: "60s", about: "time of one attempt", inGo: "tool.CommandOptions.Timeout"},
		{name: "max_output", value: aSize, otherwise: "16KB", about: "size of the result that the model sees: its beginning and its end", inGo: "tool.CommandOptions.MaxOutput"},
		{name: "max_calls", value: aCount(1), otherwise: "no limit", about: "calls in a run", inGo: "tool.CommandOptions.MaxCalls"},
		{name: "max_parallel", value: aCount(1), otherwise: "as many as the agent's", about: "calls at once; a write runs alone", inGo: "tool.CommandOptions.MaxParallel"},
		{name: "parallel", value: aFlag, otherwise: "true", about: "run beside other calls; a write never does", inGo: "tool.CommandOptions.Alone"},
		{name: "stuck", value: oneOf("exempt"), about: "equal calls do not count as being stuck, as when polling", inGo: "tool.CommandOptions.Exempt"},
		{name: "on_doubt", value: oneOf("ask", "fail", "tell"), otherwise: "ask", about: "when the outcome of a write is unknown: ask a person, end the run, or tell the model", inGo: "tool.CommandOptions.OnDoubt"},
		{name: "trust", value: trustWord, otherwise: "trusted", about: "trust in the results, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.CommandOptions.Trust"},
		{name: "reaches", value: wordList, otherwise: "values that are only a place", about: "arguments that say where a call goes, for the data-flow guard", inGo: "tool.CommandOptions.Reaches"},
		{name: "content", value: wordList, otherwise: "none", about: "arguments that are prose, for the data-flow guard", inGo: "tool.CommandOptions.Content"},
		{name: "approval", value: approvalValue, about: "calls that a person must approve", inGo: "approval.For"},
		{name: "witness", value: wordList, about: "files that the approver relied on, relative to `dir`", inGo: "tool.CommandOptions.Witness"},
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

var builtinKeys = &table{name: "builtin", title: "builtin", about: "[Tools](tools.md) of Pawl. They see the files below `dir`.", keys: []key{
	{name: "builtin", needed: true, value: ownNames, about: "the tools", inGo: "files.Tools"},
	{name: "trust", value: trustWord, otherwise: "untrusted for `fetch` and `read_more`, else trusted", about: "trust in the results, for the [data-flow guard](governance.md#data-flow)", inGo: "pawl.Agent.Trust"},
	{name: "approval", value: approvalValue, about: "calls that a person must approve", inGo: "approval.For"},
}}

var hostedKeys = &table{name: "hosted", title: "tool", about: "A [tool that the model's provider runs](tools.md#hosted-tools).", keys: []key{
	{name: "hosted", needed: true, value: oneOf(hostedNames...), about: "the tool", inGo: "tool.Hosted"},
	{name: "max_calls", value: aCount(1), otherwise: "5", about: "uses in one reply; limits reserve their price", inGo: "tool.HostedOptions.MaxCalls"},
	{name: "max_output", value: aSize, otherwise: "32KB", about: "size of a result that the log keeps and limits expect", inGo: "tool.HostedOptions.MaxOutput"},
	{name: "trust", value: trustWord, otherwise: "untrusted", about: "trust in the results, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.HostedOptions.Trust"},
}}

var hostedNames = []string{tool.WebSearch, tool.CodeExecution}

var carryWord = oneOf("all", "summary", "last")

var agentToolKeys = &table{name: "agent-tool", title: "agent", about: "Another agent. Each call is a [child run](command.md#agents-as-tools).", keys: append([]key{
	{name: "agent", needed: true, value: anyText, about: "spec of the agent, relative to this one; without a model it uses this agent's", inGo: "tool.Agent"},
	{name: "memory", value: aFlag, otherwise: "false", about: "a call [continues the conversation](teams.md#remembering) of the call before it", inGo: "tool.AgentOptions.Remember"},
	{name: "carry", value: carryWord, otherwise: "nothing", about: "a call [sees](teams.md#what-a-called-agent-sees) the whole conversation, the person's last message with a summary by this agent, or only the person's last message", inGo: "tool.AgentOptions.Carry"},
}, localKeys...)}

var workflowToolKeys = &table{name: "workflow-tool", title: "workflow", about: "A [workflow](workflow.md). Each call is a child run.", keys: append([]key{
	{name: "workflow", needed: true, value: anyText, about: "spec of the workflow, relative to this one", inGo: "tool.Agent"},
}, localKeys...)}

var a2aToolKeys = &table{name: "a2a-tool", title: "tool", about: "An agent of another server, over the [Agent2Agent protocol](a2a.md). Each call is a child run with a task on the server.", keys: append([]key{
	{name: "a2a", needed: true, value: in(a2aKeys), about: "the agent", inGo: "a2a.Agent"},
}, remoteRunKeys()...)}

var a2aKeys = &table{name: "a2a", title: "a2a", about: "An agent of another server.", keys: []key{
	{name: "url", needed: true, value: aText, about: "its card, or the server with `/.well-known/agent-card.json`: https, or http on this machine", inGo: "a2a.Agent"},
	{name: "token", value: anyText, otherwise: "none", about: "variable with the bearer token", inGo: "a2a.Options.Token"},
	{name: "trusted", value: aFlag, otherwise: "false", about: "its words may instruct this agent", inGo: "a2a.Options.Trusted"},
	{name: "timeout", value: aDuration, otherwise: "10m", about: "time between two messages of a task, after which it is cancelled and the call fails", inGo: "a2a.Options.Timeout"},
}}

// remoteRunKeys are runKeys for an agent whose declaration is not known here.
func remoteRunKeys() []key {
	keys := slices.Clone(runKeys)
	for i := range keys {
		if other, ok := map[string]string{
			"name": "from the url", "description": "names the host", "effect": "write", "trust": "that of `a2a`",
		}[keys[i].name]; ok {
			keys[i].otherwise = other
		}
	}
	return keys
}

// localKeys are runKeys, and those for an agent whose runs are here.
var localKeys = append(slices.Clone(runKeys), []key{
	{name: "iterations", value: aCount(1), otherwise: "its own limit", about: "iterations of a call, in addition to its own limit", inGo: "tool.AgentOptions.Iterations"},
	{name: "weight", value: aCount(1), otherwise: "1", about: "shares of a call, when the calls of a reply [divide](workflow.md#budgets-and-children) the rest of the limits", inGo: "tool.AgentOptions.Weight"},
}...)

// runKeys are the keys of a tool whose calls are runs.
var runKeys = []key{
	{name: "name", value: shape{says: "up to 64 letters, digits, _ and -", schema: object{"type": "string"}}, otherwise: "its own", about: "name for the model", inGo: "tool.AgentOptions.Name"},
	{name: "description", value: aText, otherwise: "its own", about: "purpose of the tool, for the model", inGo: "tool.AgentOptions.Description"},
	{name: "effect", value: effectWord, otherwise: "read if all its tools are, else write", about: "effect of a repeated call: nothing, nothing more, or another effect", inGo: "tool.AgentOptions.Effect"},
	{name: "max_output", value: aSize, otherwise: "16KB", about: "size of the result that the model sees: its beginning and its end", inGo: "tool.AgentOptions.MaxOutput"},
	{name: "max_calls", value: aCount(1), otherwise: "no limit", about: "calls in a run", inGo: "tool.AgentOptions.MaxCalls"},
	{name: "max_parallel", value: aCount(1), otherwise: "as many as the agent's", about: "calls at once; a write runs alone", inGo: "tool.AgentOptions.MaxParallel"},
	{name: "parallel", value: aFlag, otherwise: "true", about: "run beside other calls; a write never does", inGo: "tool.AgentOptions.Alone"},
	{name: "stuck", value: oneOf("exempt"), about: "equal calls do not count as being stuck, as when polling", inGo: "tool.AgentOptions.Exempt"},
	{name: "trust", value: trustWord, otherwise: "untrusted if one of its tools is", about: "trust in the results, for the [data-flow guard](governance.md#data-flow)", inGo: "tool.AgentOptions.Trust"},
	{name: "approval", value: approvalValue, about: "calls that a person must approve", inGo: "approval.For"},
}

var ownNames = shape{says: "list of `" + strings.Join(slices.Sorted(maps.Keys(ownTools)), "`, `") + "`, and tools that the program [registers](tools.md#your-own-pawl)", schema: object{"type": "array", "items": object{"type": "string", "examples": anyOf(slices.Sorted(maps.Keys(ownTools)))}}}

var mcpToolKeys = &table{name: "mcp-tool", title: "tool", about: "The tools of a [server of the Model Context Protocol](mcp.md), named `NAME__tool`.", keys: []key{
	{name: "mcp", needed: true, value: in(mcpKeys), about: "the server", inGo: "mcp.Connect"},
	{name: "allow", value: shape{says: "list of texts", schema: object{"type": "array", "minItems": 1, "items": anyText.schema}}, otherwise: "all", about: "tools to offer, by the server's names", inGo: "mcp.Options.Allow"},
	{name: "timeout", value: aDuration, otherwise: "60s", about: "time of one call", inGo: "mcp.Options.Timeout"},
	{name: "max_output", value: aSize, otherwise: "16KB", about: "size of the result that the model sees: its beginning and its end", inGo: "mcp.Options.MaxOutput"},
	{name: "max_parallel", value: aCount(1), otherwise: "as many as the agent's", about: "calls at once of one tool; a write runs alone", inGo: "mcp.Options.MaxParallel"},
	{name: "trust", value: trustWord, otherwise: "that of `mcp`", about: "trust in the results, for the [data-flow guard](governance.md#data-flow)", inGo: "pawl.Agent.Trust"},
	{name: "approval", value: approvalValue, about: "calls that a person must approve", inGo: "approval.For"},
}}

var mcpKeys = &table{name: "mcp", title: "mcp", about: "A server of the Model Context Protocol.", keys: []key{
	{name: "name", needed: true, value: shape{says: "up to 32 letters and digits, with single _ or - between them", schema: object{"type": "string", "pattern": "^[a-zA-Z0-9]+([_-]?[a-zA-Z0-9]+)*$", "maxLength": longestServer}},
		about: "prefix of its tools' names", inGo: "mcp.Connect"},
	{name: "command", value: argv, about: "program and arguments, without a shell; `./` is the spec's directory", inGo: "mcp.Command"},
	{name: "url", value: aText, about: "URL, instead of a command: https, or http on this machine", inGo: "mcp.HTTP"},
	{name: "token", value: anyText, otherwise: "none", about: "variable with the bearer token", inGo: "mcp.HTTPOptions.Header"},
	{name: "auth", value: in(mcpAuthKeys), otherwise: "none", about: "[authorisation](mcp.md#authorisation) of requests, instead of a token", inGo: "mcp.HTTPOptions.OAuth"},
	{name: "trusted", value: aFlag, otherwise: "false", about: "believe its descriptions and effects; otherwise each tool is a write with untrusted results", inGo: "mcp.Options.Trusted"},
}, more: object{"oneOf": []any{object{"required": []any{"command"}}, object{"required": []any{"url"}}}}}

var searchKeys = &table{name: "tool_search", title: "tool_search", about: "The model finds tools with the tool `tool_search`.", keys: []key{
	{name: "core", value: wordList, otherwise: "none", about: "tools that it always sees; `*` stands for any characters", inGo: "pawl.Agent.Core"},
}}

var fetchKeys = &table{name: "fetch", title: "fetch", about: "Hosts for the tool `fetch`.", keys: []key{
	{name: "allow", value: hostList, otherwise: "all public hosts", about: "the only hosts, such as `docs.example.org`, `*.example.org` or `localhost:8080`; they may be private", inGo: "fetch.Options.Allow"},
}}

var hostList = shape{says: "list of hosts", schema: object{"type": "array", "minItems": 1, "items": anyText.schema}}

var approvalValue = either(oneOf("required"), in(whenKeys))

var whenKeys = &table{name: "approval", title: "approval", about: "A condition for approval.", keys: []key{
	{name: "when", needed: true, value: aCondition, about: "condition on the arguments, such as `args.amount > 100`", inGo: "approval.When"},
}}

// argumentSchema is the JSON Schema of an object.
var argumentSchema = shape{says: "JSON Schema", schema: object{"type": "object", "properties": object{
	"type": object{"not": object{"enum": []any{"array", "string", "number", "integer", "boolean", "null"}}},
}}}
