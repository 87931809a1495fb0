package team

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// DefaultHandoffs is how often a thread may be handed over if pawl.Limits.Handoffs is zero.
const DefaultHandoffs = 5

// leaf is the reason of a run that has handed over.
func leaf(to string) string { return "handoff(" + strconv.Quote(to) + ")" }

// Handed returns the agent that a run has handed over to, and whether it has.
func Handed(v pawl.Verdict) (to string, ok bool) {
	quoted, ok := strings.CutPrefix(v.Leaf, "handoff(")
	if !ok || v.Status != pawl.StatusSuccess {
		return "", false
	}
	to, err := strconv.Unquote(strings.TrimSuffix(quoted, ")"))
	return to, err == nil
}

// HandedIn is [Handed] for a result, which a server may have sent.
func HandedIn(r pawl.Result) (to string, ok bool) {
	return Handed(pawl.Verdict{Status: r.Status, Leaf: r.Reason.Leaf})
}

// A ledger is what the legs of a conversation may use together, and have used.
type ledger struct{ limits, used pawl.Limits }

// ledgerOf returns the ledger after what the run has used so far. Raising a limit of one leg
// raises that of all.
func ledgerOf(s *pawl.State) (l ledger) {
	start, _ := s.Start()
	own, now := start.Declaration.Limits, s.Limits()
	l.limits = own
	if c := start.Continues; c != nil {
		l.used = c.Used
		if c.Limits != (pawl.Limits{}) {
			l.limits = c.Limits
		}
	}
	l.limits.Iterations += now.Iterations - own.Iterations
	l.limits.Tokens += now.Tokens - own.Tokens
	l.limits.Time += now.Time - own.Time
	if l.limits.Cost > 0 {
		l.limits.Cost += now.Cost - own.Cost
	}
	l.limits.Handoffs = cmp.Or(now.Handoffs, l.limits.Handoffs, DefaultHandoffs)
	dollars, _ := s.Cost()
	l.used.Iterations += s.Head().Iterations
	l.used.Tokens += s.Tokens()
	l.used.Time += s.Elapsed().Truncate(time.Millisecond)
	l.used.Cost += dollars
	return l
}

// rest is what is left.
func (l ledger) rest() pawl.Limits {
	return pawl.Limits{
		Iterations: l.limits.Iterations - l.used.Iterations,
		Tokens:     l.limits.Tokens - l.used.Tokens,
		Time:       l.limits.Time - l.used.Time,
		Cost:       l.limits.Cost - l.used.Cost,
	}
}

// bound returns an agent's limits within what is left. Those that it does not set are what is
// left.
func (l ledger) bound(own pawl.Limits) pawl.Limits {
	rest, whole := l.rest(), l.limits.Merge(own)
	lower := func(own, rest int) int {
		if own == 0 || own > rest {
			return max(1, rest)
		}
		return own
	}
	whole.Iterations, whole.Tokens = lower(own.Iterations, rest.Iterations), lower(own.Tokens, rest.Tokens)
	whole.Time = time.Duration(lower(int(own.Time), int(rest.Time)))
	if l.limits.Cost > 0 && (own.Cost == 0 || own.Cost > rest.Cost) {
		whole.Cost = max(1e-9, rest.Cost)
	}
	whole.Handoffs = l.limits.Handoffs
	if own.Handoffs > 0 {
		whole.Handoffs = min(own.Handoffs, whole.Handoffs)
	}
	return whole
}

