package spec

import (
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/webhook"
	"github.com/pawl-run/pawl/window"
	"github.com/pawl-run/pawl/workflow"
)

// The mappings of a spec, one struct for each. The published schema, the check of a spec and the
// reference come from them. Where the Go API has options of the same meaning, these are the struct.
// The zero value of a field stands for a key that is missing. A field without omitempty is required.
// These tags say the rest:
//
//	key      the key of a field whose JSON, if it has one, has another; it is not required
//	about    the meaning of the key, as a sentence without the full stop; 'x' is code
//	usual    the value of a key that is missing; a bool with usual:"true" is true for false
//	zero     what the field is for a written 0, since its zero value is another default
//	such     an example of the value, for problems
//	enum     the words that are allowed; a number counts them from 1, a bool is true for the last
//	min, max, above  bounds of a number or of the length of a list; a whole number is at least 1
//	format   the form of a text; see formats
//	unique   the items of a list are names, each of them once
//	with     other keys, one of which the mapping must have, too
//	needs    other keys, all of which the mapping must have, too
//	without  of an embedded struct: keys that it does not have here
//
// The embedded mark has the tags of the mapping itself: def is its name in the schema, title its name
// in problems, and short what may stand in its place: the key whose value a text is (short:"name"),
// true for a mapping without keys (short:"true"), a word for the same (short:"=required"), or a
// text that names the only key (short:"key"). one lists keys of which a mapping has exactly one.

