package spec

import (
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/tool"
)

// A toolEntry is an entry of tools. It is the kind of tool whose first key it has, else a command
// or a client tool.
type toolEntry struct {
	mark `oneof:"tools"`

	Tool     *toolItem     `json:"-"`
	MCP      *MCPServer    `json:"-"`
	A2A      *a2aItem      `json:"-"`
	Hosted   *hostedItem   `json:"-"`
	Wait     *waitItem     `json:"-"`
	Builtin  *builtinItem  `json:"-"`
	Agent    *agentItem    `json:"-"`
	Workflow *workflowItem `json:"-"`
}

type toolItem struct {
	mark `def:"tool" title:"the tool" one:"command,client" about:"A program, or with 'client: true' a tool that the client of the run executes."`

	Name        string   `json:"name" format:"tool" such:"lookup_ticket" about:"name for the model"`
	Description string   `json:"description" such:"Look up a support ticket by its id." about:"purpose of the tool, for the model"`
	Command     []string `json:"command,omitempty" format:"argv" such:"[./lookup.sh]" about:"program and arguments, without a shell; './' is the spec's directory"`
	Client      bool     `json:"client,omitempty" about:"the run waits until somebody submits the result"`
	tool.CommandOptions
	Credentials map[string]string `json:"credentials,omitempty" such:"{CRM_TOKEN: crm}" about:"variables with tokens of the run's user, and the [credential](#credential) of each"`
	Approval    *whenSpec         `json:"approval,omitempty" such:"{when: args.amount > 100}" about:"calls that a person must approve"`
}

type whenSpec struct {
	mark `def:"approval" title:"approval" short:"=required" about:"A condition for approval."`

	When string `json:"when" format:"condition" such:"args.amount > 100" about:"condition on the arguments"`
}

type builtinItem struct {
	mark `def:"builtin" title:"the tool" about:"[Tools](tools.md) of Pawl. They see the files below 'dir'."`

	Builtin  []string   `json:"builtin" such:"[ask_human]" about:"'ask_human', 'edit_file', 'fetch', 'list_files', 'read_file', 'read_more', 'run_command', 'search_files', 'write_file', and tools that the program [registers](tools.md#your-own-pawl)"`
	Trust    pawl.Trust `json:"trust,omitempty" enum:"trusted,untrusted" usual:"untrusted for 'fetch' and 'read_more', else trusted" about:"trust in the results, for the [data-flow guard](governance.md#data-flow)"`
	Approval *whenSpec  `json:"approval,omitempty" such:"{when: args.amount > 100}" about:"calls that a person must approve"`
}

type waitItem struct {
	mark `def:"wait-tool" title:"the tool" about:"The tool 'wait', which [suspends the run](tools.md#waiting) until a time or a signal."`

	Wait *tool.WaitOptions `json:"wait" about:"bounds of a wait"`
}

type hostedItem struct {
	mark `def:"hosted" title:"the tool" about:"A [tool that the model's provider runs](tools.md#hosted-tools)."`

	Hosted string `json:"hosted" enum:"web_search,code_execution" about:"the tool"`
	tool.HostedOptions
}

type agentItem struct {
	mark `def:"agent-tool" title:"the tool" about:"Another agent. Each call is a [child run](command.md#agents-as-tools)."`

	Agent string `json:"agent" such:"./researcher.yaml" about:"spec of the agent, relative to this one; without a model it uses this agent's"`
	tool.AgentOptions
	Approval *whenSpec `json:"approval,omitempty" such:"{when: args.amount > 100}" about:"calls that a person must approve"`
}

type workflowItem struct {
	mark `def:"workflow-tool" title:"the tool" about:"A [workflow](workflow.md). Each call is a child run."`

	Workflow          string `json:"workflow" such:"./triage.yaml" about:"spec of the workflow, relative to this one"`
	tool.AgentOptions `without:"memory,carry"`
	Approval          *whenSpec `json:"approval,omitempty" such:"{when: args.amount > 100}" about:"calls that a person must approve"`
}

