package spec

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/webhook"
	"github.com/pawl-run/pawl/workflow"
)

// The mappings of a spec, one struct for each. The published schema, the check of a spec and the
// reference come from them. A field without omitempty is required. These tags say the rest:
//
//	about    the meaning of the key, as a sentence without the full stop; 'x' is code
//	usual    the value of a key that is missing
//	such     an example of the value, for problems
//	enum     the words that are allowed
//	min, max, above  bounds of a number or of the length of a list; a whole number is at least 1
//	format   the form of a text; see [formats]
//	unique   the items of a list are names, each of them once
//	with     other keys, one of which the mapping must have, too
//
// The embedded mark has the tags of the mapping itself: def is its name in the schema, title its name
// in problems, and short what may stand in its place: the key whose value a text is (short:"name"),
// true for a mapping without keys (short:"true"), a word for the same (short:"=required"), or a
// text that names the only key (short:"key"). one lists keys of which a mapping has exactly one.
type agentSpec struct {
	mark `def:"spec" title:"the spec" about:"An agent."`

	Name           string                   `json:"name" format:"agent" such:"support" about:"name of the agent"`
	Description    string                   `json:"description,omitempty" about:"purpose of the agent"`
	Version        string                   `json:"version,omitempty" about:"[version](upgrade.md) of the agent, recorded in its runs; several versions can be served together"`
	Upgrade        engine.Upgrade           `json:"upgrade,omitempty" enum:"refuse,compatible,fork" usual:"refuse" about:"[rule](upgrade.md#the-rule) for resuming a waiting run of another version under this agent"`
	Labels         map[string]string        `json:"labels,omitempty" such:"{team: ops}" about:"labels to find its runs by"`
	Model          modelSpec                `json:"model,omitempty" usual:"'--model', 'PAWL_MODEL', or that of the provider whose key is set" about:"'anthropic/…', 'openai/…', 'google/…', 'script:FILE', 'mechanic' or [another](models.md)"`
	Prompt         string                   `json:"prompt,omitempty" about:"system prompt"`
	Input          Input                    `json:"input,omitempty" about:"input of a run that is started without one"`
	Thread         string                   `json:"thread,omitempty" usual:"'--thread', or none" about:"[conversation](command.md#conversations) that its runs continue"`
	Loop           string                   `json:"loop,omitempty" usual:"react" about:"'react' (model and tools in turn), 'single' (one reply without tools), 'workflow' (known steps), 'graph' (a graph of steps), or a loop that the program [registers](tools.md#your-own-pawl)"`
	Steps          []workflow.Step          `json:"steps,omitempty" min:"1" such:"[{id: ask, single: {prompt: …}}]" about:"steps of a [workflow](workflow.md)"`
	Nodes          map[string]workflow.Step `json:"nodes,omitempty" such:"{ask: {single: {prompt: …}}}" about:"nodes of a [graph](workflow.md#graphs): steps without their 'id', by it"`
	Edges          []workflow.Edge          `json:"edges,omitempty" such:"[{from: ask, to: answer}]" about:"edges of the graph"`
	Strategy       pawl.Strategy            `json:"strategy,omitempty" enum:"native,json" usual:"native" about:"how the model calls tools: by its provider's own calls, or by one JSON object a turn with 'thought', 'action' and 'action_input'"`
	Output         json.RawMessage          `json:"output,omitempty" about:"schema of the answer; the model is asked again until its answer fits"`
	Env            []string                 `json:"env,omitempty" format:"variable" such:"[LEDGER_TOKEN]" about:"environment variables for commands; their values are [secrets](secrets.md)"`
	Dir            string                   `json:"dir,omitempty" usual:"the spec's directory" about:"working directory of commands, relative to the spec's directory"`
	Tools          []toolEntry              `json:"tools,omitempty" such:"[{builtin: [ask_human]}]" about:"tools that the model may call"`
	ToolSearch     *searchSpec              `json:"tool_search,omitempty" about:"the model [searches](tools.md#many-tools) for tools instead of seeing all of them"`
	Handoffs       []handoffSpec            `json:"handoffs,omitempty" such:"[./billing.yaml]" about:"agents that can take over the [conversation](teams.md#handoff)"`
	Board          bool                     `json:"board,omitempty" about:"share a [board of tasks](teams.md#swarm) with the agents among the tools"`
	Memory         *tool.MemoryOptions      `json:"memory,omitempty" such:"{label: user}" about:"[remember](tools.md#memory) things for later runs"`
	Builtins       bool                     `json:"builtins,omitempty" about:"offer '__complete__', '__pause_for_human__', '__store_memory__', '__retrieve_memory__' and '__log_progress__'"`
	Parallel       bool                     `json:"parallel,omitempty" usual:"true" about:"run the calls of one reply at the same time"`
	MaxParallel    int                      `json:"max_parallel,omitempty" such:"10" usual:"10 commands, requests and MCP calls, and 256 others" about:"[calls at once](tools.md#calls-at-once) in a run"`
	Instructions   string                   `json:"instructions,omitempty" enum:"agents.md" about:"[AGENTS.md](chat.md#agentsmd) of 'dir' is part of the prompt; of a directory that is not trusted, a tool reads it as untrusted text"`
	Trace          bool                     `json:"trace,omitempty" about:"add the [reasoning trace](#the-reasoning-trace) to the result"`
	Skills         []string                 `json:"skills,omitempty" such:"[./skills]" about:"[skills](#skills), or directories of them, relative to the spec's directory"`
	Stop           string                   `json:"stop,omitempty" format:"condition" such:"iterations >= 10" about:"ends the run when it holds, in addition to a complete answer"`
	Limits         pawl.Limits              `json:"limits,omitempty" about:"limits of a run"`
	Plan           bool                     `json:"plan,omitempty" about:"only tools that read run until a person has approved the agent's [plan](governance.md#plan-mode)"`
	Approvals      approvalsSpec            `json:"approvals,omitempty" about:"[approval](governance.md#who-may-do-what) of calls by a person"`
	Policies       []string                 `json:"policies,omitempty" such:"[house-rules]" about:"names of policies that the program [registers](tools.md#your-own-pawl)"`
	NoProgress     *progressSpec            `json:"no_progress,omitempty" usual:"window 3, then fail" about:"response to a run that [gets stuck](command.md#getting-stuck)"`
	Observe        *commandSpec             `json:"observe,omitempty" about:"command whose output the model sees before its first turn, after each action and after each resumption"`
	Goal           *goalSpec                `json:"goal,omitempty" about:"measured number that decides whether the work is done, whatever the model says"`
	Judge          judgeSpec                `json:"judge,omitempty" about:"[judges](governance.md#judgement) of the run"`
	Context        *contextSpec             `json:"context,omitempty" usual:"by price, if the model has one" about:"shortening of long [conversations](context.md)"`
	Guard          guardSpec                `json:"guard,omitempty" about:"checks of the text that the model reads and writes"`
	Topics         *topicsSpec              `json:"topics,omitempty" about:"topics that the agent must refuse"`
	Hooks          []Hook                   `json:"hooks,omitempty" such:"[log, {retry: {attempts: 3}}, {steer: {policy: Never write to anybody outside the company.}}]" about:"[hooks](governance.md#hooks) that watch the run"`
	Webhooks       []webhook.Hook           `json:"webhooks,omitempty" such:"[{url: https://hooks.example.org/pawl, secret: HOOK_SECRET}]" about:"receivers of [notices](webhooks.md) that a run waits or has ended"`
	Cage           *cageSpec                `json:"cage,omitempty" about:"[restrictions](tools.md#the-cage) that the kernel enforces on commands and MCP servers"`
	Fetch          fetch.Options            `json:"fetch,omitempty" usual:"all public hosts" about:"hosts that the tool 'fetch' may read"`
	Providers      map[string]Endpoint      `json:"providers,omitempty" such:"{anthropic: {rate: {requests: 50, tokens: 30000}}}" about:"how models are called, by the name of their provider"`
	Triggers       []Trigger                `json:"triggers,omitempty" such:"[{cron: \"0 8 * * 1-5\", input: Good morning.}]" about:"[events](triggers.md) that start runs of a served agent"`
	Budgets        []budgetSpec             `json:"budgets,omitempty" such:"[{label: tenant, per: day, cost: 50}]" about:"[limits](cost.md#budgets) on many runs together"`
	Prices         map[string]pawl.Price    `json:"prices,omitempty" such:"{my-model: {input: 1.0, output: 4.0}}" about:"prices by model, instead of those in the [model sheet](models.md)"`
	PriceStaleness string                   `json:"price_staleness,omitempty" enum:"warn,token-only,refuse" usual:"warn" about:"when the [model sheet](models.md) is more than 30 days old: warn, use no prices of it, or refuse to run"`
}

