package spec

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/webhook"
)

// The keys of a spec.
var specKeys = &table{name: "spec", title: "the spec", about: "An agent.", keys: []key{
	{name: "name", needed: true, value: shape{says: "letters a-z, digits, hyphens", schema: object{"type": "string", "pattern": "^[a-z0-9-]+$"}},
		about: "what the agent is called", inGo: "pawl.Agent.Name"},
	{name: "description", value: aText, about: "what it is for", inGo: "pawl.Agent.Description"},
	{name: "version", value: aText, about: "the [version](upgrade.md) of the agent, which its runs record; several versions can be served side by side", inGo: "pawl.Agent.Version"},
	{name: "upgrade", value: oneOf("refuse", "compatible", "fork"), otherwise: "refuse", about: "what happens when a waiting run of another version is resumed under this agent ([more](upgrade.md#the-rule))", inGo: "engine.ResumeOptions.Upgrade"},
	{name: "labels", value: mapOf(anyText), about: "words to find its runs by", inGo: "pawl.Agent.Labels"},
	{name: "model", value: either(aModel, in(modelKeys)), otherwise: "`--model`, or `PAWL_MODEL`",
		about: "the model, which is to be known to the program: anthropic/…, openai/…, google/…, script:FILE, mechanic", inGo: "pawl.Agent.Model"},
	{name: "prompt", value: aText, about: "the system prompt", inGo: "pawl.Agent.Prompt"},
	{name: "input", value: either(aText, in(inputKeys)), about: "what to work on when nothing else is given", inGo: "engine.Engine.Start"},
	{name: "thread", value: aText, otherwise: "`--thread`, or none", about: "the [conversation](command.md#conversations) that its runs go on with", inGo: "engine.StartOptions.Thread"},
	{name: "loop", value: loopName, otherwise: "react", about: "how it goes on: model and tools in turn, one reply without tools, known steps, a graph of them, or a loop that the program [registers](tools.md#your-own-pawl)", inGo: "pawl.Agent.Loop"},
	{name: "steps", value: stepList, about: "the steps of a [workflow](workflow.md)", inGo: "workflow.New"},
	{name: "nodes", value: nodeMap, about: "the nodes of a [graph](workflow.md#graphs)", inGo: "workflow.Graph"},
	{name: "edges", value: listOf(in(edgeKeys)), about: "which node follows which", inGo: "workflow.Edge"},
	{name: "strategy", value: oneOf("native", "json"), otherwise: "native",
		about: "how the model calls tools: by its provider's own calls, or as one JSON object a turn with thought, action and action_input", inGo: "pawl.Agent.Strategy"},
	{name: "output", value: aSchema, about: "what the answer must look like; it is asked for again until it does", inGo: "pawl.Agent.Output"},
	{name: "env", value: wordList, about: "variables that commands get; their values are secrets, which no log holds", inGo: "engine.Options.Secrets"},
	{name: "workspace", value: oneOf("copy"), otherwise: "the tools work in `dir` itself", about: "the tools work in a [copy](spec.md#working-in-a-copy) of `dir`, and the difference is applied when the run succeeds", inGo: "spec.Options.Workspace"},
	{name: "dir", value: aText, otherwise: "the spec's directory", about: "where commands run, relative to the spec's directory", inGo: "tool.CommandOptions.Dir"},
	{name: "tools", value: toolList, about: "what the model may call", inGo: "pawl.Agent.Tools"},
	{name: "tool_search", value: in(searchKeys), otherwise: "the model is shown all tools", about: "have the model [search](tools.md#many-tools) for tools instead of being shown all", inGo: "pawl.Agent.Core"},
	{name: "handoffs", value: listOf(either(aText, in(handoffKeys))), about: "specs of agents that the model may [hand the conversation over](teams.md#handoff) to", inGo: "team.Handoff"},
	{name: "board", value: aFlag, otherwise: "false", about: "share a [board of tasks](teams.md#swarm) with the agents among the tools: `board_add`, `board_read`, `board_claim`, `board_finish`, `board_drop`", inGo: "team.Board"},
	{name: "memory", value: either(aFlag, in(memoryKeys)), about: "[remember](tools.md#memory) things for later runs: `remember`, `recall`, `forget`", inGo: "tool.Memory"},
	{name: "builtins", value: aFlag, otherwise: "false",
		about: "offer `__complete__`, `__pause_for_human__`, `__store_memory__`, `__retrieve_memory__` and `__log_progress__`", inGo: "pawl.Agent.Builtins"},
	{name: "parallel", value: aFlag, otherwise: "true", about: "let the calls of one reply run at the same time", inGo: "pawl.Agent.Serial"},
	{name: "max_parallel", value: aCount(1), otherwise: "10 commands, requests and MCP calls, and 256 other calls",
		about: "calls of a run that run at once; all runs in one process together have four times as many. The others wait, in call order", inGo: "pawl.Agent.MaxParallel"},
	{name: "trace", value: aFlag, otherwise: "false", about: "show the reasoning trace with the result", inGo: "pawl.Agent.Trace"},
	{name: "skills", value: wordList, about: "[skills](#skills): folders of them, or with one, relative to the spec's directory", inGo: "skill.Tool"},
	{name: "stop", value: aCondition, about: "[when](command.md#conditions) to end, besides when the model is done", inGo: "pawl.Agent.Stop"},
	{name: "limits", value: in(limitKeys), about: "ceilings", inGo: "pawl.Agent.Limits"},
	{name: "plan", value: aFlag, otherwise: "false", about: "only tools that read run until a person has approved the agent's [plan](governance.md#plan-mode)", inGo: "approval.Plan"},
	{name: "approvals", value: in(approvalsKeys), about: "which calls a person approves, and how", inGo: "pawl.Agent.Approvals"},
	{name: "policies", value: wordList, about: "policies that the program [registers](tools.md#your-own-pawl), by name", inGo: "spec.Registry.Policies"},
	{name: "no_progress", value: in(progressKeys), otherwise: "a window of 3, then fail", about: "what to do when the run [gets stuck](command.md#getting-stuck)", inGo: "progress.NoProgress"},
	{name: "observe", value: in(commandKeys), about: "a command whose output the model sees before its first turn, after each action and after each resumption", inGo: "pawl.Agent.Observer"},
	{name: "goal", value: in(goalKeys), about: "a number that says whether the work is done, whatever the model says", inGo: "pawl.Agent.Goal"},
	{name: "judge", value: in(judgeKeys), about: "who judges the run while it goes on", inGo: "pawl.Agent.Policies"},
	{name: "context", value: in(contextKeys), otherwise: "by price, where the model has one", about: "what the model sees of a long [conversation](context.md)", inGo: "window.Compact"},
	{name: "guard", value: in(guardKeys), about: "what may not go in and out of the model", inGo: "guard.New"},
	{name: "topics", value: in(topicKeys), about: "what is not to be spoken of", inGo: "guard.Topics"},
	{name: "hooks", value: hookList, about: "what watches the run from beside it", inGo: "engine.Options.Hooks"},
	{name: "webhooks", value: listOf(in(webhookKeys)), about: "who is [told](webhooks.md) of pauses and endings of its runs", inGo: "webhook.New"},
	{name: "cage", value: in(cageKeys), otherwise: "what the user may", about: "what the kernel holds commands and MCP servers to", inGo: "tool.CommandOptions.Cage"},
	{name: "fetch", value: in(fetchKeys), otherwise: "all public hosts", about: "where the builtin tool fetch may go", inGo: "fetch.Options"},
	{name: "providers", value: mapOf(in(providerKeys)), about: "how providers of models are asked, by name", inGo: "engine.Options.Rates"},
	{name: "triggers", value: listOf(in(triggerKeys)), about: "what [starts runs](triggers.md) of the agent where it is served", inGo: "spec.Trigger"},
	{name: "budgets", value: listOf(in(budgetKeys)), about: "what many runs together may spend in a [period](cost.md#budgets)", inGo: "engine.Options.Budgets"},
	{name: "prices", value: mapOf(in(priceKeys)), about: "what models cost, in place of the prices in the [model sheet](models.md)", inGo: "pawl.ModelInfo.Price"},
	{name: "price_staleness", value: oneOf("warn", "token-only", "refuse"), otherwise: "warn",
		about: "what to do when the [model sheet](models.md), which has the prices, is more than 30 days old: say so, do without prices, or refuse to run", inGo: "pawl.ModelInfo.Price"},
}}

