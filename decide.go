package pawl

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/usercode"
)

// maxRounds is how often the policies are asked before they are held to disagree.
const maxRounds = 8

// maxBlind is how many observations in a row may fail, as many as tool turns.
const maxBlind = 3

// patience is the longest a run sleeps for a provider; beyond it the run pauses.
const patience = 5 * time.Minute

// Decide returns the step that must happen next. It is pure and total: the same machine and
// state always give the same step. The caller must have finished what is in flight (see
// [State.InFlight]); otherwise Decide answers as if that still had to be done.
//
// The order is: what was begun is settled; success, then the stop condition; the loop; the
// policies, until none changes the step; the limits.
func (m *Machine) Decide(s *State) Step {
	step := m.propose(s)
	if t, ok := step.(Think); ok {
		step = m.fill(s, t) // so that a policy sees the clamp it may lower
	}
	step = m.liftApproved(s, m.review(s, step))
	step = m.limit(s, m.allocate(s, step))
	if due := m.notices(s, step); due != nil {
		return Record{due}
	}
	if _, ends := step.(Finish); ends {
		return m.lastWords(s, step)
	}
	return step
}

// lastWords asks the policies about the end of a run at its limits. Limits
// apply after the policies, so that these may still withhold or note the
// answer; any other step they want is too late.
func (m *Machine) lastWords(s *State, step Step) Step {
	end := step.(Finish)
	if end.Verdict.Status != StatusExhausted {
		return step
	}
	for _, p := range m.agent.Policies {
		switch next := withheld(s, end, reviewed(p, s, end)).(type) {
		case Record:
			if unsound(next) == "" && s.idle < mostIdle {
				return next
			}
		case Finish:
			if unsound(next) == "" && loosens(end, next) == "" {
				end = next
			}
		}
	}
	return end
}

// propose is the step before any policy reviews it: that of the first rule that has one.
func (m *Machine) propose(s *State) Step {
	var valid *call
	for _, rule := range [...]func(*State) Step{
		m.over,   // it has ended, was cancelled, or was denied
		m.doubts, // a Write that was cut short is never guessed
		func(s *State) (step Step) { step, valid = m.judgeReply(s); return step }, // a reply that cannot be used is rejected
		m.lookAgain, // the world may have changed while nobody owned the run
		m.conclude,  // success first, then the stop condition
		m.failure,   // a model call is tried again, or asked elsewhere
		m.blind,     // a run that sees nothing is not to act
		func(s *State) Step { return m.handleCalls(s, valid) }, // before the next turn, all calls are answered
		question, // so is what the run itself asks
		m.look,   // before the first turn, and after every action
	} {
		if step := rule(s); step != nil {
			return step
		}
	}
	return m.askLoop(s)
}

// over ends a run that has ended, or that somebody has ended.
func (m *Machine) over(s *State) Step {
	if s.start == nil {
		return failed("not_started", "the log is empty: a run begins with run.started")
	}
	if s.Status().Ended() {
		return Finish{Verdict: s.Verdict()}
	}
	if v, asked := s.Cancelled(); asked {
		return Finish{Verdict: v}
	}
	for _, c := range s.open {
		if e := c.denial; e != nil && m.agent.Approvals.StopOnDeny {
			return Finish{Verdict: verdict(StatusDenied, "denied", e.detail(c))}
		}
	}
	return nil
}

// lookAgain observes after the run was resumed.
func (m *Machine) lookAgain(s *State) Step {
	if m.agent.observes() && s.seen().seq < s.resumed {
		return Observe{}
	}
	return nil
}

// conclude ends the run when the goal is met or the stop condition holds. While a call is in
// doubt, nothing does.
func (m *Machine) conclude(s *State) Step {
	if v := m.ends(s); v.Holds && !s.Waits(PhaseInDoubt) && !m.yields(s, v) {
		return m.finish(s, v)
	}
	return nil
}

// blind ends a run that cannot see what it does.
func (m *Machine) blind(s *State) Step {
	if m.agent.Goal != nil && s.seen().blind > 0 && s.settled && s.iteration == s.resetIterations {
		return failed("goal", "before the first model call, "+s.Seen())
	}
	if s.seen().blind >= maxBlind {
		return failed("observe", fmt.Sprintf("%d observations in a row failed; the last says: %s", s.seen().blind, s.Seen()))
	}
	return nil
}

// handleCalls deals with the open calls. valid, if not nil, is one whose arguments were checked.
func (m *Machine) handleCalls(s *State, valid *call) Step {
	if !s.HasOpen() {
		return nil
	}
	if facts := slices.Concat(m.drop(s), m.unbound(s), s.awake()); facts != nil {
		return Record{facts}
	}
	if m.agent.observes() && s.outdated() {
		return Observe{}
	}
	return m.act(s, valid)
}

