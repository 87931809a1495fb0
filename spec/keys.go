package spec

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/webhook"
)

// The keys of a spec.
var specKeys = &table{name: "spec", title: "the spec", about: "An agent.", keys: []key{
	{name: "name", needed: true, value: shape{says: "letters a-z, digits, -", schema: object{"type": "string", "pattern": "^[a-z0-9-]+$"}},
		about: "name of the agent", inGo: "pawl.Agent.Name"},
	{name: "description", value: aText, about: "purpose of the agent", inGo: "pawl.Agent.Description"},
	{name: "version", value: aText, about: "[version](upgrade.md) of the agent, recorded in its runs; several versions can be served together", inGo: "pawl.Agent.Version"},
	{name: "upgrade", value: oneOf("refuse", "compatible", "fork"), otherwise: "refuse", about: "[rule](upgrade.md#the-rule) for resuming a waiting run of another version under this agent", inGo: "engine.ResumeOptions.Upgrade"},
	{name: "labels", value: mapOf(anyText), about: "labels to find its runs by", inGo: "pawl.Agent.Labels"},
	{name: "model", value: either(aModel, in(modelKeys)), otherwise: "`--model`, or `PAWL_MODEL`",
		about: "`anthropic/…`, `openai/…`, `google/…`, `script:FILE`, `mechanic` or [another](models.md)", inGo: "pawl.Agent.Model"},
	{name: "prompt", value: aText, about: "system prompt", inGo: "pawl.Agent.Prompt"},
	{name: "input", value: either(aText, in(inputKeys)), about: "input of a run that is started without one", inGo: "engine.Engine.Start"},
	{name: "thread", value: aText, otherwise: "`--thread`, or none", about: "[conversation](command.md#conversations) that its runs continue", inGo: "engine.StartOptions.Thread"},
	{name: "loop", value: loopName, otherwise: "react", about: "model and tools in turn, one reply without tools, known steps, a graph of steps, or a loop that the program [registers](tools.md#your-own-pawl)", inGo: "pawl.Agent.Loop"},
	{name: "steps", value: stepList, about: "steps of a [workflow](workflow.md)", inGo: "workflow.New"},
	{name: "nodes", value: nodeMap, about: "nodes of a [graph](workflow.md#graphs)", inGo: "workflow.Graph"},
	{name: "edges", value: listOf(in(edgeKeys)), about: "edges of the graph", inGo: "workflow.Edge"},
	{name: "strategy", value: oneOf("native", "json"), otherwise: "native",
		about: "how the model calls tools: by its provider's own calls, or by one JSON object a turn with `thought`, `action` and `action_input`", inGo: "pawl.Agent.Strategy"},
	{name: "output", value: aSchema, about: "schema of the answer; the model is asked again until its answer fits", inGo: "pawl.Agent.Output"},
	{name: "env", value: wordList, about: "environment variables for commands; their values are [secrets](secrets.md)", inGo: "engine.Options.Secrets"},
	{name: "dir", value: aText, otherwise: "the spec's directory", about: "working directory of commands, relative to the spec's directory", inGo: "tool.CommandOptions.Dir"},
	{name: "tools", value: toolList, about: "tools that the model may call", inGo: "pawl.Agent.Tools"},
	{name: "tool_search", value: in(searchKeys), about: "the model [searches](tools.md#many-tools) for tools instead of seeing all of them", inGo: "pawl.Agent.Core"},
	{name: "handoffs", value: listOf(either(aText, in(handoffKeys))), about: "agents that can take over the [conversation](teams.md#handoff)", inGo: "team.Handoff"},
	{name: "board", value: aFlag, otherwise: "false", about: "share a [board of tasks](teams.md#swarm) with the agents among the tools", inGo: "team.Board"},
	{name: "memory", value: either(aFlag, in(memoryKeys)), about: "[remember](tools.md#memory) things for later runs", inGo: "tool.Memory"},
	{name: "builtins", value: aFlag, otherwise: "false",
		about: "offer `__complete__`, `__pause_for_human__`, `__store_memory__`, `__retrieve_memory__` and `__log_progress__`", inGo: "pawl.Agent.Builtins"},
	{name: "parallel", value: aFlag, otherwise: "true", about: "run the calls of one reply at the same time", inGo: "pawl.Agent.Serial"},
	{name: "max_parallel", value: aCount(1), otherwise: "10 commands, requests and MCP calls, and 256 others",
		about: "[calls at once](tools.md#calls-at-once) in a run", inGo: "pawl.Agent.MaxParallel"},
	{name: "trace", value: aFlag, otherwise: "false", about: "add the [reasoning trace](#the-reasoning-trace) to the result", inGo: "pawl.Agent.Trace"},
	{name: "skills", value: wordList, about: "[skills](#skills), or directories of them, relative to the spec's directory", inGo: "skill.Tool"},
	{name: "stop", value: aCondition, about: "ends the run when it holds, in addition to a complete answer", inGo: "pawl.Agent.Stop"},
	{name: "limits", value: in(limitKeys), about: "limits of a run", inGo: "pawl.Agent.Limits"},
	{name: "plan", value: aFlag, otherwise: "false", about: "only tools that read run until a person has approved the agent's [plan](governance.md#plan-mode)", inGo: "approval.Plan"},
	{name: "approvals", value: in(approvalsKeys), about: "[approval](governance.md#who-may-do-what) of calls by a person", inGo: "pawl.Agent.Approvals"},
	{name: "policies", value: wordList, about: "names of policies that the program [registers](tools.md#your-own-pawl)", inGo: "spec.Registry.Policies"},
	{name: "no_progress", value: in(progressKeys), otherwise: "window 3, then fail", about: "response to a run that [gets stuck](command.md#getting-stuck)", inGo: "progress.NoProgress"},
	{name: "observe", value: in(commandKeys), about: "command whose output the model sees before its first turn, after each action and after each resumption", inGo: "pawl.Agent.Observer"},
	{name: "goal", value: in(goalKeys), about: "measured number that decides whether the work is done, whatever the model says", inGo: "pawl.Agent.Goal"},
	{name: "judge", value: in(judgeKeys), about: "[judges](governance.md#judgement) of the run", inGo: "pawl.Agent.Policies"},
	{name: "context", value: in(contextKeys), otherwise: "by price, if the model has one", about: "shortening of long [conversations](context.md)", inGo: "window.Compact"},
	{name: "guard", value: in(guardKeys), about: "checks of the text that the model reads and writes", inGo: "guard.New"},
	{name: "topics", value: in(topicKeys), about: "topics that the agent must refuse", inGo: "guard.Topics"},
	{name: "hooks", value: hookList, about: "[hooks](governance.md#hooks) that watch the run", inGo: "engine.Options.Hooks"},
	{name: "webhooks", value: listOf(in(webhookKeys)), about: "receivers of [notices](webhooks.md) that a run waits or has ended", inGo: "webhook.New"},
	{name: "cage", value: in(cageKeys), otherwise: "none", about: "[restrictions](tools.md#the-cage) that the kernel enforces on commands and MCP servers", inGo: "tool.CommandOptions.Cage"},
	{name: "fetch", value: in(fetchKeys), otherwise: "all public hosts", about: "hosts that the tool `fetch` may read", inGo: "fetch.Options"},
	{name: "providers", value: mapOf(in(providerKeys)), about: "how models are called, by the name of their provider", inGo: "engine.Options.Rates"},
	{name: "triggers", value: listOf(in(triggerKeys)), about: "[events](triggers.md) that start runs of a served agent", inGo: "spec.Trigger"},
	{name: "budgets", value: listOf(in(budgetKeys)), about: "[limits](cost.md#budgets) on many runs together", inGo: "engine.Options.Budgets"},
	{name: "prices", value: mapOf(in(priceKeys)), about: "prices by model, instead of those in the [model sheet](models.md)", inGo: "pawl.ModelInfo.Price"},
	{name: "price_staleness", value: oneOf("warn", "token-only", "refuse"), otherwise: "warn",
		about: "when the [model sheet](models.md) is more than 30 days old: warn, use no prices of it, or refuse to run", inGo: "pawl.ModelInfo.Price"},
}}

