package pawl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// judgeReply decides whether the latest reply can be used at all, before
// anything acts on it. A reply is rejected when a hook withdrew it, when it was
// cut off, cannot be parsed, calls only what cannot be called, or answers
// against the output schema. No step: the reply stands. valid is a call that was
// found to be valid, if there is one.
func (m *Machine) judgeReply(s *State) (step Step, valid *call) {
	if s.replied.seq == 0 || s.awaitsReply() || s.looped() {
		return nil, nil
	}
	if s.refusing() {
		_, whys, _ := m.flaws(s)
		return Record{s.refusals(whys)}, nil
	}
	switch {
	case s.standing == withdrawn: // whatever else may be said of it
	case s.turnedDown():
		return nil, nil
	case s.replied.Reply.Stop == StopRefusal:
		return failed("refused", s.replied.Reply.refusal()), nil
	case s.HasOpen() && s.begun():
		return nil, nil // judged before
	case !s.HasOpen() && (hasCalls(s.replied.Reply) || !s.settled && s.replied.malformed == ""):
		return nil, nil
	}
	reasons, whys, valid := m.flaws(s)
	if reasons == nil {
		return nil, valid
	}
	return s.reject(reasons, whys), nil
}

// refusal says who refused, and why. A text that a filter stopped is no reason.
func (r *Reply) refusal() string {
	if r.Filter != "" {
		return "the provider stopped the reply (" + r.Filter + ")"
	}
	return "the model refused: " + cmp.Or(display.Short(r.Text()), "it did not say why")
}

// What stands around the reasons why a reply is rejected when the model reads them.
const notAccepted, again = "Your reply was not accepted:\n- ", "\nReply again, correctly."

// reject rejects the latest reply and answers its calls.
func (s *State) reject(reasons, whys []string) Record {
	feedback := notAccepted + strings.Join(reasons, "\n- ") + again
	before, _ := value(s.rejection)
	rejected := PlanRejected{Reasons: reasons, Feedback: feedback, Rejection: before.Rejection + 1}
	return Record{append([]Event{rejected}, s.refusals(whys)...)}
}

// Reject returns the step by which a policy rejects the latest reply to a turn,
// and sends the model the reasons: none of its calls runs, and the model is
// asked again, as often as after a reply that cannot be used. Then the run ends as
// plan_failed. False: it is too late, since calls of the reply were acted on, or
// the model is asked again as it is.
func (s *State) Reject(reasons []string) (Record, bool) {
	if s.keepsReply(s.replied.seq) != "" || len(reasons) == 0 {
		return Record{}, false
	}
	return s.reject(reasons, nil), true
}

// policyRejection is the step of a policy that rejects a reply, as the machine makes it.
func (s *State) policyRejection(step Step) (Record, bool) {
	if r, ok := step.(Record); ok && len(r.Events) > 0 {
		if e, ok := r.Events[0].(PlanRejected); ok {
			return s.Reject(e.Reasons)
		}
	}
	return Record{}, false
}

// begun reports whether anything was done about the open calls.
func (s *State) begun() bool {
	return slices.ContainsFunc(s.open, func(c *call) bool { return c.Phase != PhaseUndecided || c.Error != "" })
}

// refusals answer the open calls of a rejected reply, none of which may run. Where
// a log was cut among them, they are those that are missing.
func (s *State) refusals(whys []string) (events []Event) {
	for i, c := range s.open {
		if i == len(whys) {
			whys = append(whys, "not run: the reply was rejected")
		}
		if c.Phase != PhaseAnswered {
			events = append(events, ToolRefused{Call: c.ID, Tool: c.Tool, Why: whys[i]})
		}
	}
	return events
}

// flaws lists why the reply is rejected, and for each open call what to answer;
// or it returns a valid call, which is enough for the reply to stand.
func (m *Machine) flaws(s *State) (reasons, whys []string, valid *call) {
	reply := &s.replied.Reply
	all := func(why string) ([]string, []string, *call) {
		for range s.open {
			whys = append(whys, "not run: "+why)
		}
		return []string{why}, whys, nil
	}
	switch {
	case s.replied.malformed != "":
		return all(s.replied.malformed)
	case reply.Stop == StopLength && len(s.open) > 0:
		return all("the reply was cut off at its token limit, so none of its calls was run; be shorter")
	case reply.Stop == StopLength:
		return all("the reply was cut off at its token limit; be shorter")
	case s.asked.View.Bare && !m.single && slices.ContainsFunc(s.open, s.notOffered):
		return all("no tools are offered here; answer in text")
	case len(s.open) > 0:
		for _, c := range s.open {
			why := m.invalid(c)
			if why == "" {
				return nil, nil, c // the others are refused on their own
			}
			whys, reasons = append(whys, why), append(reasons, fmt.Sprintf("%s (%s): %s", c.Tool, c.ID, why))
		}
		return reasons, whys, nil
	case reply.Stop == StopPause:
	case s.asked.View.Step != "":
		_, reasons = s.stepValue()
	case m.output != nil:
		_, reasons = jsonschema.Settle(m.agent.Output, reply.Text(), nil)
	}
	return reasons, nil, nil
}

