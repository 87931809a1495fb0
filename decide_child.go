package pawl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/usercode"
)

// A Delegate is a tool whose calls are runs of another agent: child runs, each with a log of
// its own. The id of a child run is the id of its parent, a dot, and the call's id, as in
// 01J….c_3.
//
// The engine does not call Run. A child's limits are allocated from what is left of its
// parent's when the child starts, and its use is booked to the parent when it stops. A child
// waits, pauses and is cancelled with its parent. When a parent resumes after it lost its
// owner, its children resume too; they never start again. The child's answer is the call's
// result.
type Delegate interface {
	Tool
	// Agent returns the agent. It is called once, when the run is prepared.
	Agent() Agent
	// Ask returns the child's input for a call with these arguments, which were
	// validated against Info().Input. The model reads the error.
	Ask(args json.RawMessage) (input string, err error)
}

// childRun is what a call's parent knows of the run that the call is.
type childRun struct {
	limits Limits
	status Status    // where it stood when it was let go of; zero: it goes on
	wake   time.Time // when it then wanted to go on
	usage  Usage     // booked so far
	cost   float64
	calls  int
}

// leastChild is the least tokens worth beginning a run with: about a prompt, a
// question and an answer.
const leastChild = 1000

// delegate prepares a tool whose calls are child runs. Errors of its agent are
// errors of the tool. The version of such a tool is the digest of its agent's
// declaration, so that a run notices a change.
func (m *Machine) delegate(d Delegate, a *armed) error {
	agent := d.Agent()
	if m.agent.Limits.Cost > 0 && agent.Limits.Cost == 0 {
		agent.Limits.Cost = m.agent.Limits.Cost
	}
	a.agent = &agent
	child, err := NewMachine(agent)
	if err != nil {
		return fmt.Errorf("tool %q: agent %q: %w", a.info.Name, a.agent.Name, err)
	}
	a.ask, a.waits, a.asks, a.info.Agent = d.Ask, child.Waits(), child.Asks(), a.agent.Name
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(child.decl.Digests)) {
		parts = append(parts, name, child.decl.Digests[name])
	}
	if a.info.Trust == 0 && slices.ContainsFunc(child.offer, func(t ToolInfo) bool { return t.Trust == Untrusted }) {
		a.info.Trust = Untrusted // it may say what they told it
	}
	a.info.Version = cmp.Or(a.info.Version, digest(parts...))
	return nil
}

// Child returns the agent and the input of a call that runs as a child run of s. The agent has
// the limits allocated to it and the policies that it inherits.
func (m *Machine) Child(s *State, d Classified) (agent Agent, input string, err error) {
	defer usercode.Blame("tool", d.Call.Tool)
	t := m.tools[d.Call.Tool]
	if t == nil || t.ask == nil {
		return Agent{}, "", fmt.Errorf("%s is no agent", d.Call.Tool)
	}
	agent = *t.agent
	var policies []Policy
	for _, p := range m.agent.Policies {
		if i, ok := p.(interface{ Inherited(*State, string) bool }); ok && i.Inherited(s, d.Call.ID) {
			policies = append(policies, p)
		}
	}
	agent.inherited = len(policies)
	agent.Policies, agent.Limits = append(policies, agent.Policies...), *d.Limits
	input, err = t.ask(d.Call.Args)
	return agent, input, err
}

// allocate divides what is left, less what the next turn of this run is expected to need, among the calls of
// the batch that are runs of their own, by their weights. A call whose share is too small to begin with is
// refused.
//
// A model reads what can no longer be paid for and may do without. A loop
// cannot: the run ends as exhausted, so that the step does not look like one
// that failed, and the call waits for a higher limit.
func (m *Machine) allocate(s *State, step Step) Step {
	act, ok := step.(Act)
	if !ok {
		return step
	}
	n := 0
	for i := range act.Calls {
		if d := &act.Calls[i]; d.Do == CallRun && d.info.Agent != "" {
			n += max(1, d.info.Weight)
		}
	}
	if n == 0 {
		return step
	}
	next := m.fill(s, Think{Purpose: PurposeTurn})
	tokens := s.limits.Tokens - s.Tokens() - next.Estimate - next.Hosted.Input - leastReply
	dollars := s.limits.Cost - s.cost
	if price := m.decl.ModelInfo.Price; price != nil {
		in, _ := meter.Rates(*price).Most(next.Estimate, meter.Use(next.Hosted), next.Long)
		dollars -= in
	}
	for i := range act.Calls {
		if d := &act.Calls[i]; d.Do == CallRun && d.info.Agent != "" {
			w := max(1, d.info.Weight)
			leaf := m.allocateChild(s, d, max(tokens*w/n, 0), max(dollars*float64(w)/float64(n), 0))
			if leaf != "" && s.looped() {
				return m.exhaust(s, verdict(StatusExhausted, leaf, d.Why))
			}
		}
	}
	return step
}