// loopName is one of Pawl's loops, or the name of a registered one.
var loopName = func() shape {
	words := []string{"react", "single", "workflow", "graph"}
	return shape{says: "`react`, `single`, `workflow`, `graph`, or a name", words: words, schema: object{"type": "string", "examples": anyOf(words)}}
}()

var inputKeys = &table{name: "input", title: "input", about: "An input with files.", keys: []key{
	{name: "text", value: aText, about: "the text", inGo: "engine.Engine.Start"},
	{name: "files", value: wordList, about: "[files](models.md#files) for the model, relative to the spec's directory", inGo: "engine.StartOptions.Files"},
}}

var modelKeys = &table{name: "model", title: "model", about: "A model and its settings.", keys: []key{
	{name: "name", value: aModel, otherwise: "`--model`, or `PAWL_MODEL`", about: "the model", inGo: "pawl.Agent.Model"},
	{name: "temperature", value: aMeasure(false), otherwise: "the provider's", about: "randomness of replies", inGo: "pawl.Sampling.Temperature"},
	{name: "max_tokens", value: aCount(1), otherwise: "what the model and the limits allow", about: "most tokens of one reply, including thinking", inGo: "pawl.Sampling.MaxTokens"},
	{name: "effort", value: oneOf(pawl.Efforts...), otherwise: "the provider's", about: "amount of thinking; a model without this level gets the nearest one", inGo: "pawl.Sampling.Effort"},
	{name: "cache", value: oneOf("auto", "5m", "1h", "off"), otherwise: "auto", about: "how long the provider keeps requests in its [cache](context.md#how-long-the-provider-keeps-it); `auto` takes the cheapest", inGo: "pawl.Sampling.Cache"},
	{name: "fallback", value: wordList, about: "models to use when this one is unavailable", inGo: "pawl.Agent.Fallback"},
}}

