package pawl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

const (
	usualReply    = 16_384 // tokens that a reply may have by default
	thinkingReply = 32_768 // the same for a model that thinks
	thinkingRoom  = 8_192  // for the thoughts of a judge or a summary, beside the tokens of its answer
	leastReply    = 16     // a reply that may not even have these is not asked for
	mostIdle      = 1000   // facts in a row; beyond, a loop or policy records for ever
)

// fill completes a Think with its place in the run and its reservation. What
// a loop or policy wrote there does not count, but for a lower clamp.
func (m *Machine) fill(s *State, t Think) Think {
	lower, filled := t.MaxTokens, t.Attempt > 0
	lowered := lower > 0 || filled
	if !filled && lowered && t.Purpose.judges() && m.thinks(&t) {
		lower += thinkingRoom
	}
	t.View.Bare = t.View.Bare || t.View.Step != ""
	if cache := m.agent.Sampling.Cache; cache != "" { // in place of what a policy chose
		t.Long = cache == "1h" && t.Model == ""
	}
	again := t.Purpose == PurposeTurn && s.iteration > 0 && !s.settled
	m.choose(&t, s.iteration == 0 || s.iteration == 1 && again)
	m.place(s, &t, again)
	t.Estimate, t.Bytes = m.Estimate(s, &t)
	t.Hosted = m.hosted(s, &t.View)
	if m.room(&t, s.cut && again); lowered {
		t.MaxTokens = min(t.MaxTokens, lower)
	}
	return m.clamp(s, t, 0, 0)
}

// hosted is the most that the hosted tools of a request use.
func (m *Machine) hosted(s *State, v *View) (most Usage) {
	for i, tools := 0, m.shown(s); i < len(tools) && !v.Bare; i++ {
		most = most.Add(tools[i].Hosted)
	}
	return most
}

// The tool choices that are no names of tools; see [Request].
const (
	choiceRequired = "required"
	choiceNone     = "none"
)

// choose gives the first turn of a run the tool choice of the agent.
func (m *Machine) choose(t *Think, first bool) {
	switch {
	case !first || t.Purpose != PurposeTurn || t.View.Bare || t.View.ToolChoice != "":
	case m.agent.Sampling.ToolChoice == choiceNone:
		t.View.Bare = true
	default:
		t.View.ToolChoice = m.agent.Sampling.ToolChoice
	}
	if t.View.Bare || t.Purpose != PurposeTurn {
		t.View.ToolChoice = ""
	}
}

// checkSampling reports knobs that no request can have, and a tool choice that no reply can follow.
func (m *Machine) checkSampling(refuse func(bool, string, ...any)) {
	knobs := &m.agent.Sampling
	refuse(knobs.MaxTokens < 0, "sampling: MaxTokens may not be negative")
	refuse(knobs.Effort != "" && !slices.Contains(Efforts, knobs.Effort), "sampling: Effort is %q; want one of %s", knobs.Effort, strings.Join(Efforts, ", "))
	refuse(!slices.Contains([]string{"", "5m", "1h", "off"}, knobs.Cache), "sampling: Cache is %q; use 5m, 1h, off or nothing", knobs.Cache)
	choice := m.agent.Sampling.ToolChoice
	if choice == "" || choice == choiceNone {
		return
	}
	refuse(len(m.agent.Tools) == 0 || m.single, "sampling: ToolChoice is %q, but no tools are offered; add one or leave it out", choice)
	known := slices.ContainsFunc(m.offer, func(t ToolInfo) bool { return t.Name == choice && t.Hosted == (Usage{}) })
	refuse(len(m.agent.Tools) > 0 && choice != choiceRequired && !known, "sampling: ToolChoice is %q; use required, none or the name of a tool that the agent runs", choice)
}