// An Input is the default input of a spec: a text, with the absolute paths of its files.
type Input struct {
	mark `def:"input" title:"input" short:"text" about:"An input with files."`

	Text  string   `json:"text,omitempty" about:"the text"`
	Files []string `json:"files,omitempty" such:"[invoice.pdf]" about:"[files](models.md#files) for the model, relative to the spec's directory"`
}

type modelSpec struct {
	mark `def:"model" title:"model" short:"name" about:"A model and its settings."`

	Name        string   `json:"name,omitempty" such:"anthropic/claude-sonnet-5-5" usual:"'--model', 'PAWL_MODEL', or that of the provider whose key is set" about:"the model, as PROVIDER/NAME"`
	Temperature *float64 `json:"temperature,omitempty" such:"0.2" usual:"the provider's" about:"randomness of replies"`
	MaxTokens   int      `json:"max_tokens,omitempty" such:"16384" usual:"what the model and the limits allow" about:"most tokens of one reply, including thinking"`
	Effort      string   `json:"effort,omitempty" enum:"none,minimal,low,medium,high,xhigh,max" usual:"the provider's" about:"amount of thinking; a model without this level gets the nearest one"`
	Cache       string   `json:"cache,omitempty" enum:"auto,5m,1h,off" usual:"auto" about:"how long the provider keeps requests in its [cache](context.md#how-long-the-provider-keeps-it); 'auto' takes the cheapest"`
	Fallback    []string `json:"fallback,omitempty" such:"[openai/gpt-6.2-sol]" about:"models to use when this one is unavailable"`
	Demo        string   `json:"demo,omitempty" such:"agent.script.yaml" about:"a [script](scripts.md) that is the model if none is named and no provider's key is set"`
}