// ceilingKeys are the limits that a policy may also set.
var ceilingKeys = []key{
	{name: "iterations", value: shape{says: "integer up to 10,000", schema: object{"type": "integer", "minimum": 1, "maximum": mostIterations}},
		otherwise: "20", about: "model turns", inGo: "pawl.Limits.Iterations"},
	{name: "tokens", value: aCount(1), otherwise: "500000", about: "input and output tokens of all model calls", inGo: "pawl.Limits.Tokens"},
	{name: "time", value: aDuration, otherwise: "30m", about: "running time; waiting does not count", inGo: "pawl.Limits.Time"},
	{name: "cost", value: aMeasure(true), otherwise: "no limit", about: "dollars; the model must have a price", inGo: "pawl.Limits.Cost"},
	{name: "tool_errors", value: aCount(1), otherwise: "3", about: "consecutive turns in which every call failed", inGo: "pawl.Limits.ToolErrors"},
	{name: "depth", value: aCount(1), otherwise: "10", about: "nesting of child runs", inGo: "pawl.Limits.Depth"},
}

var limitKeys = &table{name: "limits", title: "limits", about: "Limits of a run. The first three always apply.", keys: append(ceilingKeys[:len(ceilingKeys):len(ceilingKeys)],
	key{name: "margin", value: shape{says: "fraction up to 10", schema: object{"type": "number", "exclusiveMinimum": 0, "maximum": mostMargin}},
		otherwise: "0.1", about: "addition to the estimated tokens of a request, as a fraction of the estimate", inGo: "pawl.Limits.Margin"},
	key{name: "rounds", value: aCount(1), otherwise: "no cycles", about: "runs of each node of a [graph](workflow.md#graphs)", inGo: "pawl.Limits.Rounds"},
	key{name: "handoffs", value: aCount(1), otherwise: "5", about: "handoffs of a [conversation](command.md#conversations)", inGo: "pawl.Limits.Handoffs"},
)}

