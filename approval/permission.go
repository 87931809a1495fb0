package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/wire"
)

// The scopes of an approval: one call, or also later such calls of the run, of the agent in the
// thread, or of the agent in any run with the same labels.
const (
	OneCall   = "call"
	ForRun    = "run"
	ForThread = "thread"
	ForAgent  = "agent"
)

// usual is how long a permission lasts that does not say.
const usual = 30 * 24 * time.Hour

// A Reach says which later calls an approval also covers: calls of the same tool with equal
// arguments. The zero Reach covers none.
type Reach struct {
	Scope string `json:"scope,omitempty"` // one of the scopes; empty: OneCall
	// Free names arguments that may differ in the later calls, up to Times of them. An
	// argument that the tool declares as [pawl.ToolInfo].Reaches cannot be free.
	Free  []string  `json:"free,omitempty"`
	Times int       `json:"times,omitempty"` // the number of later calls; 0: any number
	Until time.Time `json:"until,omitzero"`  // when it ends; zero: 30 days after the decision
}

// Stands reports whether the approval covers later calls.
func (r *Reach) Stands() bool { return r.Scope != "" && r.Scope != OneCall }

// End is when the permission of an approval ends that was given at a time.
func (r *Reach) End(given time.Time) time.Time {
	if r.Until.IsZero() {
		return given.Add(usual)
	}
	return r.Until
}

// Check returns what is wrong with an approval of a call of a tool, which is an error that a
// person can correct.
func (r *Reach) Check(t pawl.ToolInfo) error {
	switch {
	case r.Scope != "" && !slices.Contains([]string{OneCall, ForRun, ForThread, ForAgent}, r.Scope):
		return fmt.Errorf("the scope is %q; write call, run, thread or agent", r.Scope)
	case !r.Stands() && (len(r.Free) > 0 || r.Times != 0 || !r.Until.IsZero()):
		return fmt.Errorf("free arguments, a number of times and an end are about later calls; choose the scope run, thread or agent")
	case r.Times < 0 || r.Times == 0 && len(r.Free) > 0:
		return fmt.Errorf("an approval with free arguments needs the number of calls that it is for: at least 1")
	}
	var schema struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(t.Input, &schema) // the machine has checked it
	for _, name := range r.Free {
		if _, ok := schema.Properties[name]; !ok {
			return fmt.Errorf("%s has no argument %s%s", t.Name, name, expr.DidYouMean(name, slices.Sorted(maps.Keys(schema.Properties))))
		}
		if slices.Contains(t.Reaches, name) {
			return fmt.Errorf("%s says where a call of %s goes, so it cannot be free: approve each value", name, t.Name)
		}
	}
	return nil
}

// A Permission is a standing approval, as a journal keeps it. It covers calls of one tool of one
// agent, as both were declared when it was given.
type Permission struct {
	ID string `json:"id"`
	Reach
	Run       string            `json:"run"`  // in which it was given
	Call      string            `json:"call"` // with which it was given
	Thread    string            `json:"thread,omitempty"`
	Agent     string            `json:"agent"`
	Labels    map[string]string `json:"labels,omitempty"` // that a run must have
	Tool      string            `json:"tool"`
	Args      json.RawMessage   `json:"args"` // those that are fixed
	By        string            `json:"by"`
	Given     time.Time         `json:"given_at"`
	Used      int               `json:"used"`
	Digests   map[string]string `json:"digests"`             // of the tool and the policies
	Witnesses map[string]string `json:"witnesses,omitempty"` // what the approver relied on
	RevokedBy string            `json:"revoked_by,omitempty"`
	RevokedAt time.Time         `json:"revoked_at,omitzero"`
}

// Bind binds a permission to the call that was approved, with the arguments that it runs with.
func (p *Permission) Bind(d *pawl.Declaration, tool string, args json.RawMessage) {
	p.Agent, p.Tool, p.Args, p.Digests = d.Agent, tool, wire.Without(args, p.Free), digests(d, tool)
}

// digests are those that a permission for a tool is bound to.
func digests(d *pawl.Declaration, tool string) map[string]string {
	bound := map[string]string{}
	for _, part := range []string{"tool " + tool, "flow " + tool, "trust " + tool, "policies", "approvals"} {
		if digest, ok := d.Digests[part]; ok {
			bound[part] = digest
		}
	}
	return bound
}

// Fits reports whether a permission is for such a call of an agent, whose run has labels: of the
// tool, and with the fixed arguments.
func (p *Permission) Fits(agent string, labels map[string]string, c *pawl.Call) bool {
	for name, value := range p.Labels {
		if is, ok := labels[name]; !ok || is != value {
			return false
		}
	}
	return p.Agent == agent && p.Tool == c.Tool && wire.Equal(p.Args, wire.Without(c.Args, p.Free))
}

// Over says why a permission covers no call any more; empty: it may.
func (p *Permission) Over(now time.Time) string {
	switch {
	case !p.RevokedAt.IsZero():
		return "was revoked by " + p.RevokedBy
	case p.Times > 0 && p.Used >= p.Times:
		return "is used up"
	case now.After(p.Until):
		return "has expired"
	}
	return ""
}

// Objection says why a permission that fits a call does not cover it; empty: it does. d is the
// agent as it is now, and witnesses are those of the call.
func (p *Permission) Objection(d *pawl.Declaration, c *pawl.Classified, witnesses map[string]string, now time.Time) string {
	if over := p.Over(now); over != "" {
		return over
	}
	if changed := append(wire.Differing(p.Digests, digests(d, p.Tool)), wire.Differing(p.Witnesses, witnesses)...); len(changed) > 0 {
		return "does not hold, since this changed: " + strings.Join(changed, ", ")
	}
	var args map[string]json.RawMessage
	_ = json.Unmarshal(c.Call.Args, &args) // no object has no free arguments
	for _, name := range c.Named {
		if _, given := args[name]; given && slices.Contains(p.Free, name) {
			return "leaves " + name + " free, and untrusted text may be behind its value"
		}
	}
	return ""
}

// Covers says which calls a permission covers, for a person: the tool, the arguments, and whose
// calls. Arguments are not redacted.
func (p *Permission) Covers() string {
	text := p.Tool + " " + string(p.Args)
	if len(p.Free) > 0 {
		text += " with any " + strings.Join(p.Free, ", ")
	}
	if p.Scope == ForRun {
		return text + ", in run " + p.Run
	}
	text += ", in each run of " + p.Agent
	for i, name := range slices.Sorted(maps.Keys(p.Labels)) {
		text += []string{" with ", ", "}[min(i, 1)] + name + "=" + p.Labels[name]
	}
	if p.Scope == ForThread {
		text += " in thread " + p.Thread
	}
	return text
}

// String is Covers with the number of calls and the end.
func (p *Permission) String() string {
	text := p.Covers()
	if p.Times > 0 {
		text += ", " + display.Said(p.Times, "once", "%d times")
	}
	return text + ", until " + p.Until.UTC().Format("2006-01-02T15:04Z")
}

// A Keeper is a journal that keeps small records by name, such as permissions. It knows nothing
// of what they say. The journals of this module are Keepers.
type Keeper interface {
	// Kept yields the records whose name begins with a prefix, in order of their names.
	Kept(ctx context.Context, prefix string) iter.Seq2[Record, error]

	// Keep replaces the record of a name by now; nil removes it. It fails with
	// pawl.ErrConflict and changes nothing unless the record is was; nil: there is none.
	Keep(ctx context.Context, name string, was, now []byte) error
}

// A Record is what a [Keeper] keeps under a name.
type Record struct {
	Name string
	Data []byte
}