// place gives a Think its turn, its attempt, the model that it asks, and when. again says that the
// turn is asked for once more: a retry, a re-ask after a rejection, or a lost call.
func (m *Machine) place(s *State, t *Think, again bool) {
	t.Iteration, t.Attempt, t.Cost, t.NotBefore, t.Fallback = s.iteration, 1, 0, time.Time{}, 0
	f := s.failing().latest
	switch {
	case again:
		t.Attempt = s.asked.Attempt + 1
	case t.Purpose == PurposeTurn:
		t.Iteration++
	case f != nil && f.Purpose == t.Purpose:
		t.Attempt = f.Attempt + 1
	}
	if t.Model == "" {
		t.Fallback = m.serving(s)
		if f != nil && t.Fallback == s.fallback {
			t.NotBefore = f.RetryAt
		}
	}
	if f, _ := s.Missed(t.Purpose); f.Class != 0 {
		t.Attempt, t.NotBefore = f.Attempt+1, f.RetryAt
	}
}

// room sets the most tokens that a reply to t may have before the run's limits count. If a reply of the
// iteration was cut off, that is all that the model can write, and the model is to think a little less.
func (m *Machine) room(t *Think, cut bool) {
	usual, longest := usualReply, m.decl.model(t.Model, t.Fallback).Reply
	if m.thinks(t) {
		usual = thinkingReply
	}
	if cut {
		usual = cmp.Or(longest, usual)
	}
	usual = cmp.Or(m.agent.Sampling.MaxTokens, usual)
	t.MaxTokens, t.Effort = min(usual, cmp.Or(longest, usual)), ""
	if i := slices.Index(Efforts, m.effort(t)); cut && i > 0 {
		t.Effort = Efforts[i-1]
	}
}

// effort is how much the model that t asks is to think, by the agent or else by itself; empty: not at all.
func (m *Machine) effort(t *Think) string {
	own := m.decl.model(t.Model, t.Fallback).Effort
	if t.Model != "" {
		return own
	}
	return cmp.Or(m.agent.Sampling.Effort, own)
}

// thinks reports whether the model that t asks may think. One that thinks by itself may not be able to stop.
func (m *Machine) thinks(t *Think) bool {
	return m.decl.model(t.Model, t.Fallback).Effort != "" || m.effort(t) != "" && m.effort(t) != "none"
}

// Estimate returns the expected input tokens of a request, and its bytes. The model's earlier
// counts determine the tokens; before the first count they are three bytes each. They are never
// fewer than any model counted last time plus what was added since.
func (m *Machine) Estimate(s *State, t *Think) (tokens, bytes int) {
	v := &t.View
	bytes = m.bytes(s, v)
	if seen := s.meters.Of(t.Model, t.Fallback); seen.Known() {
		return seen.Expect(bytes, !v.Alone, s.limits.Margin), bytes
	}
	n := textTokens(bytes)
	if !v.Alone && s.counted.Input > 0 {
		n = max(n, s.counted.Input+textTokens(s.talk.Bytes-s.counted.Bytes+s.size(v.Prompt)+s.around()))
	}
	return n + int(float64(n)*s.limits.Margin), bytes
}

// tokenBytes is how much text counts as a token before the model has counted any. The tokenizers of
// today make about 30 % more tokens of a text than those for which four bytes were the rule.
const tokenBytes = 3

func textTokens(bytes int) int { return (bytes + tokenBytes - 1) / tokenBytes }

// pictureBytes is what a picture counts for: 1,600 tokens, which is about the
// most that Anthropic's and OpenAI's models count for one (Anthropic, Vision: a
// token for 750 pixels, of pictures that are scaled down to 1.15 megapixels).
const pictureBytes = tokenBytes * 1600

// weigh measures what every request of the agent has.
func (m *Machine) weigh() {
	m.weight = weigh(m.core)
	m.base = len(m.system(View{}, m.core)) + len(m.agent.Output)
	if m.agent.Strategy == StrategyNative {
		m.base += m.weight.text
	}
	for name, value := range m.agent.Sampling.Options {
		m.options += wire.Quoted(name) + len(value) + len(`"":,`)
	}
}