var memoryKeys = &table{name: "memory", title: "memory", about: "Memories for later runs.", keys: []key{
	{name: "label", value: aText, otherwise: "the agent's own", about: "label whose value owns the memories, such as `user` or `tenant`", inGo: "tool.MemoryOptions.Label"},
	{name: "max", value: aCount(1), otherwise: "1000", about: "most memories of one owner", inGo: "tool.MemoryOptions.Max"},
}}

var handoffKeys = &table{name: "handoff", title: "handoff", one: "a handoff", about: "An agent that can take over the conversation.", keys: []key{
	{name: "agent", needed: true, value: aText, about: "spec of the agent, relative to this one; without a model it uses that of the first agent", inGo: "team.Handoff"},
	{name: "carry", value: carryWord, otherwise: "the model chooses, and `all` if it does not",
		about: "the next agent sees the whole conversation, the person's last message with a summary by this agent, or only the person's last message", inGo: "team.Options.Carry"},
}}

var approvalsKeys = &table{name: "approvals", title: "approvals", about: "Calls that wait for a person.", keys: []key{
	{name: "ttl", value: aDuration, otherwise: "24h", about: "time to decide on a call and use the decision", inGo: "pawl.Approvals.TTL"},
	{name: "on_deny", value: oneOf("tell", "stop"), otherwise: "tell", about: "tell the model, or end the run as denied", inGo: "pawl.Approvals.StopOnDeny"},
	{name: "gates", value: wordList, about: "names or patterns of tools that need approval", inGo: "approval.For"},
	{name: "observation", value: aFlag, otherwise: "true", about: "void an approval, and ask again, if `observe` or `goal` changed since the request", inGo: "pawl.Approvals.IgnoreObservation"},
}}

var progressKeys = &table{name: "no_progress", title: "no_progress", about: "Response to a run that is stuck.", keys: []key{
	{name: "window", value: aCount(0), otherwise: "3", about: "repetitions that count as stuck; 0 turns detection off", inGo: "progress.NoProgress"},
	{name: "then", value: oneOf("fail", "escalate", "hint"), otherwise: "fail", about: "end the run, ask a person, or give the model one hint", inGo: "progress.Then"},
	{name: "hint", value: aText, otherwise: "what the pattern suggests", about: "text that the model gets first", inGo: "progress.NoProgress"},
}}

var commandKeys = &table{name: "command", title: "command", about: "A program that observes or measures.", keys: []key{
	{name: "command", needed: true, value: argv, about: "program and arguments, without a shell", inGo: "pawl.Agent.Observer"},
}}

var goalKeys = &table{name: "goal", title: "goal", about: "A measured end of the work.", keys: []key{
	{name: "metric", needed: true, value: in(commandKeys), about: "prints a number, or `{\"value\": N, \"open\": [\"id\", …]}`", inGo: "pawl.Goal.Metric"},
	{name: "success", needed: true, value: aCondition, about: "condition on the number, such as `metric >= 0`", inGo: "pawl.Goal.Success"},
}}

var judgeKeys = &table{name: "judge", title: "judge", about: "Judges of a run.", keys: []key{
	{name: "reflexion", value: either(aFlag, in(reflexionKeys)), about: "gives the run a confidence and the model hints", inGo: "judge.Reflexion"},
	{name: "grounding", value: either(aFlag, in(groundingKeys)), about: "checks the final answer against the results of tools", inGo: "judge.Grounding"},
	{name: "causal", value: aFlag, otherwise: "false", about: "records causes and effects", inGo: "judge.Causal"},
}}

var reflexionKeys = &table{name: "reflexion", title: "reflexion", about: "When the run is judged.", keys: []key{
	{name: "every", value: aCount(0), otherwise: "1", about: "turns between judgements; 0: only for the next two reasons", inGo: "judge.ReflexionOptions.Every"},
	{name: "on_error", value: aFlag, otherwise: "true", about: "also after a turn with a failed call", inGo: "judge.ReflexionOptions.IgnoreErrors"},
	{name: "on_loop", value: aFlag, otherwise: "true", about: "also after a turn that repeats a recent one", inGo: "judge.ReflexionOptions.IgnoreLoops"},
	{name: "model", value: aModel, otherwise: "rules", about: "model that judges", inGo: "judge.ReflexionOptions.Model"},
}}

