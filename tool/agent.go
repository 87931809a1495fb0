package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
)

// Agent makes a tool of an agent. Each call of the tool is a run of that agent and a child of
// the calling run; see [pawl.Delegate]. The tool has the agent's name and description. Its one
// argument, input, is the agent's input, and its result is the agent's answer: a document if the
// agent declares an output, with the files that its tools returned. If the child does not end in
// success, the call fails and the model reads the reason and the child's last answer.
//
// The agent's limits hold each such run, with at most the iterations of the parent's limit, and
// the time and depth that the parent has left. What remains of the parent's tokens and dollars is
// divided among the calls of a reply, so that no child can spend more than its parent has. A child also obeys the
// parent's policies that are declared to be inherited.
func Agent(agent pawl.Agent, o *AgentOptions) pawl.Tool {
	o = cmp.Or(o, &AgentOptions{})
	const usual = 20 // of an agent that sets none
	if o.Iterations != 0 && o.Iterations < cmp.Or(agent.Limits.Iterations, usual) {
		agent.Limits.Iterations = o.Iterations
	}
	info := pawl.ToolInfo{
		Name: o.Name, Description: o.Description, Input: o.Input, Effect: o.Effect,
		MaxOutput: o.MaxOutput, MaxCalls: o.MaxCalls, MaxParallel: o.MaxParallel, Alone: o.Alone, Exempt: o.Exempt, Trust: o.Trust,
		Weight: o.Weight,
	}
	info.Name = cmp.Or(info.Name, agent.Name)
	info.Description = cmp.Or(info.Description, agent.Description)
	if info.Input == nil {
		info.Input = asked("What to do, with everything there is to know: nothing else of this conversation is seen.")
	}
	if info.Effect == 0 {
		info.Effect = most(agent)
	}
	if o.Remember {
		info.Follows = info.Name
		if o.Input == nil {
			info.Input = asked("What to do. Nothing else of this conversation is seen, but your earlier calls are remembered.")
		}
	}
	if o.Carry != "" {
		info.Carry = o.Carry
		if o.Input == nil {
			info.Input = carried(o.Carry)
		}
	}
	return &delegate{declared: declare(info, nil), agent: agent, whole: o.Input != nil}
}

// The choices of what an agent sees of the conversation of its caller.
const (
	carryAll     = "all"
	carrySummary = "summary"
	carryLast    = "last"
)

// carried is the schema of the arguments of an agent that sees something of the conversation.
func carried(carry string) json.RawMessage {
	sees := map[string]string{
		carryAll:     "This conversation is seen, up to your present reply.",
		carrySummary: "The last message of the person and your summary are seen, and nothing else of this conversation.",
		carryLast:    "The last message of the person is seen, and nothing else of this conversation.",
	}[carry]
	if carry == carrySummary {
		return json.RawMessage(`{"type":"object","properties":{"input":{"type":"string","description":"What to do. ` + sees +
			`"},"summary":{"type":"string","minLength":1,"description":"What is to be known of this conversation."}},"required":["input","summary"]}`)
	}
	return asked("What to do. " + sees)
}