// question waits for the answer to what the run itself asks.
func question(s *State) Step {
	if q := s.question; q != nil {
		return Await{Status: StatusWaitingInput, Reason: q.Question}
	}
	return nil
}

// look observes before the first turn, and what the last action did.
func (m *Machine) look(s *State) Step {
	if m.agent.observes() && s.seen().seq <= s.acted {
		return Observe{}
	}
	return nil
}

// askLoop returns the loop's step, as the machine takes it.
func (m *Machine) askLoop(s *State) Step {
	fails := func(why string) Step { return failed("loop "+m.loop.Name(), why) }
	step := m.ask(s)
	if why := unsound(step); why != "" {
		return fails("the loop " + why)
	}
	switch next := step.(type) {
	case Finish:
		if why := m.unfitAnswer(next); why != "" {
			return fails("the loop's answer does not follow the output schema: " + why)
		}
		end := m.finish(s, next.Verdict)
		if end == nil {
			return fails("the loop ends the run as a success, but the goal is not met and the loop was told so")
		}
		if _, ends := end.(Finish); !ends {
			return end
		}
		next.Answer = cmp.Or(next.Answer, s.stepAnswer(next.Verdict))
		return next
	case Act:
		if len(next.Calls) == 0 {
			return fails("the loop wants to act, but no call is open")
		}
		return m.open(s, next.Calls)
	}
	return step
}

// unfitAnswer says how the answer of a loop does not follow the output schema; empty: it does, or
// there is none.
func (m *Machine) unfitAnswer(f Finish) string {
	if f.Verdict.Status != StatusSuccess || f.Answer == "" || m.output == nil || m.output.Anything() {
		return ""
	}
	if _, why := jsonschema.Settle(m.agent.Output, f.Answer, nil); why != nil {
		return why[0]
	}
	return ""
}

// ask asks the loop.
func (m *Machine) ask(s *State) Step {
	defer usercode.Blame("loop", m.loop)
	return m.loop.Next(s)
}

// ends asks the goal, the limit on tool errors, and the stop condition.
func (m *Machine) ends(s *State) Verdict {
	if m.met(s) {
		v := eval(m.agent.Goal.Success, s)
		v.Status = StatusSuccess
		return v
	}
	if m.agent.Stop != nil {
		if v := eval(m.agent.Stop, s); v.Holds {
			v.Status = cmp.Or(v.Status, StatusExhausted)
			return v
		}
	}
	if n := s.limits.ToolErrors; s.ToolErrors() >= n {
		return verdict(StatusNoProgress, fmt.Sprintf("tool_errors >= %d", n), display.Said(s.ToolErrors(), "every call of the last turn failed", "every call of the last %d turns failed"))
	}
	return Verdict{}
}

// yields reports whether an end gives way to a complete answer, which is a
// success: an end that is no success and whose outcome nobody named.
func (m *Machine) yields(s *State, v Verdict) bool {
	switch {
	case v.Status == StatusSuccess || v.Explicit || s.question != nil || s.failing().latest != nil:
		return false
	case m.agent.Goal != nil && s.turnedDown():
		return false
	case s.HasOpen(): // an answer may be a call, and is one under the JSON strategy
		return len(s.open) == 1 && s.open[0].Tool == completeTool && m.invalid(s.open[0]) == ""
	}
	end, ends := m.ask(s).(Finish)
	return ends && end.Verdict.Status == StatusSuccess
}

func (m *Machine) met(s *State) bool {
	return m.agent.Goal != nil && s.seen().measured && eval(m.agent.Goal.Success, s).Holds
}

func eval(c Condition, s *State) Verdict {
	defer usercode.Blame("condition", c)
	return c.Eval(s)
}

// finish ends the run, unless a goal refutes a success that is claimed; nil:
// it has been refuted, and the run goes on. A claim is measured again, since
// the world may have changed while the model thought. The goal is measured on
// what the last action left also before a run is exhausted: what it reached
// with its last permitted turn is a success.
func (m *Machine) finish(s *State, v Verdict) Step {
	switch {
	case v.Status == StatusSuccess && len(s.followUps) > 0 && !s.HasOpen():
		return Record{[]Event{InputGiven{Text: s.followUps[0].Text, By: s.followUps[0].By}}}
	case m.agent.Goal == nil || v.Status != StatusSuccess && v.Status != StatusExhausted:
		return Finish{Verdict: v}
	case !s.HasOpen() && (s.seen().seq <= s.acted || v.Status == StatusSuccess && s.seen().seq < s.replied.seq):
		return Observe{}
	case v.Status != StatusSuccess || m.met(s):
		return Finish{Verdict: v}
	case s.turnedDown() || s.HasOpen(): // a claim that stays true is told once a turn
		return nil
	}
	detail := fmt.Sprintf("%s is claimed, but the goal %s is not met", v.Leaf, m.agent.Goal.Success)
	now, _ := value(s.seen().known)
	hint := meter.Refute(m.agent.Goal.Success.String(), (*meter.Measure)(s.baseline()), now, s.seen().measured)
	return Record{[]Event{ProgressJudged{Judgement: JudgedRefuted, Detail: detail, Hint: hint}}}
}