// bytes is what a view sends, counted as everything is: text, arguments and
// schemas as they are, and a little for each message.
func (m *Machine) bytes(s *State, v *View) int {
	if s.declared().wires() != (Wire{}) {
		return m.wired(s, v)
	}
	n := len(m.agent.Prompt) + len(v.Prompt)
	if v.System != "" {
		n += len(v.System) - len(m.agent.Prompt)
	}
	if m.declares(v) || m.agent.Strategy == StrategyJSON && !v.Bare {
		found := weigh(m.shown(s)[len(m.core):])
		n += m.base - len(m.agent.Prompt) - m.weight.white + found.text - found.white
	}
	if !v.Alone {
		n += s.talk.Bytes + pictureBytes*max(0, s.talk.Pictures)
	}
	return n
}

func (m *Machine) wired(s *State, v *View) int {
	w := s.declared().wires()
	shown := m.shown(s)
	n := w.Frame + s.size(m.system(*v, shown)) + s.size(v.Prompt) + s.around() + m.options
	if out := cmp.Or(v.Output, string(m.agent.Output)); out != "" {
		n += len(out) + w.Tool
	}
	if len(shown) > 0 && m.agent.Strategy == StrategyNative && !m.single {
		n += tokenBytes*w.Prompt + len(shown)*w.Tool // which some wires have where nothing is offered, too
		if m.declares(v) {
			n += m.weight.wire + weigh(shown[len(m.core):]).wire
		}
	}
	if !v.Alone {
		n += s.talk.Bytes + pictureBytes*max(0, s.talk.Pictures)
	}
	return n
}

// clamp lowers the reply to what tokens and dollars leave, and prices it. Some may be used already
// and not be booked.
func (m *Machine) clamp(s *State, t Think, used int, spent float64) Think {
	t.MaxTokens = min(t.MaxTokens, s.limits.Tokens-s.usage.Total()-used-t.Estimate-t.Hosted.Input)
	price := m.decl.model(t.Model, t.Fallback).Price
	if price == nil {
		return t
	}
	in, out := meter.Rates(*price).Most(t.Estimate, meter.Use(t.Hosted), t.Long)
	if s.limits.Cost > 0 && out > 0 {
		left := (s.limits.Cost - s.cost - spent - in) * 1e6 / out
		t.MaxTokens = min(t.MaxTokens, int(max(-1, min(left, 1<<30))))
	} else if s.limits.Cost > 0 && s.cost+spent+in > s.limits.Cost {
		t.MaxTokens = -1
	}
	t.Cost = meter.Dollars(in + float64(max(0, t.MaxTokens))*out/1e6)
	return t
}

// limit lets a step through if every limit allows it. Iterations bound new
// turns, tokens and dollars bound model calls, and time bounds every step.
func (m *Machine) limit(s *State, as Step) Step {
	switch step := as.(type) {
	case Think:
		if refused := m.limitThink(s, &step); refused != nil {
			return refused
		}
	case Record:
		if s.idle >= mostIdle {
			return failed("loop "+m.loop.Name(), fmt.Sprintf("the loop %s or a policy recorded %s facts in a row and did nothing", m.loop.Name(), display.Group(s.idle)))
		}
	case Observe, Act:
		if late := m.late(s); late != nil {
			return late
		}
	}
	return as
}

