package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
)

// A step that waits for a person does so as a call of its own, which needs approval: its
// arguments are what the person sees, and its result is what the person makes of them.

// suspendTool is the name of the tool that such a call is of.
const suspendTool = "suspend"

// held are the arguments of the call.
type held struct {
	Step  string          `json:"step"`
	When  Suspend         `json:"when"`
	Value json.RawMessage `json:"value"`
}

// gate is that tool.
type gate struct{}

// Info declares the tool.
func (gate) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: suspendTool, Description: "A person confirms a step.", Effect: pawl.Read, MaxOutput: mostTold, Exempt: true,
		Input: json.RawMessage(`{"type":"object","properties":{"step":{"type":"string"},"when":{"enum":["before","after"]},"value":{}},"required":["step","when","value"]}`)}
}

// Inner reports that the tool is for the workflow's steps only.
func (gate) Inner() bool { return true }

// Run returns the value.
func (gate) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var in held
	err := json.Unmarshal(inv.Args, &in)
	return pawl.Output{JSON: in.Value}, err
}

// confirmed is the policy that asks for approval of those calls.
type confirmed struct{}

// String returns the policy as recorded in the log.
func (confirmed) String() string { return suspendTool }

// Waits reports that a run can wait.
func (confirmed) Waits() bool { return true }

// Approves reports that it waits for approvals only.
func (confirmed) Approves() bool { return true }

// Review holds the calls.
func (confirmed) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	for i := range act.Calls {
		c := &act.Calls[i]
		var in held
		if c.Call.Tool != suspendTool || c.Do >= pawl.CallAsk || json.Unmarshal(c.Call.Args, &in) != nil {
			continue
		}
		c.Do, c.Why = pawl.CallAsk, fmt.Sprintf("step %s is to run with this value", in.Step)
		if in.When == After {
			c.Why = fmt.Sprintf("step %s has come to this value", in.Step)
		}
	}
	return act
}

// withGate adds what the steps need to wait for a person.
func withGate(agent pawl.Agent, loop *Loop) pawl.Agent {
	if loop.suspends {
		agent.Tools = append(slices.Clip(agent.Tools), gate{})
		agent.Policies = append(slices.Clip(agent.Policies), confirmed{})
	}
	return agent
}

// gateOf is the name of the call with which a step waits.
func gateOf(id string, when Suspend) string { return id + ":" + string(when) }

// hold has a person confirm the step n.
func (w *walk) hold(n *node, when Suspend, rounds []int) pawl.Step {
	var value any
	var err error
	if when == Before {
		value, err = w.given(n)
	} else {
		var results any
		results, err = w.own(n)
		value = outputIn(results)
	}
	var args held
	if err == nil {
		args = held{Step: n.ID, When: when}
		args.Value, err = json.Marshal(value)
	}
	c, wrong := call(suspendTool, args, join(gateOf(n.ID, when), rounds))
	if err == nil {
		err = wrong
	}
	if err != nil {
		return failed(n.ID, err.Error())
	}
	return pawl.Act{Calls: []pawl.Classified{c}}
}

// given returns what a step is about to run with: its prompt, arguments or input.
func (w *walk) given(n *node) (any, error) {
	if n.does == "single" {
		return w.text(n.Single.Prompt)
	}
	return w.fill(n.args)
}

// value is given, after a person has confirmed it if somebody must.
func (w *walk) value(n *node, rounds []int) (any, error) {
	if n.Suspend != Before {
		return w.given(n)
	}
	st, _ := w.s.Step(gateOf(n.ID, Before))
	if !st.OK || st.Label != join(gateOf(n.ID, Before), rounds) {
		return nil, errors.New("nobody has confirmed it")
	}
	return w.read(st)
}

// held continues when a person has decided about the step n.
func (w *walk) held(n *node, when Suspend, rounds []int) pawl.Step {
	st, ok := w.s.Step(gateOf(n.ID, when))
	switch {
	case !ok, !st.Done, st.Label != join(gateOf(n.ID, when), rounds):
		return w.hold(n, when, rounds)
	case !st.OK:
		return failed(n.ID, st.Error)
	case when == After:
		return w.enter(n.in, n.at+1, rounds)
	}
	switch n.does {
	case "switch":
		next, err := w.choose(n)
		if err != nil {
			return failed(n.ID, err.Error())
		}
		return w.enter(next, 0, rounds)
	case "while":
		return w.enter(n.blocks[0], len(n.Do), append(slices.Clip(rounds), 0))
	}
	return w.begin(n, rounds)
}

// leave continues after the step n.
func (w *walk) leave(n *node, rounds []int) pawl.Step {
	if n.Suspend == After {
		return w.hold(n, After, rounds)
	}
	return w.enter(n.in, n.at+1, rounds)
}