// loopName is one of Pawl's loops, or the name of a registered one.
var loopName = func() shape {
	words := []string{"react", "single", "workflow", "graph"}
	return shape{says: "`react`, `single`, `workflow`, `graph`, or a name", words: words, schema: object{"type": "string", "examples": anyOf(words)}}
}()

var inputKeys = &table{name: "input", title: "input", about: "What to work on, with files.", keys: []key{
	{name: "text", value: aText, about: "the text", inGo: "engine.Engine.Start"},
	{name: "files", value: wordList, about: "[files](models.md#files) that the model gets with it, relative to the spec's directory", inGo: "engine.StartOptions.Files"},
}}

var modelKeys = &table{name: "model", title: "model", about: "The model, and how it is asked.", keys: []key{
	{name: "name", value: aModel, otherwise: "`--model`, or `PAWL_MODEL`", about: "the model", inGo: "pawl.Agent.Model"},
	{name: "temperature", value: aMeasure(false), otherwise: "the provider's", about: "how much chance there is in replies", inGo: "pawl.Sampling.Temperature"},
	{name: "max_tokens", value: aCount(1), otherwise: "what the model and the limits allow", about: "the most tokens of one reply, thinking included", inGo: "pawl.Sampling.MaxTokens"},
	{name: "effort", value: oneOf(pawl.Efforts...), otherwise: "the provider's", about: "how much the model thinks; a model that does not take the level gets the nearest that it takes", inGo: "pawl.Sampling.Effort"},
	{name: "cache", value: oneOf("auto", "5m", "1h", "off"), otherwise: "auto", about: "how long the provider keeps requests in its [cache](context.md#how-long-the-provider-keeps-it): what costs less, or always so long", inGo: "pawl.Sampling.Cache"},
	{name: "fallback", value: wordList, about: "models to turn to when this one cannot serve", inGo: "pawl.Agent.Fallback"},
}}