// Next returns the agent of the next leg of a run that ends with a verdict, and what the leg
// says of the legs before; nil: the run does not hand over. The agent also obeys the policies
// that child runs inherit.
func Next(s *pawl.State, from pawl.Agent, v pawl.Verdict) (agent pawl.Agent, link *pawl.Continues) {
	to, ok := Handed(v)
	if !ok {
		return agent, nil
	}
	for _, h := range handoffs(&from) {
		if h.to.Name != to {
			continue
		}
		c, _ := policy{to}.accepted(s)
		a := argsOf(c.Args)
		l := ledgerOf(s)
		agent = *h.to
		agent.Limits, agent.Labels, agent.Source = l.bound(agent.Limits), from.Labels, from.Source
		var policies []pawl.Policy
		for _, p := range from.Policies {
			if i, ok := p.(interface {
				Inherited(s *pawl.State, call string) bool
			}); ok && i.Inherited(s, c.ID) && !has(agent.Policies, p.String()) {
				policies = append(policies, p)
			}
		}
		agent.Policies = append(policies, agent.Policies...)
		start, _ := s.Start()
		link = &pawl.Continues{By: from.Name, Reason: a.Reason, Carry: cmp.Or(a.Carry, CarryAll.String()), Limits: l.limits, Used: l.used}
		if h.carry != 0 {
			link.Carry = h.carry.String()
		}
		if link.Carry == CarryAll.String() {
			link.Carry = ""
		} else if link.Carry == CarrySummary.String() {
			link.Summary = a.Summary
		}
		if c := start.Continues; c != nil {
			link.Legs = c.Legs
		}
		link.Legs = append(slices.Clone(link.Legs), s.Run())
		link.Used.Handoffs++
		return agent, link
	}
	return agent, nil
}

// Follow returns the agent that gets the next message of a person in a thread, and how its run
// continues last, the thread's latest run. agent is the one that the caller would start. If the
// conversation was handed over, the result is the agent that has it now, with the limits of
// agent; otherwise it is agent itself.
func Follow(last *pawl.State, agent pawl.Agent) (pawl.Agent, pawl.Continues) {
	link := pawl.Continues{}
	start, _ := last.Start()
	if c := start.Continues; c != nil {
		link.Used.Handoffs = c.Used.Handoffs
	}
	if len(handoffs(&agent)) == 0 {
		return agent, pawl.Continues{}
	}
	for _, a := range Of(&agent)[1:] {
		if a.Name == last.Declaration().Agent && a.Name != agent.Name {
			m, err := pawl.NewMachine(bare(agent))
			if err != nil {
				return agent, link
			}
			link.Limits = m.Declaration().Limits
			l := ledger{link.Limits, pawl.Limits{}}
			l.limits.Handoffs = cmp.Or(l.limits.Handoffs, DefaultHandoffs)
			next := *a
			next.Limits, next.Labels, next.Source = l.bound(a.Limits), agent.Labels, agent.Source
			return withPolicies(next, agent, last.Declaration()), link
		}
	}
	return agent, link
}

// Member returns the agent of a run that was declared as a member of a team, given the first
// agent of the conversation. If first is that agent, or knows no agent of that name, the result
// is first.
func Member(first pawl.Agent, run pawl.Declaration) pawl.Agent {
	if len(handoffs(&first)) == 0 {
		return first
	}
	if run.Agent == first.Name {
		return withPolicies(first, first, run)
	}
	for _, a := range Of(&first) {
		if a.Name == run.Agent {
			member := *a
			member.Limits, member.Labels, member.Source = run.Limits, first.Labels, first.Source
			return withPolicies(member, first, run)
		}
	}
	return first
}

// withPolicies adds the policies that a run of an agent has inherited, which are those of
// agents of its team.
func withPolicies(agent, first pawl.Agent, run pawl.Declaration) pawl.Agent {
	var policies []pawl.Policy
	for _, source := range run.Policies {
		if has(agent.Policies, source) {
			continue
		}
		if p := inherited(first, source); p != nil {
			policies = append(policies, p)
		}
	}
	agent.Policies = append(policies, agent.Policies...)
	return agent
}

// inherited returns the policy of a team that child runs inherit, by how it
// prints; nil: there is none.
func inherited(first pawl.Agent, source string) pawl.Policy {
	for _, a := range Of(&first) {
		for _, p := range a.Policies {
			if _, inherits := p.(interface {
				Inherited(s *pawl.State, call string) bool
			}); inherits && p.String() == source {
				return p
			}
		}
	}
	return nil
}

func has(all []pawl.Policy, source string) bool {
	return slices.ContainsFunc(all, func(p pawl.Policy) bool { return p != nil && p.String() == source })
}