// Keys are the keys of a spec and their values. The tags say what each means, as the page of the
// documentation about specs does, which is made from them.
type Keys struct {
	mark `def:"spec" title:"the spec" about:"An agent."`

	Name           string                    `json:"name" format:"agent" such:"support" about:"name of the agent"`
	Description    string                    `json:"description,omitempty" about:"purpose of the agent"`
	Version        string                    `json:"version,omitempty" about:"[version](upgrade.md) of the agent, recorded in its runs; several versions can be served together"`
	Upgrade        engine.Upgrade            `json:"upgrade,omitempty" enum:"refuse,compatible,fork" usual:"refuse" about:"[rule](upgrade.md#the-rule) for resuming a waiting run of another version under this agent"`
	Labels         map[string]string         `json:"labels,omitempty" such:"{team: ops}" about:"labels to find its runs by"`
	Model          modelSpec                 `json:"model,omitempty" usual:"'--model', 'PAWL_MODEL', or that of the provider whose key is set" about:"'anthropic/…', 'openai/…', 'google/…', 'script:FILE', 'mechanic' or [another](models.md)"`
	Prompt         string                    `json:"prompt,omitempty" about:"system prompt"`
	Input          Input                     `json:"input,omitempty" about:"input of a run that is started without one"`
	Thread         string                    `json:"thread,omitempty" usual:"'--thread', or none" about:"[conversation](command.md#conversations) that its runs continue"`
	Loop           string                    `json:"loop,omitempty" usual:"react" about:"'react' (model and tools in turn), 'single' (one reply without tools), 'workflow' (known steps), 'graph' (a graph of steps), or a loop that the program [registers](tools.md#your-own-pawl)"`
	Steps          []workflow.Step           `json:"steps,omitempty" min:"1" such:"[{id: ask, single: {prompt: …}}]" about:"steps of a [workflow](workflow.md)"`
	Nodes          map[string]workflow.Step  `json:"nodes,omitempty" such:"{ask: {single: {prompt: …}}}" about:"nodes of a [graph](workflow.md#graphs): steps without their 'id', by it"`
	Edges          []workflow.Edge           `json:"edges,omitempty" such:"[{from: ask, to: answer}]" about:"edges of the graph"`
	Strategy       pawl.Strategy             `json:"strategy,omitempty" enum:"native,json" usual:"native" about:"how the model calls tools: by its provider's own calls, or by one JSON object a turn with 'thought', 'action' and 'action_input'"`
	Output         json.RawMessage           `json:"output,omitempty" about:"schema of the answer; the model is asked again until its answer fits"`
	Env            []string                  `json:"env,omitempty" format:"variable" such:"[LEDGER_TOKEN]" about:"environment variables for commands; their values are [secrets](secrets.md)"`
	Dir            string                    `json:"dir,omitempty" usual:"the spec's directory" about:"working directory of commands, relative to the spec's directory"`
	Tools          []toolEntry               `json:"tools,omitempty" such:"[{builtin: [ask_human]}]" about:"tools that the model may call"`
	ToolSearch     *searchSpec               `json:"tool_search,omitempty" about:"the model [searches](tools.md#many-tools) for tools instead of seeing all of them"`
	Handoffs       []handoffSpec             `json:"handoffs,omitempty" such:"[./billing.yaml]" about:"agents that can take over the [conversation](teams.md#handoff)"`
	Board          bool                      `json:"board,omitempty" about:"share a [board of tasks](teams.md#swarm) with the agents among the tools"`
	Memory         *tool.MemoryOptions       `json:"memory,omitempty" such:"{label: user}" about:"[remember](tools.md#memory) things for later runs"`
	Builtins       bool                      `json:"builtins,omitempty" about:"offer '__complete__', '__pause_for_human__', '__store_memory__', '__retrieve_memory__' and '__log_progress__'"`
	Serial         bool                      `json:"parallel,omitempty" usual:"true" about:"run the calls of one reply at the same time"`
	MaxParallel    int                       `json:"max_parallel,omitempty" such:"10" usual:"10 commands, requests and MCP calls, and 256 others" about:"[calls at once](tools.md#calls-at-once) in a run"`
	Instructions   string                    `json:"instructions,omitempty" enum:"agents.md" about:"[AGENTS.md](chat.md#agentsmd) of 'dir' is part of the prompt; of a directory that is not trusted, a tool reads it as untrusted text"`
	Notices        bool                      `json:"notices,omitempty" about:"tell the model once when 80 % of a [limit or budget](cost.md#notices) are used"`
	Trace          bool                      `json:"trace,omitempty" about:"add the [reasoning trace](#the-reasoning-trace) to the result"`
	Skills         []string                  `json:"skills,omitempty" such:"[./skills]" about:"[skills](#skills), or directories of them, relative to the spec's directory"`
	Stop           string                    `json:"stop,omitempty" format:"condition" such:"iterations >= 10" about:"ends the run when it holds, in addition to a complete answer"`
	Limits         pawl.Limits               `json:"limits,omitempty" about:"limits of a run"`
	Plan           bool                      `json:"plan,omitempty" about:"only tools that read run until a person has approved the agent's [plan](governance.md#plan-mode)"`
	Approvals      approvalsSpec             `json:"approvals,omitempty" about:"[approval](governance.md#who-may-do-what) of calls by a person"`
	Policies       []string                  `json:"policies,omitempty" such:"[house-rules]" about:"names of policies that the program [registers](tools.md#your-own-pawl)"`
	NoProgress     *progressSpec             `json:"no_progress,omitempty" usual:"window 3, then fail" about:"response to a run that [gets stuck](command.md#getting-stuck)"`
	Credentials    map[string]credentialSpec `json:"credentials,omitempty" such:"{crm: {command: [./token.sh], labels: [tenant]}}" about:"[tokens](secrets.md#credentials-of-users) of the runs' users, by the name of a service"`
	Instruct       *commandSpec              `json:"instruct,omitempty" about:"command whose output are instructions that hold now, which the model reads before a turn if they have changed"`
	Observe        *commandSpec              `json:"observe,omitempty" about:"command whose output the model sees before its first turn, after each action and after each resumption"`
	Goal           *goalSpec                 `json:"goal,omitempty" about:"measured number that decides whether the work is done, whatever the model says"`
	Judge          judgeSpec                 `json:"judge,omitempty" about:"[judges](governance.md#judgement) of the run"`
	Context        *contextSpec              `json:"context,omitempty" usual:"by price, if the model has one" about:"shortening of long [conversations](context.md)"`
	Guard          guardSpec                 `json:"guard,omitempty" about:"checks of the text that the model reads and writes"`
	Topics         *topicsSpec               `json:"topics,omitempty" about:"topics that the agent must refuse"`
	Hooks          []Hook                    `json:"hooks,omitempty" such:"[log, {retry: {attempts: 3}}, {steer: {policy: Never write to anybody outside the company.}}]" about:"[hooks](governance.md#hooks) that watch the run"`
	Webhooks       []webhook.Hook            `json:"webhooks,omitempty" such:"[{url: https://hooks.example.org/pawl, secret: HOOK_SECRET}]" about:"receivers of [notices](webhooks.md) that a run waits or has ended"`
	Cage           *tool.Cage                `json:"cage,omitempty" about:"[restrictions](tools.md#the-cage) that the kernel enforces on commands and MCP servers"`
	Fetch          fetch.Options             `json:"fetch,omitempty" usual:"all public hosts" about:"hosts that the tool 'fetch' may read"`
	Providers      map[string]Endpoint       `json:"providers,omitempty" such:"{anthropic: {rate: {requests: 50, tokens: 30000}}}" about:"how models are called, by the name of their provider"`
	Triggers       []Trigger                 `json:"triggers,omitempty" such:"[{cron: \"0 8 * * 1-5\", input: Good morning.}]" about:"[events](triggers.md) that start runs of a served agent"`
	Budgets        []budget.Budget           `json:"budgets,omitempty" such:"[{label: tenant, per: day, cost: 50}]" about:"[limits](cost.md#budgets) on many runs together"`
	Prices         map[string]pawl.Price     `json:"prices,omitempty" such:"{my-model: {input: 1.0, output: 4.0}}" about:"prices by model, instead of those in the [model sheet](models.md)"`
	PriceStaleness string                    `json:"price_staleness,omitempty" enum:"warn,token-only,refuse" usual:"warn" about:"when the [model sheet](models.md) is more than 30 days old: warn, use no prices of it, or refuse to run"`
}

