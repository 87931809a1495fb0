package team

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// Guard returns the agent with the policy of its handoffs. An agent without handoffs is returned
// unchanged. An engine does this with every agent that it drives.
func Guard(a pawl.Agent) pawl.Agent {
	all := handoffs(&a)
	if len(all) == 0 {
		return a
	}
	p := policy{}
	for _, h := range all {
		p = append(p, h.to.Name)
	}
	policies := a.Policies
	a.Policies = append(policies[:len(policies):len(policies)], p)
	return a
}

// policy ends a run that has handed over, and refuses handoffs. It has the names of the agents.
type policy []string

// String returns the policy as recorded in the log.
func (p policy) String() string { return "handoff(" + strings.Join(p, ", ") + ")" }

// Review refuses handoffs that cannot be, and ends the run when one was accepted and the other
// calls of its reply are over.
func (p policy) Review(s *pawl.State, step pawl.Step) pawl.Step {
	switch step := step.(type) {
	case pawl.Act:
		return p.admit(s, step)
	case pawl.Think:
		c, ok := p.accepted(s)
		if !ok {
			return step
		}
		if v := circle(s, target(c.Tool)); v.Holds {
			return pawl.Finish{Verdict: v}
		}
		l := leaf(target(c.Tool))
		return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusSuccess, Condition: l, Leaf: l, Detail: argsOf(c.Args).Reason}}
	}
	return step
}

// admit refuses all handoffs but the first, and that one too if it cannot be.
func (p policy) admit(s *pawl.State, act pawl.Act) pawl.Step {
	first, done := "", ""
	for c := range s.Open() {
		switch {
		case c.Tool == "__complete__":
			done = c.ID
		case first == "" && p.hands(c.Tool) && (c.Phase != pawl.PhaseAnswered || c.Status == pawl.ToolOK) && !refused(act, c.ID):
			first = c.ID
		}
	}
	var calls []pawl.Classified
	for i, d := range act.Calls {
		if !p.hands(d.Call.Tool) || d.Do == pawl.CallRefuse {
			continue
		}
		var why string
		switch {
		case done != "":
			why = "not handed over: the same reply hands in the final answer"
		case d.Call.ID != first:
			c, _ := s.Call(first)
			why = fmt.Sprintf("not handed over to %s: the same reply hands over to %s, and one agent can have the conversation", target(d.Call.Tool), target(c.Tool))
		default:
			why = p.impossible(s, d.Call)
		}
		if why == "" {
			continue
		}
		if calls == nil {
			calls = append(calls, act.Calls...)
		}
		calls[i].Do, calls[i].Why = pawl.CallRefuse, why
	}
	if calls == nil {
		return act
	}
	return pawl.Act{Calls: calls}
}

func refused(act pawl.Act, call string) bool {
	for _, d := range act.Calls {
		if d.Call.ID == call {
			return d.Do == pawl.CallRefuse
		}
	}
	return false
}

// leastLeg is the least tokens worth beginning a leg with, as of a child run.
const leastLeg = 1000

// impossible says why a handoff cannot be; empty: it can.
func (p policy) impossible(s *pawl.State, c pawl.Call) string {
	if a := argsOf(c.Args); a.Carry == CarrySummary.String() && strings.TrimSpace(a.Summary) == "" {
		return "not handed over: carry is summary, but there is no summary; write one, or leave carry out"
	}
	l := ledgerOf(s)
	left := func(what string) string {
		return fmt.Sprintf("not handed over to %s: %s; answer with what you know", target(c.Tool), what)
	}
	switch rest, parent := l.rest(), s.Head().Parent; {
	case parent != "" && strings.HasPrefix(s.Run(), parent+"."):
		return left("this run is a call of another agent, whose conversation it is")
	case l.used.Handoffs >= l.limits.Handoffs:
		return left(fmt.Sprintf("the conversation was handed over %s, which is the limit", display.Count(l.used.Handoffs, "time")))
	case rest.Iterations < 1:
		return left("no iteration is left")
	case rest.Tokens < leastLeg:
		return left(fmt.Sprintf("only %s are left", display.Count(max(0, rest.Tokens), "token")))
	case rest.Time <= 0:
		return left("no time is left")
	case l.limits.Cost > 0 && rest.Cost <= 0:
		return left("no money is left")
	}
	return ""
}

// hands reports whether a tool hands over.
func (p policy) hands(tool string) bool {
	to, ok := strings.CutPrefix(tool, prefix)
	if !ok {
		return false
	}
	return slices.Contains(p, to)
}

// accepted returns the handoff of the latest reply, if there is one that was accepted.
func (p policy) accepted(s *pawl.State) (pawl.CallState, bool) {
	reply, _ := s.Replied(pawl.PurposeTurn)
	for _, part := range reply.Parts {
		if call, ok := part.(pawl.Call); ok && p.hands(call.Tool) {
			if c, ok := s.Call(call.ID); ok && c.Phase == pawl.PhaseAnswered && c.Status == pawl.ToolOK {
				return c, true
			}
		}
	}
	return pawl.CallState{}, false
}

// circle holds if the run would hand over to an agent that its own agent has handed over to
// before, since a person spoke, and no leg in between has called anything else: the agents
// hand each other what none of them does.
func circle(s *pawl.State, to string) pawl.Verdict {
	me := s.Declaration().Agent
	if !idle(s) || s.ResetIterations() == s.Iterations() && s.Iterations() > 0 { // a person has resumed it
		return pawl.Verdict{}
	}
	names := []string{me}
	for k, run := 1, s; ; k++ {
		start, _ := run.Start()
		earlier, ok := run.Earlier()
		if start.Continues == nil || start.Continues.By == "" || !ok || !idle(earlier) {
			return pawl.Verdict{}
		}
		d := earlier.Declaration()
		if d.Agent == me && start.Declaration.Agent == to {
			l := fmt.Sprintf("cycle(%d)", k)
			return pawl.Verdict{Holds: true, Status: pawl.StatusNoProgress, Condition: l, Leaf: l,
				Detail: fmt.Sprintf("%s hand the conversation over to each other, and none of them does anything else", strings.Join(names, " and "))}
		}
		names = append(names, d.Agent)
		run = earlier
	}
}

// idle reports whether a run has called nothing but handoffs.
func idle(s *pawl.State) bool {
	for c := range s.Calls() {
		if c.Ran && !strings.HasPrefix(c.Tool, prefix) {
			return false
		}
	}
	return true
}

// args are the arguments of a handoff.
type args struct{ Reason, Carry, Summary string }

func argsOf(raw json.RawMessage) (a args) {
	_ = json.Unmarshal(raw, &a) // validated before
	return a
}

func target(tool string) string { return strings.TrimPrefix(tool, prefix) }