// asked is the schema of an input with this description.
func asked(description string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"input":{"type":"string","description":"` + description + `"}},"required":["input"]}`)
}

// AgentOptions configure a tool made of an agent. The zero value is valid.
type AgentOptions struct {
	// Name and Description are what the calling model reads; empty: the agent's.
	Name        string `key:"name" usual:"its own" about:"name for the model: up to 64 letters, digits, _ and -"`
	Description string `key:"description" usual:"its own" about:"purpose of the tool, for the model"`
	// Input is the JSON Schema of the arguments, an object. The agent's input is then the
	// arguments as JSON text. Nil: one string, input.
	Input json.RawMessage
	// Effect is the effect of the whole run: unless it is a Read, nothing else runs
	// meanwhile. Zero: Read if every tool of the agent is a Read, else Write.
	Effect pawl.Effect `key:"effect" enum:"read,idempotent,write" usual:"read if all its tools are, else write" about:"effect of a repeated call: nothing, nothing more, or another effect"`
	// The next five are as in [CommandOptions].
	MaxOutput   int  `key:"max_output" format:"size" usual:"16KB" about:"size of the result that the model sees: its beginning and its end"`
	MaxCalls    int  `key:"max_calls" usual:"no limit" about:"calls in a run"`
	MaxParallel int  `key:"max_parallel" usual:"as many as the agent's" about:"calls at once; a write runs alone"`
	Alone       bool `key:"parallel" usual:"true" about:"run beside other calls; a write never does"`
	Exempt      bool `key:"stuck" enum:"exempt" about:"equal calls do not count as being stuck, as when polling"`
	// Iterations bounds the iterations of a run beside the agent's own limit; zero: it does not.
	Iterations int `key:"iterations" usual:"its own limit" about:"iterations of a call, in addition to its own limit"`
	// Weight is how many of the equal shares a call gets, into which what is left of the limits
	// is divided among the calls of a reply; zero: 1.
	Weight int `key:"weight" usual:"1" about:"shares of a call, when the calls of a reply [divide](workflow.md#budgets-and-children) the rest of the limits"`
	// Remember has the agent remember the earlier calls in a run: each goes on with the
	// conversation of the one before. Calls of one reply go on with the same one.
	Remember bool `key:"memory" about:"a call [continues the conversation](teams.md#remembering) of the call before it"`
	// Carry is what a run sees of the conversation of its caller: "all", up to the reply with the
	// call; "summary", the last message of a person and a summary that the caller writes; or
	// "last", that message alone. Empty: nothing. It cannot be set with Remember.
	Carry string `key:"carry" enum:"all,summary,last" usual:"nothing" about:"a call [sees](teams.md#what-a-called-agent-sees) the whole conversation, the person's last message with a summary by this agent, or only the person's last message"`
	// Trust is the trust in the answers; zero: [pawl.Untrusted] if one of the agent's tools
	// returns untrusted results, else [pawl.Trusted].
	Trust pawl.Trust `key:"trust" enum:"trusted,untrusted" usual:"untrusted if one of its tools is" about:"trust in the results, for the [data-flow guard](governance.md#data-flow)"`
}

// most returns the strongest effect of an agent's tools.
func most(agent pawl.Agent) pawl.Effect {
	for _, t := range agent.Tools {
		if t != nil && t.Info().Effect != pawl.Read {
			return pawl.Write
		}
	}
	return pawl.Read
}

type delegate struct {
	declared
	agent pawl.Agent
	whole bool // the input is all the arguments, as JSON
}

// Check reports options that do not fit each other or the agent that has the tool.
func (d *delegate) Check(from pawl.Agent) error {
	_, steps := from.Loop.(interface{ Steps() json.RawMessage })
	switch carry := d.info.Carry; {
	case carry == "":
	case carry != carryAll && carry != carrySummary && carry != carryLast:
		return fmt.Errorf("tool %q: %q is nothing to carry; use all, summary or last", d.info.Name, carry)
	case d.info.Follows != "":
		return fmt.Errorf("tool %q: a run goes on with one conversation, its own or its caller's; leave Remember or Carry out", d.info.Name)
	case steps:
		return fmt.Errorf("tool %q: carry is for an agent that has a conversation, and the loop of %s is %s", d.info.Name, from.Name, from.Loop.Name())
	}
	return d.declared.Check(from)
}

// Agent returns the agent.
func (d *delegate) Agent() pawl.Agent { return d.agent }

// Ask returns the agent's input for a call.
func (d *delegate) Ask(args json.RawMessage) (string, error) {
	if d.whole {
		return string(args), nil
	}
	var in struct{ Input, Summary string }
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("its arguments cannot be read: %w", err)
	}
	if in.Summary != "" {
		in.Input = "What is known so far:\n" + in.Summary + "\n\n" + in.Input
	}
	return in.Input, nil
}

// Run fails: only an engine that supports child runs can run the agent.
func (d *delegate) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("an agent's runs are driven by an engine, not by its tool")
}
