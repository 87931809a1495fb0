package pawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// defaultTTL is how long a request for approval stands when the agent does not say.
const defaultTTL = 24 * time.Hour

// liftApproved lets those calls run that a policy holds and that were approved. Policies need not
// know about decisions.
func (m *Machine) liftApproved(s *State, step Step) Step {
	act, ok := step.(Act)
	if !ok {
		return step
	}
	for i := range act.Calls {
		d := &act.Calls[i]
		c := s.opened(d.Call.ID)
		if c == nil {
			continue
		}
		switch {
		case d.Do != CallAsk:
		case c.Phase == PhaseApproved || c.approved:
			m.classify(s, c, false, d)
		case c.Changed != nil:
			d.Why += "; changed since it was asked: " + strings.Join(c.Changed, ", ")
		}
		d.Approved = c.approved
	}
	return step // whose calls these are
}

// Hold returns the event that asks for approval of a call. It binds the decision to the call,
// to the preconditions that the engine found, and to the agent as it is now.
func (m *Machine) Hold(s *State, d Classified, tokenHash string, witnesses map[string]string) ApprovalRequested {
	ttl := cmp.Or(m.agent.Approvals.TTL, defaultTTL)
	e := ApprovalRequested{Call: d.Call.ID, Tool: d.Call.Tool, Args: d.Call.Args, Reason: d.Why,
		Expires: s.time.Add(ttl), Preconditions: witnesses, TokenHash: tokenHash}
	e.Digest = m.binding(s.run, e.Call, e.Tool, e.Args, witnesses, e.Expires)
	return e
}

// binding digests everything a decision is bound to.
func (m *Machine) binding(run, call, tool string, args json.RawMessage, witnesses map[string]string, expires time.Time) string {
	parts := [][]byte{
		[]byte(run), []byte(call), []byte(contentKey(tool, args)), []byte(expires.UTC().Format(time.RFC3339Nano)),
		[]byte(m.decl.Digests["tool "+tool]), []byte(m.decl.Digests["policies"]), []byte(m.decl.Digests["approvals"]),
	}
	for _, name := range slices.Sorted(maps.Keys(witnesses)) {
		parts = append(parts, []byte(name), []byte(witnesses[name]))
	}
	return wire.Digest(parts...)
}

// unbound are the requests and decisions that were made under another agent, or
// with another world in view: they hold no longer, whatever was decided.
func (m *Machine) unbound(s *State) (facts []Event) {
	for _, c := range s.open {
		if c.digest == "" || c.Phase != PhaseAwaitingApproval && c.Phase != PhaseApproved {
			continue
		}
		var changed []string
		if c.digest != m.binding(s.run, c.ID, c.Tool, c.Call.Args, c.Preconditions, c.Expires) {
			changed = []string{"the agent"}
		}
		// A request is void with the first look after the run was parked with it, an
		// approval with the first one after the decision.
		if c.Phase == PhaseApproved && c.decided < s.seen().seq || c.Phase == PhaseAwaitingApproval && c.Requested < s.resumed {
			changed = append(changed, s.changed(c)...)
		}
		if changed != nil {
			facts = append(facts, ApprovalInvalidated{Call: c.ID, Changed: changed})
		}
	}
	return facts
}

// binds reports whether what the run observes is a precondition of approvals.
func (s *State) binds() bool { return !s.declared().Approvals.IgnoreObservation }

// changed names what the latest look found otherwise than the look that the
// approver of a call relied on. A call that was started is past that.
func (s *State) changed(c *call) (what []string) {
	if c.basis == nil || c.basis == s.look || c.Attempt > 0 || !s.binds() {
		return nil
	}
	if c.basis.Text != s.look.Text || !bytes.Equal(c.basis.Data, s.look.Data) {
		what = []string{"the observation"}
	}
	return append(what, meter.Changed(c.basis.measure(), s.look.measure())...)
}

// outdated reports whether what was last seen of the world is older than an
// approval that is about to be used, or than what voided one.
func (s *State) outdated() bool {
	return slices.ContainsFunc(s.open, func(c *call) bool {
		voided := c.Phase == PhaseUndecided && c.Changed != nil
		return c.Phase == PhaseApproved && c.decided > s.seen().seq || voided && s.seen().seq <= s.acted
	})
}

// detail says who denied what.
func (e *ApprovalDecided) detail(c *call) string {
	return fmt.Sprintf("%s denied %s (%s)%s", cmp.Or(e.By, "somebody"), c.Tool, c.ID, display.After(": ", e.Reason))
}