type a2aItem struct {
	mark `def:"a2a-tool" title:"the tool" about:"An agent of another server, over the [Agent2Agent protocol](a2a.md). Each call is a child run with a task on the server. Without a name it has one from the URL."`

	A2A               a2aSpec `json:"a2a" about:"the agent"`
	tool.AgentOptions `without:"memory,carry,iterations,weight"`
	Approval          *whenSpec `json:"approval,omitempty" such:"{when: args.amount > 100}" about:"calls that a person must approve"`
}

type a2aSpec struct {
	mark `def:"a2a" title:"a2a" about:"An agent of another server."`

	URL     string        `json:"url" format:"url" such:"https://agents.example.org" about:"its card, or the server with '/.well-known/agent-card.json': https, or http on this machine"`
	Token   string        `json:"token,omitempty" format:"variable" about:"variable with the bearer token"`
	Trusted bool          `json:"trusted,omitempty" about:"its words may instruct this agent"`
	Timeout time.Duration `json:"timeout,omitempty" usual:"10m" about:"time between two messages of a task, after which it is cancelled and the call fails"`
}

// An MCPServer is a server of the Model Context Protocol named in a spec. The agent has its tools as
// NAME__tool.
type MCPServer struct {
	mark `def:"mcp-tool" title:"the tool" about:"The tools of a [server of the Model Context Protocol](mcp.md), named 'NAME__tool'."`

	MCPAddress  `json:"mcp" about:"the server"`
	Allow       []string      `json:"allow,omitempty" unique:"true" min:"1" such:"[read_text_file]" usual:"all" about:"tools to offer, by the server's names"`
	Timeout     time.Duration `json:"timeout,omitempty" usual:"60s" about:"time of one call"`
	MaxOutput   int           `json:"max_output,omitempty" format:"size" usual:"16KB" about:"size of the result that the model sees: its beginning and its end"`
	MaxParallel int           `json:"max_parallel,omitempty" usual:"as many as the agent's" about:"calls at once of one tool; a write runs alone"`
	Trust       pawl.Trust    `json:"trust,omitempty" enum:"trusted,untrusted" usual:"that of 'mcp'" about:"trust in the results, for the [data-flow guard](governance.md#data-flow)"`
	Approval    *whenSpec     `json:"approval,omitempty" such:"{when: args.amount > 100}" about:"calls that a person must approve"`

	Dir         string            `json:"-"` // the working directory of its Command
	Env         []string          `json:"-"` // names of the variables that the program gets; their values are secrets
	Cage        *tool.Cage        `json:"-"` // nil: the program has the user's rights
	Credentials *tool.Credentials `json:"-"` // of the users of runs; nil: none
	Identity    string            `json:"-"` // identifies the server as written in the spec, for pinning its tools

	only []*node // the tools that a Hyphen document names, as NAME__tool; nil: all
}

// An MCPAddress says how a server is reached: as a program or at a URL. Token and Credential name
// where the secret of its requests is.
type MCPAddress struct {
	mark `def:"mcp" title:"mcp" one:"command,url" about:"A server of the Model Context Protocol."`

	Name       string   `json:"name" format:"server" such:"files" about:"prefix of its tools' names"`
	Command    []string `json:"command,omitempty" format:"argv" such:"[npx, -y, some-server]" about:"program and arguments, without a shell; './' is the spec's directory"`
	URL        string   `json:"url,omitempty" format:"url" about:"URL, instead of a command: https, or http on this machine"`
	Token      string   `json:"token,omitempty" with:"url" format:"variable" about:"variable with the bearer token"`
	Credential string   `json:"credential,omitempty" with:"url" about:"[credential](#credential) whose token, of the run's user, calls have as bearer token"`
	Auth       *mcpAuth `json:"auth,omitempty" with:"url" about:"[authorisation](mcp.md#authorisation) of requests, instead of a token"`
	Trusted    bool     `json:"trusted,omitempty" about:"believe its descriptions and effects; otherwise each tool is a write with untrusted results"`
}