// limitThink returns the step that the limits demand instead of a call that is
// filled in; nil: they allow it.
func (m *Machine) limitThink(s *State, t *Think) Step {
	if late := m.late(s); late != nil {
		return late
	}
	if f, final := s.Missed(t.Purpose); final {
		return failed("model", fmt.Sprintf("%v after %s: %s; %s was asked for all the same", f.Class, display.Count(f.Attempt, "attempt"), f.Message, t.Purpose))
	}
	if t.Model != "" && m.decl.model(t.Model, 0).Name != t.Model {
		return failed("model", fmt.Sprintf("%s is to ask %q, a model that no policy and no loop brings", t.Purpose, t.Model))
	}
	if s.rejected >= maxRejected && t.Purpose == PurposeTurn {
		why := strings.TrimSuffix(strings.TrimPrefix(s.LastRejection(), notAccepted), again)
		return Finish{Verdict: verdict(StatusPlanFailed, "plan_failed", fmt.Sprintf("every reply of %d iterations in a row was rejected: %s", s.rejected, why))}
	}
	if wait := t.NotBefore.Sub(s.time); !t.NotBefore.IsZero() && wait >= s.limits.Time-s.elapsed {
		return Finish{Verdict: verdict(StatusExhausted, timeLeaf(s.limits),
			fmt.Sprintf("the model is to be asked again in %v, when the run's %v are over", wait.Round(time.Millisecond), s.limits.Time))}
	}
	if t.Purpose == PurposeTurn && t.Iteration+s.asides > s.limits.Iterations || t.Purpose.own() && s.iterations() >= s.limits.Iterations {
		return m.exhaust(s, verdict(StatusExhausted, fmt.Sprintf("iterations >= %d", s.limits.Iterations), display.Said(s.limits.Iterations, "the one iteration is used", "all %d iterations are used")))
	}
	if v := m.fits(s, t); v.Holds {
		return m.exhaust(s, v)
	}
	return m.overBudget(s)
}

// late is the step in place of one that there is no time for; nil: there is
// time. The calls that have not started are answered first, so that the model
// knows of them if the run is resumed.
func (m *Machine) late(s *State) Step {
	if s.elapsed < s.limits.Time {
		return nil
	}
	var facts []Event
	for _, c := range s.open {
		if s.unstarted(c) {
			facts = append(facts, notRun(&c.Call, c.Error))
		}
	}
	if facts != nil {
		return Record{facts}
	}
	return m.exhaust(s, verdict(StatusExhausted, timeLeaf(s.limits),
		fmt.Sprintf("the run has been running for %v of %v", s.elapsed.Round(time.Millisecond), s.limits.Time)))
}

// unstarted reports whether nothing was done about an open call of the model's,
// so that it can be dropped. The calls of a loop are all it has, and wait.
func (s *State) unstarted(c *call) bool {
	return c.Phase == PhaseUndecided && c.Attempt == 0 && !s.looped()
}

// notRun answers a call whose turn comes too late, or that was denied before.
func notRun(c *Call, denied string) Event {
	if denied != "" {
		return ToolRefused{Call: c.ID, Tool: c.Tool, Why: denied}
	}
	return ToolRefused{Call: c.ID, Tool: c.Tool, Why: "not run: the run's time was over before the turn of this call; nothing was done", NotRun: true}
}

// fits holds when a model call does not fit what is left.
func (m *Machine) fits(s *State, t *Think) Verdict {
	if t.MaxTokens >= leastReply {
		return Verdict{}
	}
	left := s.limits.Tokens - s.usage.Total()
	if need := t.Estimate + t.Hosted.Input; left-need < leastReply {
		return verdict(StatusExhausted, tokensLeaf(s.limits), fmt.Sprintf("%s of %s tokens are used; the next request needs about %s and %d for a reply",
			display.Group(s.usage.Total()), display.Group(s.limits.Tokens), display.Group(need), leastReply))
	}
	if price := m.decl.model(t.Model, t.Fallback).Price; s.limits.Cost > 0 && price != nil {
		in, _ := meter.Rates(*price).Most(t.Estimate, meter.Use(t.Hosted), t.Long)
		return verdict(StatusExhausted, "cost >= "+s.costLimit(),
			fmt.Sprintf("%s of $%s are spent; the next request costs about %s before its reply", display.Dollars(s.cost), s.costLimit(), display.Dollars(in)))
	}
	return verdict(StatusFailed, "clamp", fmt.Sprintf("a reply of %d tokens is too short to ask for; %d is the least", t.MaxTokens, leastReply))
}