type searchSpec struct {
	mark `def:"tool_search" title:"tool_search" about:"The model finds tools with the tool 'tool_search'."`

	Core []string `json:"core,omitempty" such:"[read_page]" about:"tools that it always sees; '*' stands for any characters"`
}

type handoffSpec struct {
	mark `def:"handoff" title:"a handoff" short:"agent" about:"An agent that can take over the conversation."`

	Agent string `json:"agent" such:"./billing.yaml" about:"spec of the agent, relative to this one; without a model it uses that of the first agent"`
	Carry string `json:"carry,omitempty" enum:"all,summary,last" usual:"the model chooses, and 'all' if it does not" about:"the next agent sees the whole conversation, the person's last message with a summary by this agent, or only the person's last message"`
}

type approvalsSpec struct {
	mark `def:"approvals" title:"approvals" about:"Calls that wait for a person."`

	TTL         time.Duration `json:"ttl,omitempty" usual:"24h" about:"time to decide on a call and use the decision"`
	OnDeny      string        `json:"on_deny,omitempty" enum:"tell,stop" usual:"tell" about:"tell the model, or end the run as denied"`
	Gates       []string      `json:"gates,omitempty" such:"[\"delete_*\"]" about:"names or patterns of tools that need approval"`
	Observation bool          `json:"observation,omitempty" usual:"true" about:"void an approval, and ask again, if 'observe' or 'goal' changed since the request"`
}

type progressSpec struct {
	mark `def:"no_progress" title:"no_progress" about:"Response to a run that is stuck."`

	Window int    `json:"window,omitempty" min:"0" usual:"3" about:"repetitions that count as stuck; 0 turns detection off"`
	Then   string `json:"then,omitempty" enum:"fail,escalate,hint" usual:"fail" about:"end the run, ask a person, or give the model one hint"`
	Hint   string `json:"hint,omitempty" usual:"what the pattern suggests" about:"text that the model gets first"`
}

type commandSpec struct {
	mark `def:"command" about:"A program that observes or measures."`

	Command []string `json:"command" format:"argv" such:"[./score.sh]" about:"program and arguments, without a shell"`
}