// doubts turns lost Writes into what their tools ask for.
func (m *Machine) doubts(s *State) Step {
	var facts []Event
	for _, c := range s.open {
		if c.Phase != PhaseLost || c.Effect != Write || c.Child != "" {
			continue // a child run is never in doubt: its log says how far it came
		}
		const why = " while this call was running; whether it took place is unknown"
		var fact Event = ToolDoubted{Call: c.ID, Tool: c.Tool, Why: "the process of the run ended" + why}
		if t := m.tools[c.Tool]; t != nil && t.info.OnDoubt == DoubtTell {
			fact = ToolFinished{Call: c.ID, Tool: c.Tool, Status: ToolUnknown, Error: "the run lost its owner" + why}
		}
		facts = append(facts, fact)
	}
	if facts != nil {
		return Record{facts}
	}
	for _, c := range s.open {
		if t := m.tools[c.Tool]; c.Phase == PhaseInDoubt && t != nil && t.info.OnDoubt == DoubtFail {
			return failed("doubt", fmt.Sprintf("%s %s: %s", c.Tool, c.ID, c.Reason))
		}
	}
	return nil
}

// failure says what to do about a failed model call; nil: send it again.
func (m *Machine) failure(s *State) Step {
	f := s.failing().latest
	switch {
	case f == nil:
		return nil
	case f.Class == ClassCancelled, f.Class == ClassCut, m.serving(s) != s.fallback:
		return nil
	case f.Class == ClassTooLong && !s.shortened && s.shortenable() != nil:
		return Record{[]Event{ContextCompacted{Masked: s.shortenable()}}}
	case !f.Class.Transient():
		return failed("model", fmt.Sprintf("%v: %s", f.Class, f.Message))
	case m.spent(s):
		return failed("model", fmt.Sprintf("%v after %s: %s", f.Class, s.attempts(f.Class), f.Message))
	case f.RetryAt.Sub(s.time) > patience:
		return Await{Status: StatusPaused, Until: f.RetryAt, Reason: fmt.Sprintf("%v: %s; the provider asks to come back at %s", f.Class, f.Message, f.RetryAt.UTC().Format(time.RFC3339))}
	}
	return nil
}

// shortenable are the calls whose results can be left out of a conversation that
// has become too long: all but the latest, or those too when there are no
// others. Small ones would not make room.
func (s *State) shortenable() []string {
	const small = 200
	var early, late []string
	for _, c := range s.calls {
		switch {
		case c.hosted || len(c.Result)+c.following(s)+64*len(c.Files) < small:
		case c.Iteration < s.iteration-1:
			early = append(early, c.ID)
		default:
			late = append(late, c.ID)
		}
	}
	if early != nil {
		return early
	}
	return late
}

// serving is which model to ask: the one that was asked last, or the next of
// the fallbacks when that one cannot serve. A run stays with a fallback until it
// is resumed: going back and forth would lose both caches.
func (m *Machine) serving(s *State) int {
	f := s.failing().latest
	if f == nil || s.fallback >= len(m.decl.Fallback) || f.Class == ClassCancelled {
		return s.fallback
	}
	if f.Class.Elsewhere() || f.Class.Transient() && (m.spent(s) || f.RetryAt.Sub(s.time) > patience) {
		return s.fallback + 1
	}
	return s.fallback
}

// spent reports whether a model that fails has had its attempts. Those of one
// class do not use up another's, so that the classes together bound them all.
func (m *Machine) spent(s *State) bool {
	return s.exhausts(s.failing().latest.Class, s.failing().tries.Of(s.failing().latest.Class.tried()))
}

// maxEmpty is how often a model may say nothing before that is taken for its answer.
const maxEmpty = 3

// failed ends the run as failed.
func failed(leaf, detail string) Step {
	return Finish{Verdict: verdict(StatusFailed, leaf, detail)}
}