// ceilingKeys are the limits that a policy may also set.
var ceilingKeys = []key{
	{name: "iterations", value: shape{says: "whole number up to 10,000", schema: object{"type": "integer", "minimum": 1, "maximum": mostIterations}},
		otherwise: "20", about: "model turns", inGo: "pawl.Limits.Iterations"},
	{name: "tokens", value: aCount(1), otherwise: "500000", about: "tokens of all model calls, in and out", inGo: "pawl.Limits.Tokens"},
	{name: "time", value: aDuration, otherwise: "30m", about: "time while running, not while waiting", inGo: "pawl.Limits.Time"},
	{name: "cost", value: aMeasure(true), otherwise: "no ceiling", about: "dollars; the model must have a price", inGo: "pawl.Limits.Cost"},
	{name: "tool_errors", value: aCount(1), otherwise: "3", about: "turns in a row in which every call failed", inGo: "pawl.Limits.ToolErrors"},
	{name: "depth", value: aCount(1), otherwise: "10", about: "runs within runs", inGo: "pawl.Limits.Depth"},
}

var limitKeys = &table{name: "limits", title: "limits", about: "Ceilings. The first three are always there.", keys: append(ceilingKeys[:len(ceilingKeys):len(ceilingKeys)],
	key{name: "margin", value: shape{says: "fraction up to 10", schema: object{"type": "number", "exclusiveMinimum": 0, "maximum": mostMargin}},
		otherwise: "0.1", about: "what is added to what is estimated of a request's tokens; 3 has a token for each byte", inGo: "pawl.Limits.Margin"},
	key{name: "rounds", value: aCount(1), otherwise: "no cycles", about: "how often each node of a [graph](workflow.md#graphs) runs at most", inGo: "pawl.Limits.Rounds"},
	key{name: "handoffs", value: aCount(1), otherwise: "5", about: "how often a [conversation](command.md#conversations) may be handed over", inGo: "pawl.Limits.Handoffs"},
)}