type goalSpec struct {
	mark `def:"goal" title:"goal" about:"A measured end of the work."`

	Metric  commandSpec `json:"metric" such:"{command: [./score.sh]}" about:"prints a number, or '{\"value\": N, \"open\": [\"id\", …]}'"`
	Success string      `json:"success" format:"condition" such:"metric >= 0" about:"condition on the number"`
}

type judgeSpec struct {
	mark `def:"judge" title:"judge" about:"Judges of a run."`

	Reflexion *reflexionSpec `json:"reflexion,omitempty" such:"{every: 1}" about:"gives the run a confidence and the model hints"`
	Grounding *groundingSpec `json:"grounding,omitempty" such:"{model: anthropic/claude-sonnet-5-5}" about:"checks the final answer against the results of tools"`
	Causal    bool           `json:"causal,omitempty" about:"records causes and effects"`
}

type reflexionSpec struct {
	mark `def:"reflexion" title:"reflexion" short:"true" about:"When the run is judged."`

	Every   int    `json:"every,omitempty" min:"0" usual:"1" about:"turns between judgements; 0: only for the next two reasons"`
	OnError bool   `json:"on_error,omitempty" usual:"true" about:"also after a turn with a failed call"`
	OnLoop  bool   `json:"on_loop,omitempty" usual:"true" about:"also after a turn that repeats a recent one"`
	Model   string `json:"model,omitempty" usual:"rules" about:"model that judges"`
}

type groundingSpec struct {
	mark `def:"grounding" title:"grounding" short:"true" about:"The check of the final [answer](governance.md#grounding)."`

	Model   string `json:"model,omitempty" usual:"none; only values are checked" about:"model that judges the claims of the answer"`
	Strict  bool   `json:"strict,omitempty" usual:"false; the model gets a hint" about:"reject an answer with values that appear in no result, input or prompt"`
	Replans int    `json:"replans,omitempty" min:"0" usual:"2" about:"rejected answers before the run fails; 0: no hint either"`
}

type contextSpec struct {
	mark `def:"context" title:"context" about:"What the model sees of a long conversation."`

	Keep         int      `json:"keep,omitempty" min:"0" usual:"5" about:"latest replies, with the results of their calls, that are never left out by price"`
	Pins         []string `json:"pins,omitempty" such:"[\"Invoices are in euros.\"]" about:"facts for the prompt, which is never left out"`
	MaxTokens    int      `json:"max_tokens,omitempty" such:"32000" usual:"the model's limit" about:"most estimated tokens of one request"`
	SummaryModel string   `json:"summary_model,omitempty" usual:"the agent's own" about:"model that writes summaries"`
	Compact      string   `json:"compact,omitempty" enum:"price,never" usual:"price" about:"leave out old parts when that is cheaper, or only when a limit demands it"`
}

type guardSpec struct {
	mark `def:"guard" title:"guard" about:"Checks of the text that the model reads and writes."`

	PII      string   `json:"pii,omitempty" enum:"redact,block,warn" about:"personal data"`
	Secrets  string   `json:"secrets,omitempty" enum:"redact,block,warn" about:"text that looks like a key"`
	Topics   []string `json:"topics,omitempty" such:"[insider trading]" about:"words and phrases that end the run; see also [topics](#topics)"`
	DataFlow string   `json:"data_flow,omitempty" enum:"true,false,strict" usual:"false" about:"after untrusted text was read, a person approves each call that acts with values that no trusted text names; 'strict': each call that acts ([more](governance.md#data-flow))"`
}

type topicsSpec struct {
	mark `def:"topics" title:"topics" about:"Topics that the agent must refuse."`

	Deny []string `json:"deny" min:"1" such:"[insider trading]" about:"words and phrases"`
	Then string   `json:"then,omitempty" enum:"end,retry" usual:"end" about:"end the run as failed, or reject the reply and ask the model again"`
}

// A Hook is a hook of a spec, one of Log and Retry. The program makes it, and returns it from
// HooksOf of the engine that drives the agent. Steering is a policy of the agent.
type Hook struct {
	mark `def:"hook" title:"a hook" short:"key" one:"log,retry,steer" about:"One hook."`

	Log   *LogHook   `json:"log,omitempty" about:"prints the log"`
	Retry *RetryHook `json:"retry,omitempty" about:"repeats useless replies"`
	Steer *steerSpec `json:"steer,omitempty" about:"judges calls"`
}