// notOffered reports whether a call cannot answer a request without tools.
func (s *State) notOffered(c *call) bool { return c.Tool != completeTool || s.asked.View.Step != "" }

// invalid says why a call cannot be run as it stands; empty: it can.
func (m *Machine) invalid(c *call) string {
	t := m.tools[c.Tool]
	if t == nil || m.single {
		return m.unknown(c.Tool)
	}
	if t.info.Hosted != (Usage{}) {
		return "it is run by your provider while you reply, and cannot be called as other tools are"
	}
	if why := t.validate(c.args()); why != "" {
		return "invalid arguments: " + why
	}
	if m.output != nil && c.Tool == completeTool {
		var done struct{ Answer json.RawMessage }
		_ = json.Unmarshal(c.args(), &done) // validated just now
		if _, reasons := jsonschema.Settle(m.agent.Output, "", done.Answer); reasons != nil {
			return strings.Join(reasons, "; ")
		}
	}
	return ""
}

func (m *Machine) unknown(name string) string {
	if len(m.offer) == 0 || m.single {
		return fmt.Sprintf("there is no tool %q: no tools are offered; answer in text", name)
	}
	if m.index != nil {
		return fmt.Sprintf("there is no tool %q; %s", name, m.index.Near(name))
	}
	known := make([]string, len(m.offer))
	for i, t := range m.offer {
		known[i] = t.Name
	}
	return fmt.Sprintf("there is no tool %q; there are %s", name, strings.Join(known, ", "))
}

// act classifies every open call that is ready, and waits when none can. valid, if
// not nil, is known to be valid.
func (m *Machine) act(s *State, valid *call) Step {
	act := Act{Calls: make([]Classified, 0, len(s.open))}
	var keys map[string]bool // keys run in this batch
	var runs map[string]int  // calls of tools that may run so often
	var first *call          // that waits
	for _, c := range s.open {
		if !c.Phase.ready() {
			if c.Phase != PhaseAnswered && first == nil {
				first = c
			}
			if c.Phase == PhaseInDoubt {
				break // a Write is a barrier: nothing behind it runs before it is known to be over
			}
			continue
		}
		act.Calls = act.Calls[:len(act.Calls)+1] // there is room for all
		d := &act.Calls[len(act.Calls)-1]
		m.classify(s, c, c == valid, d)
		if d.Do != CallRun {
			continue
		}
		if d.info.Effect == Idempotent {
			if keys[d.Key] {
				act.Calls = act.Calls[:len(act.Calls)-1]
				continue // answered from the log once its equal has run
			}
			put(&keys, d.Key, true)
		}
		if most := d.info.MaxCalls; most > 0 {
			if put(&runs, c.Tool, runs[c.Tool]+1); s.tools.Of(c.Tool).Ran+runs[c.Tool] > most {
				d.Do, d.Why = CallRefuse, c.Tool+display.Said(most, " may run once in a run, and has", " may run %d times in a run, and has")
			}
		}
	}
	if len(act.Calls) > 0 {
		return act
	}
	if first == nil {
		return failed("machine", "calls are open, but nothing can be done about them")
	}
	return m.await(s, first)
}

// await waits for what an open call waits for.
func (m *Machine) await(s *State, first *call) Step {
	if m.agent.observes() && s.binds() && s.seen().seq <= s.acted && s.Waits(PhaseAwaitingApproval) {
		return Observe{} // so that an approval is about the world as it is now
	}
	next := s.nextAwake()
	if first.wakes() {
		if i := slices.IndexFunc(s.open, func(c *call) bool { return c.Phase != PhaseAnswered && !c.wakes() }); i >= 0 {
			first = s.open[i] // somebody is needed, too
		}
	}
	a := Await{Status: waiting[first.Phase].status, Reason: waitsFor(first)}
	switch {
	case first.wakes():
		a = Await{Status: StatusPaused, Until: next.WakeAt, Reason: waitsFor(next)}
	case first.Phase == PhaseAwaitingChild:
		a.Status, a.Until = first.child.status, first.child.wake
	}
	if next != nil && (a.Until.IsZero() || next.WakeAt.Before(a.Until)) {
		a.Until = next.WakeAt
	}
	return a
}

// awake ends the calls that waited until a time that has come. The time is that of the latest entry, so a
// run that is resumed too early, or whose clock was set back, waits again.
func (s *State) awake() (facts []Event) {
	for _, c := range s.open {
		if c.wakes() && !s.time.Before(c.WakeAt) {
			facts = append(facts, c.succeeds("the time has come: it is "+s.time.UTC().Format(time.RFC3339)))
		}
	}
	return facts
}

// nextAwake is the call that is the first to have waited long enough; nil: none waits for a time.
func (s *State) nextAwake() (next *call) {
	for _, c := range s.open {
		if c.wakes() && (next == nil || c.WakeAt.Before(next.WakeAt)) {
			next = c
		}
	}
	return next
}