// review asks the policies until none of them changes the step.
func (m *Machine) review(s *State, step Step) Step {
	var last []string
	for range maxRounds {
		last = last[:0]
		for _, p := range m.agent.Policies {
			next := withheld(s, step, reviewed(p, s, handOut(p, step)))
			if sameStep(step, next) {
				continue
			}
			if r, ok := s.policyRejection(next); ok {
				return r
			}
			if why := unsound(next); why != "" {
				return failed("policy", fmt.Sprintf("policy %s %s", p, why))
			}
			if why := loosens(step, next); why != "" {
				return failed("policy", fmt.Sprintf("policy %s %s; a policy may only tighten", p, why))
			}
			if next = m.adopt(s, step, next); sameStep(step, next) {
				continue
			}
			last = append(last, p.String())
			step = next
		}
		if len(last) == 0 {
			return step
		}
	}
	return failed("policy", fmt.Sprintf("policies do not agree after %d rounds: %s", maxRounds, strings.Join(last, ", ")))
}

// reviewed asks a policy.
func reviewed(p Policy, s *State, step Step) Step {
	defer usercode.Blame("policy", p)
	return p.Review(s, step)
}

// withheld returns a policy's step. If that ends the run otherwise than step, the
// answer of the run is what the policy says.
func withheld(s *State, step, next Step) Step {
	end, ends := next.(Finish)
	if !ends {
		return next
	}
	if old, ended := step.(Finish); ended && old.Verdict == end.Verdict && old.Answer == end.Answer {
		return step
	}
	answer := s.Answer()
	end.withheld = answer != "" && end.Answer != answer
	return end
}

// handOut is what a policy is shown: it may write into a copy of the calls, which must not go past the
// comparison with what it was shown. Those of Pawl's own that write into nothing get no copy.
func handOut(p Policy, step Step) Step {
	_, reads := p.(interface{ Reads() usercode.Reader })
	if a, ok := step.(Act); ok && !reads {
		calls := slices.Clone(a.Calls)
		for i := range calls {
			calls[i].Call.Args = bytes.Clone(calls[i].Call.Args)
			calls[i].Named = slices.Clone(calls[i].Named)
		}
		return Act{calls}
	}
	return step
}

// adopt takes a policy's step over. Of calls it takes what becomes of them and why, no other arguments, keys or results.
func (m *Machine) adopt(s *State, step, next Step) Step {
	switch next := next.(type) {
	case Act:
		calls := slices.Clone(step.(Act).Calls) // loosens has seen to it that it is one
		for i := range calls {
			c, by := &calls[i], &next.Calls[i]
			c.Do, c.Why, c.Once = by.Do, by.Why, c.Once || by.Once
			c.Named = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Named, by.Named))))
		}
		return Act{calls}
	case Think:
		return m.fill(s, next)
	}
	return next
}

func sameStep(a, b Step) bool {
	switch a := a.(type) {
	case Act:
		b, ok := b.(Act)
		return ok && slices.EqualFunc(a.Calls, b.Calls, func(x, y Classified) bool {
			return x.Call.ID == y.Call.ID && x.Do == y.Do && x.Why == y.Why && x.Once == y.Once && slices.Equal(x.Named, y.Named)
		})
	case Record:
		b, ok := b.(Record)
		return ok && len(a.Events) == len(b.Events) && (len(a.Events) == 0 || &a.Events[0] == &b.Events[0])
	}
	return a == b
}

// loosens says in what way next, which is sound, allows more than step did; empty: it does not.
func loosens(step, next Step) string {
	switch b := next.(type) {
	case Finish: // whose answer may be withheld, but not what ended it otherwise
		a, ends := step.(Finish)
		open := !ends || a.Verdict.Status == StatusSuccess || a.Verdict.Status == StatusExhausted
		if !open || ends && b.Verdict.Status == StatusSuccess {
			return "changed how the run ends"
		}
	case Record, Await:
	case Think: // which may also be put before the step
		a, ok := step.(Think)
		same := ok && a.Purpose == b.Purpose && a.Attempt == b.Attempt
		if same && b.MaxTokens > a.MaxTokens {
			return "raised a clamp"
		}
	case Act:
		return loosensCalls(step, b.Calls)
	default:
		return fmt.Sprintf("turned %T into %T", step, next)
	}
	return ""
}

// loosensCalls is loosens for calls.
func loosensCalls(step Step, calls []Classified) string {
	a, ok := step.(Act)
	if !ok || !slices.EqualFunc(a.Calls, calls, func(x, y Classified) bool { return x.Call.ID == y.Call.ID }) {
		return "added or dropped calls"
	}
	for i, now := range calls {
		if was := a.Calls[i]; now.Do < was.Do {
			return fmt.Sprintf("loosened call %s from %v to %v", was.Call.ID, was.Do, now.Do)
		}
	}
	return ""
}