// A LogHook prints every entry to standard error, as text for people or as JSON.
type LogHook struct {
	mark `def:"log" title:"log" about:"Prints every entry to standard error."`

	Format string `json:"format,omitempty" enum:"text,json" usual:"text" about:"lines for people, or JSON objects"`
}

// A RetryHook repeats useless replies.
type RetryHook struct {
	mark `def:"retry" title:"retry" about:"Repeats useless replies of the model."`

	Attempts int `json:"attempts,omitempty" usual:"3" about:"repetitions in a run"`
}

type steerSpec struct {
	mark `def:"steer" title:"steer" about:"A model allows, refuses or holds each call."`

	Policy     string `json:"policy,omitempty" usual:"a call must serve the task" about:"rule for the judgement"`
	Model      string `json:"model,omitempty" usual:"the agent's own" about:"model that judges"`
	WritesOnly bool   `json:"writes_only,omitempty" about:"skip calls that only read"`
	Ask        bool   `json:"ask,omitempty" usual:"true" about:"hold doubtful calls for a person instead of refusing them"`
}

// An Endpoint is a provider that a spec describes, or what it says of the prices of one that the
// program has; that one has no Wire.
type Endpoint struct {
	mark `def:"provider" title:"a provider" about:"How a provider is called. One with a 'wire' is your own, such as a local server or a gateway."`

	Provider string `json:"-"` // its name, which comes before the / of its models' names

	Wire    string                `json:"wire,omitempty" enum:"openai,openai-responses,anthropic,google,bedrock,vertex,azure" about:"API of your own provider"`
	BaseURL string                `json:"base_url,omitempty" with:"wire" about:"URL as the API's own client takes it: with '/v1' for openai, the resource for azure"`
	Key     string                `json:"key,omitempty" with:"wire" format:"variable" about:"variable with the key; without it, a cloud wire uses the cloud's login"`
	Headers map[string]string     `json:"headers,omitempty" with:"wire" such:"{X-Title: pawl}" about:"headers of each request; not for secrets"`
	Prices  map[string]pawl.Price `json:"prices,omitempty" such:"{my-model: {input: 1.0, output: 4.0}}" usual:"those of the [model sheet](models.md)" about:"prices of its models"`
	Price   string                `json:"price,omitempty" enum:"none" about:"other models have no price, even if the model sheet has one"`
	Rate    *engine.Rate          `json:"rate,omitempty" such:"{requests: 50, tokens: 30000}" about:"limit for all programs on the database [together](workers.md#rates)"`
}

// A Trigger starts runs of an agent where it is served; see server.Trigger. Watch is absolute.
type Trigger struct {
	mark `def:"trigger" title:"a trigger" one:"cron,webhook,watch" about:"Starts runs of the agent while 'pawl serve' serves it. A trigger has one of 'cron', 'webhook' and 'watch'."`

	Cron    string            `json:"cron,omitempty" about:"minute, hour, day of the month, month and day of the week, or @hourly, @daily, @weekly, @monthly, @yearly"`
	Zone    string            `json:"zone,omitempty" with:"cron" usual:"UTC" about:"time zone of 'cron', such as Europe/Berlin"`
	Missed  string            `json:"missed,omitempty" with:"cron" enum:"skip,once" usual:"skip" about:"for times that passed while no server ran: do nothing, or start one run"`
	Webhook string            `json:"webhook,omitempty" format:"trigger" about:"name; signed requests to '/v1/triggers/NAME' start or signal a run"`
	Secret  string            `json:"secret,omitempty" with:"webhook" format:"variable" about:"variable with the signing secret, required for 'webhook'"`
	Sign    string            `json:"sign,omitempty" with:"webhook" enum:"standard,github,slack" usual:"standard" about:"signature scheme of 'webhook'"`
	When    map[string]string `json:"when,omitempty" with:"webhook" such:"{action: opened}" usual:"all requests" about:"values that parts of the request must have"`
	Start   string            `json:"start,omitempty" with:"webhook" usual:"the body" about:"input of the run"`
	Signal  string            `json:"signal,omitempty" with:"webhook" about:"message to the run with the same key"`
	Key     string            `json:"key,omitempty" with:"webhook" usual:"the body" about:"deliveries with the same key belong to the same run"`
	Watch   string            `json:"watch,omitempty" about:"directory, relative to the spec's directory; each file in it starts a run once"`
	Input   string            `json:"input,omitempty" with:"cron,watch" usual:"the spec's, or the file's name and text" about:"input of the run"`
}