var memoryKeys = &table{name: "memory", title: "memory", about: "What runs remember for later ones.", keys: []key{
	{name: "label", value: aText, otherwise: "the agent's own", about: "the label of runs whose value says whose memories they are, such as `user` or `tenant`", inGo: "tool.MemoryOptions.Label"},
	{name: "max", value: aCount(1), otherwise: "1000", about: "memories that there may be for one of them", inGo: "tool.MemoryOptions.Max"},
}}

var handoffKeys = &table{name: "handoff", title: "handoff", one: "a handoff", about: "An agent that the model may hand the conversation over to.", keys: []key{
	{name: "agent", needed: true, value: aText, about: "its spec, relative to this one. One that names no model has that of the first agent", inGo: "team.Handoff"},
	{name: "carry", value: carryWord, otherwise: "the model chooses, and `all` if it does not",
		about: "what the next agent sees: the whole conversation, what a person said last with a summary by the agent that hands over, or only what a person said last", inGo: "team.Options.Carry"},
}}

var approvalsKeys = &table{name: "approvals", title: "approvals", about: "Which calls wait for a person, and for how long.", keys: []key{
	{name: "ttl", value: aDuration, otherwise: "24h", about: "how long a decision may take, and be used", inGo: "pawl.Approvals.TTL"},
	{name: "on_deny", value: oneOf("tell", "stop"), otherwise: "tell", about: "tell the model, or end the run as denied", inGo: "pawl.Approvals.StopOnDeny"},
	{name: "gates", value: wordList, about: "names or patterns of tools whose calls are approved first", inGo: "approval.For"},
	{name: "observation", value: aFlag, otherwise: "true", about: "an approval is void, and asked for again, when the run has seen `observe` or `goal` change since it was asked for", inGo: "pawl.Approvals.IgnoreObservation"},
}}

var progressKeys = &table{name: "no_progress", title: "no_progress", about: "What being stuck is, and what is done about it.", keys: []key{
	{name: "window", value: aCount(0), otherwise: "3", about: "how often something must come round; 0 switches it off", inGo: "progress.NoProgress"},
	{name: "then", value: oneOf("fail", "escalate", "hint"), otherwise: "fail", about: "end the run, ask a person, or tell the model once", inGo: "progress.Then"},
	{name: "hint", value: aText, otherwise: "what the pattern suggests", about: "what the model is told before anything else", inGo: "progress.NoProgress"},
}}

var commandKeys = &table{name: "command", title: "command", about: "A program that looks at the world.", keys: []key{
	{name: "command", needed: true, value: argv, about: "the program and its arguments; there is no shell", inGo: "pawl.Agent.Observer"},
}}

var goalKeys = &table{name: "goal", title: "goal", about: "When the work is done, measured.", keys: []key{
	{name: "metric", needed: true, value: in(commandKeys), about: "a command that prints a number, or `{\"value\": N, \"open\": [\"id\", …]}`", inGo: "pawl.Goal.Metric"},
	{name: "success", needed: true, value: aCondition, about: "what the number must be, as in `metric >= 0`", inGo: "pawl.Goal.Success"},
}}