// allocateChild sets the limits of a child. They bound all that it uses, so a
// child that goes on gets its part in addition to what is booked. A child with
// too little is refused, and allocateChild returns the limit that leaves it too
// little.
func (m *Machine) allocateChild(s *State, d *Classified, tokens int, dollars float64) (leaf string) {
	var l Limits
	if of := m.tools[d.Call.Tool].agent; of != nil {
		l = of.Limits
	}
	l = l.withDefaults()
	d.Child, d.Limits = s.run+"."+d.Call.ID, &l
	var had childRun
	begun := false
	if c := s.opened(d.Call.ID); c != nil && c.Child != "" {
		begun, had, d.Child = true, *c.child, c.Child
	}
	l.Iterations = min(l.Iterations, s.limits.Iterations)
	l.Tokens = min(l.Tokens, max(1, had.usage.Total()+tokens)) // zero would be the default
	l.Time = max(time.Millisecond, min(l.Time, s.limits.Time-s.elapsed).Truncate(time.Millisecond))
	if l.Depth = min(l.Depth, s.limits.Depth-1); l.Depth < 1 {
		l.Depth = -1
	}
	if share := max(1e-9, had.cost+dollars); s.limits.Cost > 0 && (l.Cost == 0 || share < l.Cost) {
		l.Cost = max(1e-9, meter.Dollars(share))
	}
	switch {
	case begun: // what it cannot pay for any more it says itself
		l.Time = had.limits.Time
		if had.status == StatusInterrupted { // a sibling's end would otherwise make it richer for a crash
			l.Tokens = min(l.Tokens, had.limits.Tokens)
		}
	case s.limits.Depth < 0:
		d.Do, d.Why = CallRefuse, fmt.Sprintf("runs are nested as deep as they may be; do without %s", d.info.Agent)
	case l.Tokens < leastChild:
		d.Do, d.Why = CallRefuse, fmt.Sprintf("%s of %s tokens are used and more are needed for the next turn: too few are left for %s",
			display.Group(s.Tokens()), display.Group(s.limits.Tokens), d.info.Agent)
		return tokensLeaf(s.limits)
	case s.limits.Cost > 0 && dollars <= 0:
		d.Do, d.Why = CallRefuse, fmt.Sprintf("%s of $%s are spent: too little is left for %s", display.Dollars(s.cost), s.costLimit(), d.info.Agent)
		return "cost >= " + s.costLimit()
	}
	return ""
}

// startChild has a call go on as a run of its own.
func (s *State) startChild(e *ChildStarted) {
	if c := s.opened(e.Call); c != nil {
		was, _ := value(c.child)
		c.Phase, c.Child, c.child = PhaseStarted, e.Child, &childRun{limits: e.Limits, usage: was.usage, cost: was.cost, calls: was.calls}
	}
}

// stopChild books what a child has used since it was settled last.
func (s *State) stopChild(e *ChildStopped) {
	now := childRun{status: e.Status, wake: e.WakeAt, usage: e.Usage, cost: e.Cost, calls: e.ModelCalls}
	var was childRun
	if c := s.opened(e.Call); c != nil && c.Child != "" {
		was, _ = value(c.child)
		now.limits = was.limits
		c.Child, c.child = e.Child, &now
		c.Reason = fmt.Sprintf("its run %s is %v", e.Child, e.Status)
		if e.Status != StatusInterrupted { // one that has ended is answered next, unless it was cancelled with us
			c.Phase = PhaseAwaitingChild
		}
	}
	s.book(Usage(meter.Use(e.Usage).Plus(meter.Use(was.usage), -1)), e.Cost-was.cost)
	s.modelCalls += max(0, e.ModelCalls-was.calls)
	s.priced = s.priced && !e.Unpriced
}