type budgetSpec struct {
	mark `def:"budget" title:"a budget" about:"A limit on the runs with one value of a label."`

	Label  string        `json:"label,omitempty" usual:"all runs share one budget" about:"label whose values have a budget each; runs without the label share one"`
	Per    budget.Period `json:"per" enum:"hour,day,month,total" such:"day" about:"period, in UTC"`
	Cost   float64       `json:"cost,omitempty" above:"0" such:"50" usual:"no limit" about:"dollars; the models must have prices"`
	Tokens int           `json:"tokens,omitempty" such:"1000000" usual:"no limit" about:"input and output tokens"`
	Then   string        `json:"then,omitempty" enum:"end,wait" usual:"end" about:"when the next call does not fit, the run ends as exhausted, or waits for the next period"`
}

type cageSpec struct {
	mark `def:"cage" title:"cage" about:"[Restrictions](tools.md#the-cage) on every command, MCP server and agent of the spec."`

	Files     *tool.CageFiles `json:"files,omitempty" such:"{read: [.]}" usual:"the user's" about:"files that commands may use"`
	Network   string          `json:"network,omitempty" enum:"none" usual:"the user's" about:"no connections, even to this machine"`
	Memory    int64           `json:"memory,omitempty" format:"size" min:"1048576" max:"1099511627776" usual:"no limit" about:"memory of a command with what it starts, and size of a file that it writes"`
	Processes int             `json:"processes,omitempty" such:"64" usual:"no limit" about:"processes and threads at once"`
}

// A policySpec is the policy of an organisation, which is not part of the schema of specs.
type policySpec struct {
	mark `def:"policy" title:"the policy" about:"What an organisation holds agents to."`

	Limits  pawl.Limits  `json:"limits,omitempty" about:"ceilings"`
	Models  []string     `json:"models,omitempty" unique:"true" such:"[anthropic/*]" about:"the models that may be asked"`
	Budgets []budgetSpec `json:"budgets,omitempty" such:"[{label: tenant, per: day, cost: 50}]" about:"what many runs together may spend"`
	Deny    []string     `json:"deny,omitempty" such:"[\"shell_*\"]" about:"tools that never run"`
	Gates   []gateSpec   `json:"gates,omitempty" such:"[\"delete_*\", {effect: write}]" about:"tools that are approved first"`
}

type gateSpec struct {
	mark `def:"gate" title:"a gate" short:"tool" one:"tool,effect" about:"A gate."`

	Tool   string      `json:"tool,omitempty" about:"the tool, or a pattern"`
	Effect pawl.Effect `json:"effect,omitempty" enum:"read,idempotent,write" about:"all tools of an effect"`
	When   string      `json:"when,omitempty" with:"tool" format:"condition" such:"args.amount > 100" about:"only calls whose arguments are such"`
}

// A skillHead is the YAML header of a SKILL.md.
type skillHead struct {
	mark `def:"skill" title:"the skill" about:"The YAML header of a 'SKILL.md'. Other keys are ignored."`

	Name          string         `json:"name" format:"skill" such:"refunds" about:"name of its directory: up to 64 letters a-z, digits, -"`
	Description   string         `json:"description" such:"How refunds are made. Use it when a customer asks for money back." about:"purpose, and when to use it, in at most 1024 bytes"`
	AllowedTools  any            `json:"allowed-tools,omitempty" types:"string,array" usual:"any" about:"names or patterns of permitted tools, separated by spaces in a text"`
	License       string         `json:"license,omitempty" about:"for people"`
	Compatibility string         `json:"compatibility,omitempty" about:"for people"`
	Metadata      map[string]any `json:"metadata,omitempty" about:"for people"`
}