var judgeKeys = &table{name: "judge", title: "judge", about: "Who judges the run while it goes on.", keys: []key{
	{name: "reflexion", value: either(aFlag, in(reflexionKeys)), about: "gives the run a confidence and the model hints", inGo: "judge.Reflexion"},
	{name: "grounding", value: either(aFlag, in(groundingKeys)), about: "checks the final answer against what tools returned", inGo: "judge.Grounding"},
	{name: "causal", value: aFlag, otherwise: "false", about: "records what led to what", inGo: "judge.Causal"},
}}

var reflexionKeys = &table{name: "reflexion", title: "reflexion", about: "When the run is judged.", keys: []key{
	{name: "every", value: aCount(0), otherwise: "1", about: "after how many turns; 0: for the next two reasons only", inGo: "judge.ReflexionOptions.Every"},
	{name: "on_error", value: aFlag, otherwise: "true", about: "after a turn in which a call failed, too", inGo: "judge.ReflexionOptions.IgnoreErrors"},
	{name: "on_loop", value: aFlag, otherwise: "true", about: "after a turn that repeats one shortly before, too", inGo: "judge.ReflexionOptions.IgnoreLoops"},
	{name: "model", value: aModel, otherwise: "rules", about: "the model that judges", inGo: "judge.ReflexionOptions.Model"},
}}

var groundingKeys = &table{name: "grounding", title: "grounding", about: "How the final answer is checked ([more](governance.md#grounding)).", keys: []key{
	{name: "model", value: aModel, otherwise: "none; only values are checked", about: "the model that judges the claims of the answer", inGo: "judge.GroundingOptions.Model"},
	{name: "strict", value: aFlag, otherwise: "false; they are only hinted at", about: "rejects an answer with values that appear in no result, input or prompt", inGo: "judge.GroundingOptions.Strict"},
	{name: "replans", value: aCount(0), otherwise: "2", about: "answers that are rejected before the run fails; 0: no hint either", inGo: "judge.GroundingOptions.Replans"},
}}

var contextKeys = &table{name: "context", title: "context", about: "What the model sees of a long conversation.", keys: []key{
	{name: "keep", value: aCount(0), otherwise: "5", about: "the latest replies, with the results of their calls, that are never left out by price", inGo: "window.Options.Keep"},
	{name: "pins", value: wordList, about: "facts that stand in the prompt, which is never left out", inGo: "window.Pin"},
	{name: "max_tokens", value: aCount(1), otherwise: "what the model takes", about: "the most tokens of one request, as estimated", inGo: "window.Options.MaxTokens"},
	{name: "summary_model", value: aModel, otherwise: "the agent's own", about: "the model that writes summaries", inGo: "window.Options.Model"},
	{name: "compact", value: oneOf("price", "never"), otherwise: "price",
		about: "leave out what is old when carrying it costs more than that, or only when a limit demands it", inGo: "window.Options.Never"},
}}

var guardKeys = &table{name: "guard", title: "guard", about: "What may not go in and out of the model.", keys: []key{
	{name: "pii", value: guardWord, about: "personal data", inGo: "guard.PII"},
	{name: "secrets", value: guardWord, about: "what looks like a key", inGo: "guard.Secrets"},
	{name: "injection", value: guardWord, about: "what reads like instructions in results of tools", inGo: "guard.Injection"},
	{name: "topics", value: wordList, about: "words and phrases that end the run; `topics` at the top level says what else may become of it", inGo: "guard.Topics"},
	{name: "data_flow", value: aFlow, otherwise: "false", about: "once untrusted text was read, a person is asked before a call with what nobody who is trusted has named, or with `strict` before every call that does something ([more](governance.md#data-flow))", inGo: "guard.DataFlow"},
}}