const finalPrompt = "You have reached a limit of this run and can take no further action. Answer now, in text, with what you know: what was done, what was found, what is left."

// exhaust ends the run at a limit, after a final answer without tools if that
// still fits.
func (m *Machine) exhaust(s *State, v Verdict) Step {
	left := s.refused()
	switch {
	case v.Status != StatusExhausted: // only a limit leaves something to say
	case s.final != nil && !s.final.again: // it was said
	case s.iteration == 0: // there was no turn to speak of
	case m.single, s.at != "": // the answer is the reply, or the loop's
	case s.failing().latest != nil: // the model does not answer
	case s.elapsed >= s.limits.Time:
	case left.Seq > 0 && left.MaxTokens < leastReply: // a budget has no room for it
	default:
		t := m.fill(s, Think{Purpose: PurposeFinal, MaxTokens: left.MaxTokens, View: View{Prompt: finalPrompt, Bare: true}})
		if !m.fits(s, &t).Holds {
			return t
		}
	}
	return Finish{Verdict: v}
}

// budgetNote is the note of the engine that a budget refused a call: only the journal knows
// what other runs have spent.
const budgetNote = "__budget__\x00refused"

// refusal is its value.
type refusal struct {
	Seq          uint64 // where it was decided to make the call; zero: no call was refused
	Leaf, Detail string
	Until        time.Time // when the run may go on; zero: it ends
	MaxTokens    int       `json:"max_tokens"` // of the longest last answer that fits
}

// refused is what a budget refused since the run was resumed.
func (s *State) refused() refusal {
	note := s.notes[budgetNote]
	if note == nil {
		return refusal{}
	}
	var r refusal
	if json.Unmarshal(note, &r) == nil && r.Seq < s.resumed {
		return refusal{}
	}
	return r
}

// overBudget is the step that a budget demands; nil: it refused nothing.
func (m *Machine) overBudget(s *State) Step {
	switch r := s.refused(); {
	case r.Seq == 0:
		return nil
	case !r.Until.IsZero():
		return Await{Status: StatusPaused, Until: r.Until, Reason: r.Detail}
	default:
		return m.exhaust(s, verdict(StatusExhausted, r.Leaf, r.Detail))
	}
}

// notices are the notices that are due before a new turn of the model: one for each limit that is
// near. A limit that was raised since its notice may get another.
func (m *Machine) notices(s *State, step Step) (due []Event) {
	if t, thinks := step.(Think); !thinks || t.Purpose != PurposeTurn || t.Attempt > 1 {
		return nil
	}
	for _, n := range [...]NoticeGiven{
		{About: "iterations", Used: float64(s.iterations()), Most: float64(s.limits.Iterations)},
		{About: "tokens", Used: float64(s.Tokens()), Most: float64(s.limits.Tokens)},
		{About: "time", Used: s.elapsed.Seconds(), Most: s.limits.Time.Seconds()},
		{About: "cost", Used: meter.Dollars(s.cost), Most: s.limits.Cost},
	} {
		if meter.Near(n.Used, n.Most) && s.notices[n.About].Most != n.Most {
			n.Text, n.Told = s.used(n.About), m.agent.Notices
			due = append(due, n)
		}
	}
	return due
}

// used says how much of a limit is used.
func (s *State) used(limit string) string {
	switch limit {
	case "iterations":
		return fmt.Sprintf("%d of %d iterations are used.", s.iterations(), s.limits.Iterations)
	case "tokens":
		return fmt.Sprintf("%s of %s tokens are used.", display.Group(s.Tokens()), display.Group(s.limits.Tokens))
	case "time":
		return fmt.Sprintf("%v of %v are used.", s.elapsed.Round(s.limits.Time/100), s.limits.Time)
	default:
		return fmt.Sprintf("%s of $%s are spent.", display.Dollars(meter.Dollars(s.cost)), s.costLimit())
	}
}