var groundingKeys = &table{name: "grounding", title: "grounding", about: "The check of the final [answer](governance.md#grounding).", keys: []key{
	{name: "model", value: aModel, otherwise: "none; only values are checked", about: "model that judges the claims of the answer", inGo: "judge.GroundingOptions.Model"},
	{name: "strict", value: aFlag, otherwise: "false; the model gets a hint", about: "reject an answer with values that appear in no result, input or prompt", inGo: "judge.GroundingOptions.Strict"},
	{name: "replans", value: aCount(0), otherwise: "2", about: "rejected answers before the run fails; 0: no hint either", inGo: "judge.GroundingOptions.Replans"},
}}

var contextKeys = &table{name: "context", title: "context", about: "What the model sees of a long conversation.", keys: []key{
	{name: "keep", value: aCount(0), otherwise: "5", about: "latest replies, with the results of their calls, that are never left out by price", inGo: "window.Options.Keep"},
	{name: "pins", value: wordList, about: "facts for the prompt, which is never left out", inGo: "window.Pin"},
	{name: "max_tokens", value: aCount(1), otherwise: "the model's limit", about: "most estimated tokens of one request", inGo: "window.Options.MaxTokens"},
	{name: "summary_model", value: aModel, otherwise: "the agent's own", about: "model that writes summaries", inGo: "window.Options.Model"},
	{name: "compact", value: oneOf("price", "never"), otherwise: "price",
		about: "leave out old parts when that is cheaper, or only when a limit demands it", inGo: "window.Options.Never"},
}}

var guardKeys = &table{name: "guard", title: "guard", about: "Checks of the text that the model reads and writes.", keys: []key{
	{name: "pii", value: guardWord, about: "personal data", inGo: "guard.PII"},
	{name: "secrets", value: guardWord, about: "text that looks like a key", inGo: "guard.Secrets"},
	{name: "injection", value: guardWord, about: "instructions in results of tools", inGo: "guard.Injection"},
	{name: "topics", value: wordList, about: "words and phrases that end the run; see also [topics](#topics)", inGo: "guard.Topics"},
	{name: "data_flow", value: aFlow, otherwise: "false", about: "after untrusted text was read, a person approves each call that acts with values that no trusted text names; `strict`: each call that acts ([more](governance.md#data-flow))", inGo: "guard.DataFlow"},
}}