type mcpAuth struct {
	mark `def:"mcp_auth" title:"auth" about:"Authorisation of requests."`

	OAuth *OAuth `json:"oauth" such:"{client: pawl}" about:"OAuth 2.1; a person logs in once with 'pawl mcp SPEC --login NAME'"`
}

// An OAuth says how requests to an MCP server are authorised. Without a Client one is registered;
// Secret names the variable with its secret.
type OAuth struct {
	mark `def:"oauth" title:"oauth" short:"true" about:"The OAuth client."`

	Client string `json:"client,omitempty" usual:"one is registered at the login" about:"id of a registered client"`
	Secret string `json:"secret,omitempty" with:"client" format:"variable" usual:"none: the client is public" about:"variable with the client's secret"`
	Grant  string `json:"grant,omitempty" enum:"authorization_code,client_credentials" usual:"authorization_code" about:"a person authorises, or the client alone with its secret"`
}

// A hyphenSpec is a Hyphen loop document, another form of a spec.
type hyphenSpec struct {
	mark `def:"hyphen" title:"the Hyphen document" about:"A Hyphen loop."`

	Type       string     `json:"type" enum:"loop" about:"kind of document"`
	Properties hyphenLoop `json:"properties" about:"the agent"`
}

type hyphenLoop struct {
	mark `def:"hyphen_loop" title:"properties" about:"A loop whose model answers every turn with 'thought', 'action' and 'action_input'."`

	Mode        string       `json:"mode,omitempty" enum:"react" usual:"react" about:"kind of loop"`
	Objective   string       `json:"objective" such:"Answer the customer." about:"task, for the system prompt"`
	Tools       []hyphenTool `json:"tools,omitempty" such:"[{\"type\": \"action\", \"name\": \"lookup_ticket\"}]" about:"permitted actions, in addition to the five that begin with '__'"`
	Model       string       `json:"model,omitempty" usual:"'--model', or 'PAWL_MODEL'" about:"model; a bare name is looked up in the model sheet"`
	Iterations  int          `json:"max_iterations,omitempty" max:"10000" usual:"20" about:"model turns"`
	TimeoutMS   int          `json:"timeout_ms,omitempty" max:"9223372036854" usual:"1800000" about:"milliseconds of running; waiting does not count"`
	Temperature float64      `json:"temperature,omitempty" zero:"-1" such:"0.2" usual:"the provider's" about:"randomness of replies"`
	OnStuck     hyphenStuck  `json:"on_stuck,omitempty" usual:"3 turns, then fail" about:"response to a stuck loop"`
	Trace       bool         `json:"include_reasoning_trace,omitempty" about:"add the reasoning trace to the result"`
	ResultKey   string       `json:"result_key,omitempty" about:"key of the answer in the result's context"`
}

type hyphenTool struct {
	mark `def:"hyphen_tool" title:"the tool" one:"name,id" about:"An action of '--tools FILE', or a workflow of '--workflows DIR'."`

	Type string `json:"type" enum:"action,workflow" about:"kind of tool"`
	Name string `json:"name,omitempty" about:"the action"`
	ID   string `json:"id,omitempty" about:"the workflow"`
}

type hyphenStuck struct {
	mark `def:"on_stuck" title:"on_stuck" about:"Response to a stuck loop."`

	Iterations int           `json:"iterations,omitempty" usual:"3" about:"equal consecutive turns that count as stuck; 1 counts as 2"`
	Action     progress.Then `json:"action,omitempty" enum:"fail,escalate,retry_with_hint" usual:"fail" about:"end the run, ask a person, or give the model one hint"`
	Hint       string        `json:"hint,omitempty" usual:"what the pattern suggests" about:"text of the hint"`
}
