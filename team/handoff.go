package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// Carry says what of the conversation the next agent sees.
type Carry int

// The choices.
const (
	CarryAll     Carry = 1 + iota // everything
	CarrySummary                  // what a person said last, and a summary by the agent that hands over
	CarryLast                     // what a person said last
)

var carries = naming.NewEnum[Carry]("carry", []string{"all", "summary", "last"})

// String returns the choice's name.
func (c Carry) String() string { return carries.String(c) }

// Options configure a [Handoff]. The zero value is right.
type Options struct {
	// Carry is what the next agent sees. Zero: the model chooses, and CarryAll if it does not.
	Carry Carry
}

// Handoff makes a tool by which a model hands the conversation over to another agent. The tool
// is called handoff_to_NAME. The agent may change until the run is prepared, so that two agents
// can hand over to each other.
//
// A handoff is the only call of its reply that decides how the run goes on: the other calls of
// the reply run first, and a second handoff is refused. It is refused, too, when the thread has
// been handed over as often as pawl.Limits.Handoffs allows, or when too little is left of the
// limits, or when the run is a call of another agent. The model reads why.
func Handoff(to *pawl.Agent, o *Options) pawl.Tool {
	h := handoff{to: to}
	if o != nil {
		h.carry = o.Carry
	}
	return h
}

type handoff struct {
	to    *pawl.Agent
	carry Carry
	bare  bool // it stands for the tool in a declaration that the tool's own version has a digest of
}

// prefix is what the name of every handoff begins with.
const prefix = "handoff_to_"

// Info declares the tool. Its version has a line for each agent that can get the conversation
// by it, so that a change of any of them is noticed.
func (h handoff) Info() pawl.ToolInfo {
	info := pawl.ToolInfo{
		Name: prefix + h.to.Name, Effect: pawl.Read, Input: h.input(),
		Description: strings.TrimSpace(fmt.Sprintf("Hand this conversation over to %s, who then answers in your place. Call it alone, as the last thing you do. %s", h.to.Name, h.to.Description)),
	}
	if h.bare {
		return info
	}
	var lines strings.Builder
	for _, a := range Of(h.to) {
		if m, err := pawl.NewMachine(bare(*a)); err == nil { // else Check says so
			d := m.Declaration()
			fmt.Fprintf(&lines, "%s: %s\n", a.Name, total(d.Digests))
		}
	}
	info.Version = lines.String()
	return info
}

// input is the schema of the arguments.
func (h handoff) input() json.RawMessage {
	const (
		reason  = `"reason":{"type":"string","minLength":1,"description":"Why you hand over, and what is to be done."}`
		summary = `"summary":{"type":"string","description":"What the next agent must know of this conversation; with carry summary it sees nothing else of it."}`
		carry   = `"carry":{"enum":["all","summary","last"],"description":"What the next agent sees: the whole conversation (the default), your summary, or only the last message of the person."}`
	)
	properties, required := reason, `"reason"`
	switch h.carry {
	case 0:
		properties += "," + carry + "," + summary
	case CarrySummary:
		properties, required = properties+","+summary, required+`,"summary"`
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
}

// Team lists the agents that can get the conversation by this tool. Rules of the agent that
// hands over also apply to them.
func (h handoff) Team() []*pawl.Agent { return Of(h.to) }

// Waits reports whether one of the agents that can get the conversation may wait for somebody
// outside; Approves, whether that is for approvals only.
func (h handoff) Waits() bool    { return !h.bare && h.any((*pawl.Machine).Waits) }
func (h handoff) Approves() bool { return h.bare || !h.any((*pawl.Machine).Asks) }

func (h handoff) any(does func(*pawl.Machine) bool) bool {
	return slices.ContainsFunc(Of(h.to), func(a *pawl.Agent) bool {
		m, err := pawl.NewMachine(bare(*a))
		return err == nil && does(m)
	})
}

// Run accepts the handoff. The run ends when the other calls of the reply are over.
func (h handoff) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: wire.Quote(h.to.Name + " takes over this conversation.")}, nil
}

// Check reports what is wrong with the agents that can get the conversation.
func (h handoff) Check(from pawl.Agent) error {
	switch {
	case h.bare:
		return nil
	case h.carry < 0 || h.carry > CarryLast:
		return fmt.Errorf("tool %q: %d is nothing to carry; use CarryAll, CarrySummary or CarryLast", prefix+h.to.Name, int(h.carry))
	case h.to.Name == from.Name:
		return fmt.Errorf("tool %q: the agent hands over to itself", prefix+h.to.Name)
	}
	if _, known := from.Loop.(interface{ Steps() json.RawMessage }); known {
		return fmt.Errorf("tool %q: only an agent that chooses its calls can hand over, and the loop of %s is %s", prefix+h.to.Name, from.Name, from.Loop.Name())
	}
	var errs []error
	named := map[string]*pawl.Agent{}
	for _, a := range Of(h.to) {
		if other := named[a.Name]; other != nil {
			errs = append(errs, fmt.Errorf("tool %q: there are two agents %q; give each a name of its own", prefix+h.to.Name, a.Name))
		}
		named[a.Name] = a
		checked := bare(*a)
		if from.Limits.Cost > 0 && checked.Limits.Cost == 0 { // it runs on what is left of the limits
			checked.Limits.Cost = from.Limits.Cost
		}
		if _, err := pawl.NewMachine(checked); err != nil && a.Name != from.Name {
			errs = append(errs, fmt.Errorf("tool %q: %w", prefix+h.to.Name, err))
		}
	}
	return errors.Join(errs...)
}

// handoffs yields the handoffs among an agent's tools.
func handoffs(a *pawl.Agent) (all []handoff) {
	for _, t := range a.Tools {
		if h, ok := t.(handoff); ok {
			all = append(all, h)
		}
	}
	return all
}

// Of lists the agents that can get the conversation from an agent, itself first.
func Of(a *pawl.Agent) []*pawl.Agent {
	all := []*pawl.Agent{a}
	for i := 0; i < len(all); i++ {
		for _, h := range handoffs(all[i]) {
			if !slices.Contains(all, h.to) {
				all = append(all, h.to)
			}
		}
	}
	return all
}

// bare returns an agent whose handoffs have no versions: agents may hand over in a circle.
func bare(a pawl.Agent) pawl.Agent {
	a.Tools = slices.Clone(a.Tools)
	for i, t := range a.Tools {
		if h, ok := t.(handoff); ok {
			h.bare = true
			a.Tools[i] = h
		}
	}
	return a
}

// total is one digest of the digests of an agent's parts.
func total(digests map[string]string) string {
	var parts [][]byte
	for _, part := range (pawl.Declaration{}).Differences(pawl.Declaration{Digests: digests}) {
		parts = append(parts, []byte(part), []byte(digests[part]))
	}
	return wire.Digest(parts...)[:16]
}