var topicKeys = &table{name: "topics", title: "topics", about: "What is not to be spoken of.", keys: []key{
	{name: "deny", value: shape{says: wordList.says, schema: object{"type": "array", "minItems": 1, "items": anyText.schema}}, needed: true, about: "words and phrases", inGo: "guard.Topics"},
	{name: "then", value: oneOf("end", "retry"), otherwise: "end", about: "what becomes of the run: it ends as failed, or the reply is rejected and the model is asked again", inGo: "guard.Retry"},
}}

var guardWord = oneOf("redact", "block", "warn")

var (
	hookList = shape{says: "list of `log`, `retry`, `steer`, each bare or with [log](#log), [retry](#retry), [steer](#steer)",
		schema: object{"type": "array", "items": object{"anyOf": []any{
			object{"enum": anyOf(hookNames)},
			object{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties": object{
				"log": in(logKeys).schema, "retry": in(retryKeys).schema, "steer": in(steerKeys).schema,
			}},
		}}}, tables: []*table{logKeys, retryKeys, steerKeys}}
	hookNames = []string{"log", "retry", "steer"}
)

var logKeys = &table{name: "log", title: "log", about: "Every entry, to standard error.", keys: []key{
	{name: "format", value: oneOf("text", "json"), otherwise: "text", about: "lines for people, or JSON objects", inGo: "hook.Log"},
}}

var retryKeys = &table{name: "retry", title: "retry", about: "Has replies made again that are of no use.", keys: []key{
	{name: "attempts", value: aCount(1), otherwise: "3", about: "how often in a run", inGo: "hook.Retry"},
}}

var steerKeys = &table{name: "steer", title: "steer", about: "Has a model allow, refuse or hold each call.", keys: []key{
	{name: "policy", value: aText, otherwise: "a call must serve the task", about: "what calls are judged by", inGo: "judge.Steer"},
	{name: "model", value: aModel, otherwise: "the agent's own", about: "the model that judges", inGo: "judge.SteerOptions.Model"},
	{name: "writes_only", value: aFlag, otherwise: "false", about: "leave calls alone that only read", inGo: "judge.SteerOptions.WritesOnly"},
	{name: "ask", value: aFlag, otherwise: "true", about: "hold what is in doubt for a person, rather than refuse it", inGo: "judge.SteerOptions.Ask"},
}}

var webhookKeys = &table{name: "webhook", title: "a webhook", about: "A place that is told of runs.", keys: []key{
	{name: "url", needed: true, value: aText, about: "where notices are posted: https, or http on this machine", inGo: "webhook.Hook.URL"},
	{name: "secret", needed: true, value: anyText, about: "the variable that holds what notices are signed with; its value is a secret", inGo: "webhook.Hook.Secret"},
	{name: "events", value: eventList, otherwise: "all", about: "what it is told of", inGo: "webhook.Hook.Events"},
}}

// eventList is a list of events for a webhook.
var eventList = shape{says: "list of `" + strings.Join(webhook.EventNames, "`, `") + "`",
	schema: object{"type": "array", "minItems": 1, "uniqueItems": true, "items": object{"enum": anyOf(webhook.EventNames)}}}

var providerKeys = &table{name: "provider", title: "a provider", about: "A provider of models, and how it is asked. With a wire it is one of your own, such as a local server or a gateway.", keys: []key{
	{name: "wire", value: oneOf(wires...), about: "the API that it speaks, for a provider of your own", inGo: "spec.Endpoint.Wire"},
	{name: "base_url", value: anyText, about: "where it is, as the API's own client takes it: with /v1 for openai, the resource for azure", inGo: "spec.Endpoint.BaseURL"},
	{name: "key", value: anyText, otherwise: "none", about: "the variable of the environment that has its key; without it, the wire of a cloud has the login of the cloud", inGo: "spec.Endpoint.Key"},
	{name: "headers", value: mapOf(anyText), about: "headers to send with each request; not for secrets", inGo: "spec.Endpoint.Headers"},
	{name: "prices", value: mapOf(in(priceKeys)), otherwise: "the list prices of names in the [model sheet](models.md)", about: "what its models cost, by their names there", inGo: "spec.Endpoint.Prices"},
	{name: "price", value: oneOf("none"), about: "its other models have no price, even if the model sheet has one for the name", inGo: "spec.Endpoint.Unpriced"},
	{name: "rate", value: in(rateKeys), otherwise: "no limit", about: "the most that it is asked for, by all programs on the database [together](workers.md#rates)", inGo: "engine.Rate"},
}}