// An Input is the default input of a spec: a text, with the absolute paths of its files.
type Input struct {
	mark `def:"input" title:"input" short:"text" about:"An input with files."`

	Text  string   `json:"text,omitempty" about:"the text"`
	Files []string `json:"files,omitempty" such:"[invoice.pdf]" about:"[files](models.md#files) for the model, relative to the spec's directory"`
}

type modelSpec struct {
	mark `def:"model" title:"model" short:"name" about:"A model and its settings."`

	Name string `json:"name,omitempty" such:"anthropic/claude-sonnet-5-5" usual:"'--model', 'PAWL_MODEL', or that of the provider whose key is set" about:"the model, as PROVIDER/NAME"`
	pawl.Sampling
	Fallback []string `json:"fallback,omitempty" such:"[openai/gpt-6.2-sol]" about:"models to use when this one is unavailable"`
	Demo     string   `json:"demo,omitempty" such:"agent.script.yaml" about:"a [script](scripts.md) that is the model if none is named and no provider's key is set"`
}

type searchSpec struct {
	mark `def:"tool_search" title:"tool_search" about:"The model finds tools with the tool 'tool_search'."`

	Core []string `json:"core,omitempty" such:"[read_page]" about:"tools that it always sees; '*' stands for any characters"`
}

type handoffSpec struct {
	mark `def:"handoff" title:"a handoff" short:"agent" about:"An agent that can take over the conversation."`

	Agent string     `json:"agent" such:"./billing.yaml" about:"spec of the agent, relative to this one; without a model it uses that of the first agent"`
	Carry team.Carry `json:"carry,omitempty" enum:"all,summary,last" usual:"the model chooses, and 'all' if it does not" about:"the next agent sees the whole conversation, the person's last message with a summary by this agent, or only the person's last message"`
}

type approvalsSpec struct {
	mark `def:"approvals" title:"approvals" about:"Calls that wait for a person."`

	pawl.Approvals
	Gates []string `json:"gates,omitempty" such:"[\"delete_*\"]" about:"names or patterns of tools that need approval"`
}

type progressSpec struct {
	mark `def:"no_progress" title:"no_progress" about:"Response to a run that is stuck."`

	Window int           `json:"window,omitempty" zero:"-1" min:"0" usual:"3" about:"repetitions that count as stuck; 0 turns detection off"`
	Then   progress.Then `json:"then,omitempty" enum:"fail,escalate,hint" usual:"fail" about:"end the run, ask a person, or give the model one hint"`
	Hint   string        `json:"hint,omitempty" usual:"what the pattern suggests" about:"text that the model gets first"`
}

type commandSpec struct {
	mark `def:"command" about:"A program that observes, measures or instructs."`

	Command []string `json:"command" format:"argv" such:"[./score.sh]" about:"program and arguments, without a shell"`
}

type credentialSpec struct {
	mark `def:"credential" title:"the credential" about:"Tokens with which tools act for the users of runs."`

	Command []string `json:"command" format:"argv" such:"[./token.sh]" about:"program and arguments, without a shell; it reads the labels as a JSON object, and prints '{\"token\": …, \"expires\": …}' or '{\"link\": …}'"`
	Labels  []string `json:"labels,omitempty" unique:"true" min:"1" usual:"all labels" such:"[tenant, user]" about:"labels of the run that name the user"`
}

type goalSpec struct {
	mark `def:"goal" title:"goal" about:"A measured end of the work."`

	Metric  commandSpec `json:"metric" such:"{command: [./score.sh]}" about:"prints a number, or '{\"value\": N, \"open\": [\"id\", …]}'"`
	Success string      `json:"success" format:"condition" such:"metric >= 0" about:"condition on the number"`
}