// Dropped returns the open calls that the loop no longer needs; see [Loop].
func (m *Machine) Dropped(s *State) []string {
	l, ok := m.loop.(interface{ Dropped(*State) []string })
	if !ok || !s.looped() {
		return nil
	}
	return slices.DeleteFunc(l.Dropped(s), func(id string) bool { return s.opened(id) == nil })
}

// drop answers the open calls that were cancelled, and those that the loop needs no longer.
func (m *Machine) drop(s *State) (facts []Event) {
	ids := m.Dropped(s)
	for _, c := range s.open {
		if c.Cancelled != "" && c.Phase != PhaseAnswered && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	for _, id := range ids {
		c := s.opened(id)
		why := cmp.Or(c.Cancelled, "it was not needed any more")
		if c.Attempt == 0 {
			facts = append(facts, ToolRefused{Call: id, Tool: c.Tool, Why: cmp.Or(display.After("not run: ", c.Cancelled), why)})
		} else if c.Phase != PhaseInDoubt {
			facts = append(facts, ToolFinished{Call: id, Tool: c.Tool, Status: ToolCancelled, Error: why})
		}
	}
	return facts
}

func waitsFor(c *call) string {
	switch c.Phase {
	case PhaseAwaitingInput:
		if c.wakes() {
			return c.ID + ": " + c.Reason
		}
		return fmt.Sprintf("%s asks: %s", c.ID, c.Reason)
	case PhaseAwaitingClient:
		return fmt.Sprintf("%s: the client is to run %s", c.ID, c.Tool)
	}
	return fmt.Sprintf("%s %s: %s", c.ID, c.Tool, c.Reason)
}

// noTool is what an unknown tool declares.
var noTool ToolInfo

// classify says what becomes of one call before any policy has looked; valid: its
// arguments were checked.
func (m *Machine) classify(s *State, c *call, valid bool, d *Classified) {
	*d = Classified{Call: c.Call, Do: CallRun, info: &noTool}
	d.Call.Args = c.args()
	if c.Error != "" && c.Phase == PhaseUndecided { // denied
		d.Do, d.Why = CallRefuse, c.Error
		return
	}
	if c.voided >= maxVoided {
		d.Do, d.Why = CallRefuse, fmt.Sprintf("it was approved %d times, and each time what the approval relied on changed before the call could run (the last time: %s); it was not run", c.voided, strings.Join(c.Changed, ", "))
		return
	}
	if !valid {
		if why := m.invalid(c); why != "" {
			d.Do, d.Why = CallRefuse, why
			return
		}
	}
	t := m.tools[c.Tool]
	d.info = &t.info
	switch {
	case t.info.Client, t.info.Name == pauseTool:
		d.Do = CallHand
		return
	case t.pure != nil:
		d.Do, d.facts = CallReuse, &Record{t.pure.facts(s, c)}
		return
	case t.waiter != nil:
		e, err := t.waiter.Until(d.Call.Args, s.time)
		e.Call = c.ID
		if d.Do, d.facts = CallHand, (&Record{[]Event{e}}); err != nil {
			d.Do, d.Why = CallRefuse, err.Error()
		}
		return
	}
	if t.info.Effect == Idempotent {
		content := contentKey(c.Tool, d.Call.Args)
		d.Key = wire.Digest([]byte(s.keyed()), []byte(content))[:32]
		if of := s.equal(content); of != "" {
			d.Do, d.Of = CallReuse, of
			return
		}
	} else {
		d.Key = s.keyed() + "/" + c.ID
	}
	if t.info.Effect == Write && c.Phase == PhaseUndecided {
		if of := s.unknownOutcome(c.Tool, d.Call.Args); of != "" {
			d.Do, d.Once, d.Why = CallAsk, true, fmt.Sprintf("the equal call %s has an unknown outcome; running it again may do it twice", of)
		}
	}
}

// Facts returns the events that record a classification other than CallRun. The engine adds to
// them what only it can know (an expiry, preconditions).
func (d Classified) Facts() []Event {
	if d.facts != nil && d.Do < CallAsk {
		return d.facts.Events
	}
	switch d.Do {
	case CallReuse:
		return []Event{ToolReused{Call: d.Call.ID, Tool: d.Call.Tool, Of: d.Of}}
	case CallHand:
		if d.info.Client {
			return []Event{ClientToolRequested{Call: d.Call.ID, Tool: d.Call.Tool, Args: d.Call.Args}}
		}
		return []Event{InputRequested{Call: d.Call.ID, Question: newCall(d.Call, 0).given().Question}}
	case CallAsk:
		return []Event{ApprovalRequested{Call: d.Call.ID, Tool: d.Call.Tool, Args: d.Call.Args, Reason: d.Why}}
	case CallRefuse:
		return []Event{ToolRefused{Call: d.Call.ID, Tool: d.Call.Tool, Why: d.Why}}
	}
	return nil
}