var rateKeys = &table{name: "rate", title: "a rate", about: "The most that a provider is asked for in a minute.", keys: []key{
	{name: "requests", value: aCount(1), otherwise: "no limit", about: "model calls", inGo: "engine.Rate.Requests"},
	{name: "tokens", value: aCount(1), otherwise: "no limit", about: "tokens of model calls, in and out", inGo: "engine.Rate.Tokens"},
}}

var triggerKeys = &table{name: "trigger", title: "a trigger", about: "What starts runs of the agent where `pawl serve` serves it: one of `cron`, `webhook` and `watch`.", keys: []key{
	{name: "cron", value: aText, about: "times, as minute, hour, day of the month, month and day of the week, or @hourly, @daily, @weekly, @monthly, @yearly", inGo: "spec.Trigger.Cron"},
	{name: "zone", value: aText, otherwise: "UTC", about: "of cron: whose clock, as in Europe/Berlin", inGo: "spec.Trigger.Zone"},
	{name: "missed", value: oneOf("skip", "once"), otherwise: "skip", about: "of cron: what to do about times that passed while no server was running: nothing, or start one run", inGo: "spec.Trigger.MakeUp"},
	{name: "webhook", value: aText, about: "a name: signed requests to /v1/triggers/NAME start a run, or signal one", inGo: "spec.Trigger.Webhook"},
	{name: "secret", value: aText, about: "of webhook, which needs it: the variable with what requests are signed with", inGo: "spec.Trigger.Secret"},
	{name: "sign", value: oneOf("standard", "github", "slack"), otherwise: "standard", about: "of webhook: how they are signed", inGo: "spec.Trigger.Sign"},
	{name: "when", value: mapOf(anyText), otherwise: "all requests", about: "of webhook: values that parts of the request must have", inGo: "spec.Trigger.When"},
	{name: "start", value: aText, otherwise: "the body", about: "of webhook: the input of the run", inGo: "spec.Trigger.Input"},
	{name: "signal", value: aText, about: "of webhook: a message to the run that was started under the same key", inGo: "spec.Trigger.Signal"},
	{name: "key", value: aText, otherwise: "the body", about: "of webhook: what has one run", inGo: "spec.Trigger.Key"},
	{name: "watch", value: aText, about: "a folder, relative to the spec's directory: each file there starts a run once", inGo: "spec.Trigger.Watch"},
	{name: "input", value: aText, otherwise: "that of the spec, or the file's name and text", about: "of cron and watch: the input of the run", inGo: "spec.Trigger.Input"},
}}

var budgetKeys = &table{name: "budget", title: "a budget", about: "What the runs with one value of a label may spend in a period, together.", keys: []key{
	{name: "label", value: aText, otherwise: "all runs share one budget", about: "the label whose values have a budget each; runs without it share one more", inGo: "budget.Budget.Label"},
	{name: "per", needed: true, value: oneOf("hour", "day", "month", "total"), about: "the period, in UTC", inGo: "budget.Budget.Per"},
	{name: "cost", value: aMeasure(true), otherwise: "no limit", about: "dollars; the models must have prices", inGo: "budget.Budget.Cost"},
	{name: "tokens", value: aCount(1), otherwise: "no limit", about: "tokens of model calls, in and out", inGo: "budget.Budget.Tokens"},
	{name: "then", value: oneOf("end", "wait"), otherwise: "end", about: "what a run does whose next call does not fit: end as exhausted, or wait for the next period", inGo: "budget.Budget.Wait"},
}}