type judgeSpec struct {
	mark `def:"judge" title:"judge" about:"Judges of a run."`

	Reflexion *judge.ReflexionOptions `json:"reflexion,omitempty" such:"{every: 1}" about:"gives the run a confidence and the model hints"`
	Grounding *judge.GroundingOptions `json:"grounding,omitempty" such:"{model: anthropic/claude-sonnet-5-5}" about:"checks the final answer against the results of tools"`
	Causal    bool                    `json:"causal,omitempty" about:"records causes and effects"`
}

type contextSpec struct {
	mark `def:"context" title:"context" about:"What the model sees of a long conversation."`

	window.Options
	Pins []string `json:"pins,omitempty" such:"[\"Invoices are in euros.\"]" about:"facts for the prompt, which is never left out"`
}

type guardSpec struct {
	mark `def:"guard" title:"guard" about:"Checks of the text that the model reads and writes."`

	PII      guard.Action `json:"pii,omitempty" enum:"redact,block,warn" about:"personal data"`
	Secrets  guard.Action `json:"secrets,omitempty" enum:"redact,block,warn" about:"text that looks like a key"`
	Topics   []string     `json:"topics,omitempty" format:"topic" such:"[insider trading]" about:"words and phrases that end the run; see also [topics](#topics)"`
	DataFlow string       `json:"data_flow,omitempty" enum:"true,false,strict" usual:"false" about:"after untrusted text was read, a person approves each call that acts with values that no trusted text names; 'strict': each call that acts ([more](governance.md#data-flow))"`
}

type topicsSpec struct {
	mark `def:"topics" title:"topics" about:"Topics that the agent must refuse."`

	Deny []string `json:"deny" format:"topic" min:"1" such:"[insider trading]" about:"words and phrases"`
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
	Refuse     bool   `json:"ask,omitempty" usual:"true" about:"hold doubtful calls for a person instead of refusing them"`
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

	Cron    string            `json:"cron,omitempty" format:"cron" about:"minute, hour, day of the month, month and day of the week, or @hourly, @daily, @weekly, @monthly, @yearly"`
	Zone    string            `json:"zone,omitempty" format:"zone" with:"cron" usual:"UTC" about:"time zone of 'cron', such as Europe/Berlin"`
	Missed  string            `json:"missed,omitempty" with:"cron" enum:"skip,once" usual:"skip" about:"for times that passed while no server ran: do nothing, or start one run"`
	Webhook string            `json:"webhook,omitempty" needs:"secret" format:"trigger" about:"name; signed requests to '/v1/triggers/NAME' start or signal a run"`
	Secret  string            `json:"secret,omitempty" with:"webhook" such:"HOOK_SECRET" format:"variable" about:"variable with the signing secret, required for 'webhook'"`
	Sign    string            `json:"sign,omitempty" with:"webhook" enum:"standard,github,slack" usual:"standard" about:"signature scheme of 'webhook'"`
	When    map[string]string `json:"when,omitempty" with:"webhook" such:"{action: opened}" usual:"all requests" about:"values that parts of the request must have"`
	Start   string            `json:"start,omitempty" with:"webhook" usual:"the body" about:"input of the run"`
	Signal  string            `json:"signal,omitempty" needs:"key" with:"webhook" about:"message to the run with the same key"`
	Key     string            `json:"key,omitempty" with:"webhook" usual:"the body" about:"deliveries with the same key belong to the same run"`
	Watch   string            `json:"watch,omitempty" about:"directory, relative to the spec's directory; each file in it starts a run once"`
	Input   string            `json:"input,omitempty" with:"cron,watch" usual:"the spec's, or the file's name and text" about:"input of the run"`
}

// A policySpec is the policy of an organisation, which is not part of the schema of specs.
type policySpec struct {
	mark `def:"policy" title:"the policy" about:"What an organisation holds agents to."`

	Limits  pawl.Limits     `json:"limits,omitempty" about:"ceilings"`
	Models  []string        `json:"models,omitempty" unique:"true" such:"[anthropic/*]" about:"the models that may be asked"`
	Budgets []budget.Budget `json:"budgets,omitempty" such:"[{label: tenant, per: day, cost: 50}]" about:"what many runs together may spend"`
	Deny    []string        `json:"deny,omitempty" such:"[\"shell_*\"]" about:"tools that never run"`
	Gates   []gateSpec      `json:"gates,omitempty" such:"[\"delete_*\", {effect: write}]" about:"tools that are approved first"`
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