var topicKeys = &table{name: "topics", title: "topics", about: "Topics that the agent must refuse.", keys: []key{
	{name: "deny", value: shape{says: wordList.says, schema: object{"type": "array", "minItems": 1, "items": anyText.schema}}, needed: true, about: "words and phrases", inGo: "guard.Topics"},
	{name: "then", value: oneOf("end", "retry"), otherwise: "end", about: "end the run as failed, or reject the reply and ask the model again", inGo: "guard.Retry"},
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

var logKeys = &table{name: "log", title: "log", about: "Prints every entry to standard error.", keys: []key{
	{name: "format", value: oneOf("text", "json"), otherwise: "text", about: "lines for people, or JSON objects", inGo: "hook.Log"},
}}

var retryKeys = &table{name: "retry", title: "retry", about: "Repeats useless replies of the model.", keys: []key{
	{name: "attempts", value: aCount(1), otherwise: "3", about: "repetitions in a run", inGo: "hook.Retry"},
}}

var steerKeys = &table{name: "steer", title: "steer", about: "A model allows, refuses or holds each call.", keys: []key{
	{name: "policy", value: aText, otherwise: "a call must serve the task", about: "rule for the judgement", inGo: "judge.Steer"},
	{name: "model", value: aModel, otherwise: "the agent's own", about: "model that judges", inGo: "judge.SteerOptions.Model"},
	{name: "writes_only", value: aFlag, otherwise: "false", about: "skip calls that only read", inGo: "judge.SteerOptions.WritesOnly"},
	{name: "ask", value: aFlag, otherwise: "true", about: "hold doubtful calls for a person instead of refusing them", inGo: "judge.SteerOptions.Ask"},
}}

var webhookKeys = &table{name: "webhook", title: "a webhook", about: "A receiver of notices about runs.", keys: []key{
	{name: "url", needed: true, value: aText, about: "https, or http on this machine", inGo: "webhook.Hook.URL"},
	{name: "secret", needed: true, value: anyText, about: "variable with the signing secret", inGo: "webhook.Hook.Secret"},
	{name: "events", value: eventList, otherwise: "all", about: "notices to send", inGo: "webhook.Hook.Events"},
}}

// eventList is a list of events for a webhook.
var eventList = shape{says: "list of `" + strings.Join(webhook.EventNames, "`, `") + "`",
	schema: object{"type": "array", "minItems": 1, "uniqueItems": true, "items": object{"enum": anyOf(webhook.EventNames)}}}

var providerKeys = &table{name: "provider", title: "a provider", about: "How a provider is called. One with a `wire` is your own, such as a local server or a gateway.", keys: []key{
	{name: "wire", value: oneOf(wires...), about: "API of your own provider", inGo: "spec.Endpoint.Wire"},
	{name: "base_url", value: anyText, about: "URL as the API's own client takes it: with `/v1` for openai, the resource for azure", inGo: "spec.Endpoint.BaseURL"},
	{name: "key", value: anyText, otherwise: "none", about: "variable with the key; without it, a cloud wire uses the cloud's login", inGo: "spec.Endpoint.Key"},
	{name: "headers", value: mapOf(anyText), about: "headers of each request; not for secrets", inGo: "spec.Endpoint.Headers"},
	{name: "prices", value: mapOf(in(priceKeys)), otherwise: "those of the [model sheet](models.md)", about: "prices of its models", inGo: "spec.Endpoint.Prices"},
	{name: "price", value: oneOf("none"), about: "other models have no price, even if the model sheet has one", inGo: "spec.Endpoint.Unpriced"},
	{name: "rate", value: in(rateKeys), otherwise: "no limit", about: "limit for all programs on the database [together](workers.md#rates)", inGo: "engine.Rate"},
}}

var rateKeys = &table{name: "rate", title: "a rate", about: "Limits for each minute.", keys: []key{
	{name: "requests", value: aCount(1), otherwise: "no limit", about: "model calls", inGo: "engine.Rate.Requests"},
	{name: "tokens", value: aCount(1), otherwise: "no limit", about: "input and output tokens", inGo: "engine.Rate.Tokens"},
}}

var triggerKeys = &table{name: "trigger", title: "a trigger", about: "Starts runs of the agent while `pawl serve` serves it. A trigger has one of `cron`, `webhook` and `watch`.", keys: []key{
	{name: "cron", value: aText, about: "minute, hour, day of the month, month and day of the week, or @hourly, @daily, @weekly, @monthly, @yearly", inGo: "spec.Trigger.Cron"},
	{name: "zone", value: aText, otherwise: "UTC", about: "time zone of `cron`, such as Europe/Berlin", inGo: "spec.Trigger.Zone"},
	{name: "missed", value: oneOf("skip", "once"), otherwise: "skip", about: "with `cron`, for times that passed while no server ran: do nothing, or start one run", inGo: "spec.Trigger.MakeUp"},
	{name: "webhook", value: aText, about: "name; signed requests to `/v1/triggers/NAME` start or signal a run", inGo: "spec.Trigger.Webhook"},
	{name: "secret", value: aText, about: "variable with the signing secret, required with `webhook`", inGo: "spec.Trigger.Secret"},
	{name: "sign", value: oneOf("standard", "github", "slack"), otherwise: "standard", about: "signature scheme of `webhook`", inGo: "spec.Trigger.Sign"},
	{name: "when", value: mapOf(anyText), otherwise: "all requests", about: "with `webhook`, values that parts of the request must have", inGo: "spec.Trigger.When"},
	{name: "start", value: aText, otherwise: "the body", about: "with `webhook`, input of the run", inGo: "spec.Trigger.Input"},
	{name: "signal", value: aText, about: "with `webhook`, message to the run with the same key", inGo: "spec.Trigger.Signal"},
	{name: "key", value: aText, otherwise: "the body", about: "with `webhook`, deliveries with the same key belong to the same run", inGo: "spec.Trigger.Key"},
	{name: "watch", value: aText, about: "directory, relative to the spec's directory; each file in it starts a run once", inGo: "spec.Trigger.Watch"},
	{name: "input", value: aText, otherwise: "the spec's, or the file's name and text", about: "with `cron` and `watch`, input of the run", inGo: "spec.Trigger.Input"},
}}

var budgetKeys = &table{name: "budget", title: "a budget", about: "A limit on the runs with one value of a label.", keys: []key{
	{name: "label", value: aText, otherwise: "all runs share one budget", about: "label whose values have a budget each; runs without the label share one", inGo: "budget.Budget.Label"},
	{name: "per", needed: true, value: oneOf("hour", "day", "month", "total"), about: "period, in UTC", inGo: "budget.Budget.Per"},
	{name: "cost", value: aMeasure(true), otherwise: "no limit", about: "dollars; the models must have prices", inGo: "budget.Budget.Cost"},
	{name: "tokens", value: aCount(1), otherwise: "no limit", about: "input and output tokens", inGo: "budget.Budget.Tokens"},
	{name: "then", value: oneOf("end", "wait"), otherwise: "end", about: "when the next call does not fit, the run ends as exhausted, or waits for the next period", inGo: "budget.Budget.Wait"},
}}

var priceKeys = &table{name: "price", title: "a price", about: "Dollars per million tokens.", keys: []key{
	{name: "input", needed: true, value: aMeasure(false), about: "input", inGo: "pawl.Price.Input"},
	{name: "output", needed: true, value: aMeasure(false), about: "output", inGo: "pawl.Price.Output"},
	{name: "cache_read", value: aMeasure(false), otherwise: "as input", about: "input from the provider's cache", inGo: "pawl.Price.CacheRead"},
	{name: "cache_write", value: aMeasure(false), otherwise: "as input", about: "input written to the cache", inGo: "pawl.Price.CacheWrite"},
	{name: "cache_long", value: aMeasure(false), otherwise: "nothing is kept", about: "input written to the cache for an hour", inGo: "pawl.Price.CacheLong"},
	{name: "web_search", value: aMeasure(false), otherwise: "unknown", about: "dollars per [search by the provider](tools.md#hosted-tools)", inGo: "pawl.Price.Search"},
	{name: "code_session", value: aMeasure(false), otherwise: "nothing", about: "dollars per session in which the [provider runs code](tools.md#hosted-tools)", inGo: "pawl.Price.Session"},
	{name: "long", value: in(longKeys), otherwise: "no other prices", about: "prices of requests with long input", inGo: "pawl.Price.Long"},
}}

var longKeys = &table{name: "long", title: "long", one: "the price of long input", about: "Prices of a whole request whose input is longer than `from`.", keys: []key{
	{name: "from", needed: true, value: aCount(1), about: "input tokens, cached or not, before these prices apply", inGo: "pawl.Tier.From"},
	{name: "input", needed: true, value: aMeasure(false), about: "input", inGo: "pawl.Tier.Input"},
	{name: "output", needed: true, value: aMeasure(false), about: "output", inGo: "pawl.Tier.Output"},
	{name: "cache_read", value: aMeasure(false), otherwise: "as input", about: "input from the provider's cache", inGo: "pawl.Tier.CacheRead"},
	{name: "cache_write", value: aMeasure(false), otherwise: "as input", about: "input written to the cache", inGo: "pawl.Tier.CacheWrite"},
	{name: "cache_long", value: aMeasure(false), otherwise: "nothing is kept", about: "input written to the cache for an hour", inGo: "pawl.Tier.CacheLong"},
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