var priceKeys = &table{name: "price", title: "a price", about: "Dollars a million tokens.", keys: []key{
	{name: "input", needed: true, value: aMeasure(false), about: "of the request", inGo: "pawl.Price.Input"},
	{name: "output", needed: true, value: aMeasure(false), about: "of the reply", inGo: "pawl.Price.Output"},
	{name: "cache_read", value: aMeasure(false), otherwise: "as input", about: "of the request, read from the provider's cache", inGo: "pawl.Price.CacheRead"},
	{name: "cache_write", value: aMeasure(false), otherwise: "as input", about: "of the request, written to it", inGo: "pawl.Price.CacheWrite"},
	{name: "cache_long", value: aMeasure(false), otherwise: "nothing is kept", about: "of the request, written to it to be kept for an hour", inGo: "pawl.Price.CacheLong"},
	{name: "web_search", value: aMeasure(false), otherwise: "unknown", about: "dollars of one [search by the provider](tools.md#hosted-tools)", inGo: "pawl.Price.Search"},
	{name: "code_session", value: aMeasure(false), otherwise: "nothing", about: "dollars of one session in which the [provider runs code](tools.md#hosted-tools)", inGo: "pawl.Price.Session"},
	{name: "long", value: in(longKeys), otherwise: "no other prices", about: "what requests with a long input cost", inGo: "pawl.Price.Long"},
}}

var longKeys = &table{name: "long", title: "long", one: "the price of long input", about: "Dollars a million tokens of a request, all of it, whose input is longer than `from`.", keys: []key{
	{name: "from", needed: true, value: aCount(1), about: "tokens of input, cached or not, that a request may have before it costs this", inGo: "pawl.Tier.From"},
	{name: "input", needed: true, value: aMeasure(false), about: "of the request", inGo: "pawl.Tier.Input"},
	{name: "output", needed: true, value: aMeasure(false), about: "of the reply", inGo: "pawl.Tier.Output"},
	{name: "cache_read", value: aMeasure(false), otherwise: "as input", about: "of the request, read from the provider's cache", inGo: "pawl.Tier.CacheRead"},
	{name: "cache_write", value: aMeasure(false), otherwise: "as input", about: "of the request, written to it", inGo: "pawl.Tier.CacheWrite"},
	{name: "cache_long", value: aMeasure(false), otherwise: "nothing is kept", about: "of the request, written to it to be kept for an hour", inGo: "pawl.Tier.CacheLong"},
}}

// The keys of a policy, which is not a spec and not part of its schema.
var (
	policyKeys = &table{name: "policy", title: "the policy", about: "What an organisation holds agents to.", keys: []key{
		{name: "limits", value: in(policyLimitKeys), about: "ceilings", inGo: "spec.Policy.Lower"},
		{name: "models", value: wordList, about: "the models that may be asked", inGo: "spec.Policy.Apply"},
		{name: "budgets", value: listOf(in(budgetKeys)), about: "what many runs together may spend", inGo: "spec.Policy.Budgets"},
		{name: "deny", value: wordList, about: "tools that never run", inGo: "approval.Never"},
		{name: "gates", value: listOf(either(aText, in(policyGateKeys))), about: "tools that are approved first", inGo: "approval.For"},
	}}
	policyLimitKeys = &table{name: "policy_limits", title: "limits", about: "Ceilings.", keys: ceilingKeys}
	policyGateKeys  = &table{name: "policy_gate", title: "gates", about: "A gate.", keys: []key{
		{name: "tool", value: aText, about: "the tool, or a pattern", inGo: "approval.For"},
		{name: "effect", value: effectWord, about: "all tools of an effect", inGo: "approval.ForEffect"},
		{name: "when", value: aCondition, about: "only calls whose arguments are such", inGo: "approval.When"},
	}}
)
