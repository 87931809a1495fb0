package explain

import (
	"cmp"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// fold builds a report entry by entry. Entries of one step have the same At, as
// in replay; an external entry is a step of its own.
type fold struct {
	Report

	decl   pawl.Declaration // in force at the step being explained
	at     uint64           // of the step being explained
	in     *Decision        // the step being explained; nil: none
	calls  []called         // of the step, if it runs calls
	whys   []Phrase         // of these calls
	flight *pawl.Entry      // the model call in flight
	spending
	tracing

	// Since the previous turn.
	answered []string
	rejected int  // the number of rejections since the last reply
	lost     bool // a model call was lost with the run's owner

	acted    []string // calls since the last observation, which may have changed the world
	baseline *pawl.Measured
	measure  *pawl.Measured // the latest
	trend    meter.Trend    // of the latest turn
	turn     int            // the iteration of the latest measurement
	weighed  uint64         // the entry of the latest measurement
	fallback int            // the index of the model of the last call
}

// called is what became of a call in a step.
type called struct {
	id      string
	label   string // with the tool
	caller  Phrase // who made it: the model, or a step of the loop
	line    Phrase // with the arguments
	outcome Phrase
}

// told is what an entry says about its step.
type told struct {
	step         string
	call         string // the call that it is about, in a step that runs calls
	subject, why Phrase
	outcome      []Phrase
}

func newFold(o *Options) *fold {
	f := &fold{trend: meter.Unknown}
	f.state = new(pawl.State)
	f.Decisions, f.Failures = []Decision{}, []Failure{}
	f.Cost, f.spending.Models = map[string]Part{}, map[string]Part{}
	if o != nil {
		f.opt = *o
	}
	return f
}

// add takes an entry in. What an entry says depends on the state before it.
func (f *fold) add(e pawl.Entry) {
	cancel, _ := e.Event.(pawl.CancelRequested)
	if c, _ := f.state.Call(cancel.Call); c.Phase != pawl.PhaseStarted { // else the end of the call says who cancelled it
		f.tell(e)
	}
	f.declare(e.Event)
	was := usedBy(f.state)
	f.state.Fold(e)
	if !f.state.InFlight() {
		f.quiet = e.Seq
	}
	f.book(e, was)
	f.tracing.add(e, f.state)
}

// tell adds what an entry says to the step that it belongs to.
func (f *fold) tell(e pawl.Entry) {
	external := pawl.External(e.Event)
	if external || f.in != nil && f.at != e.At {
		f.close()
	}
	var t told
	if external {
		t = f.signal(e)
	} else {
		t = f.step(e)
	}
	begins := f.in == nil
	if begins {
		f.in, f.at = &Decision{Seq: e.Seq, Iteration: e.Iteration, Time: e.Time, Step: t.step, Subject: t.subject, Why: t.why, Outcome: []Phrase{}}, e.At
	}
	switch {
	case f.in.Step == "act":
		f.do(t)
	case !begins && t.call != "":
		f.in.Outcome = append(f.in.Outcome, Phrase(name(f.label(t.call))+" → ")+join(t.outcome))
	case begins || len(t.outcome) > 0:
		f.in.Outcome = append(f.in.Outcome, t.outcome...)
	case t.why != "":
		f.in.Outcome = append(f.in.Outcome, t.why)
	}
	if external {
		f.close()
	}
}

// declare keeps the declaration, because the state returns a copy.
func (f *fold) declare(event pawl.Event) {
	switch e := event.(type) {
	case pawl.RunStarted:
		f.decl = e.Declaration
	case pawl.RunResumed:
		if e.Changed != nil {
			f.decl = *e.Changed
		}
	}
}

// do adds what an entry says to the calls of a step.
func (f *fold) do(t told) {
	if t.call == "" {
		f.in.Outcome = append(f.in.Outcome, t.outcome...)
		return
	}
	i := slices.IndexFunc(f.calls, func(c called) bool { return c.id == t.call })
	if i < 0 {
		i = len(f.calls)
		one := called{id: t.call, label: f.label(t.call), outcome: "no outcome is in the log"}
		one.line = Phrase(name(one.label))
		if c, ok := f.state.Call(t.call); ok {
			one.line, one.caller = one.line+Phrase(" "+undecided(argsOf(c))), "the model called it"
			if c.Step != "" {
				one.caller = Phrase("step " + name(c.Step) + " called it")
			}
		}
		f.calls = append(f.calls, one)
	}
	if len(t.outcome) > 0 {
		f.calls[i].outcome = t.outcome[0]
	}
	f.whys = once(f.whys, t.why)
}

// close ends the step being explained.
func (f *fold) close() {
	d := f.in
	if d == nil {
		return
	}
	switch {
	case d.Step == "think" && len(d.Outcome) == 0:
		d.Outcome = []Phrase{"the log has no outcome of it"}
	case d.Step == "observe" && f.decl.Goal != "" && f.weighed < d.Seq:
		d.Outcome = append(d.Outcome, phrasef("the goal %s could not be measured", name(f.decl.Goal)))
	case d.Step == "act":
		slices.SortFunc(f.calls, func(a, b called) int { return byNumber(a.id, b.id) })
		var labels []string
		var lines, callers []Phrase
		for _, c := range f.calls {
			callers = once(callers, c.caller)
			labels, lines = append(labels, c.label), append(lines, c.line+" → "+c.outcome)
		}
		d.Subject, d.Outcome = Phrase(names(labels, 4)), append(lines, d.Outcome...)
		d.Why = cmp.Or(join(f.whys), join(callers), "it was called")
	}
	f.Decisions = append(f.Decisions, *d)
	f.in, f.calls, f.whys = nil, f.calls[:0], nil
}

// report finishes the report.
func (f *fold) report() Report {
	f.close()
	s, r := f.state, &f.Report
	r.Result = Result{Result: s.Result(), Trace: f.thoughts(s)}
	r.Context = answers(s, r.Result.Result)
	r.now = f.opt.Now
	if r.now.IsZero() {
		r.now = s.Time()
	}
	r.Goal, r.Ceilings, r.Spending = f.goal(), ceilings(s), f.spending.Spending
	if k := &r.Spending.Cache; k.Read+k.Written > 0 {
		k.HitRate = new(float64(k.Read) / float64(f.input))
	}
	if reply, ok := s.Replied(pawl.PurposeFinal); ok && !s.Done() && r.Answer != "" {
		handedIn := f.decl.Strategy == pawl.StrategyJSON && s.RepliedAt(pawl.PurposeFinal) > s.RepliedAt(pawl.PurposeTurn)
		r.Landing = handedIn || r.Answer == reply.Text()
	}
	if _, known := s.Cost(); known {
		f.priced()
	}
	r.flight = f.inFlight("if lost ")
	r.correct()
	r.advise()
	return *r
}

// correct corrects the result with facts that are not in the log.
func (r *Report) correct() {
	for i := range r.Pending {
		p := &r.Pending[i]
		for _, known := range r.opt.Waits {
			if known.Run == p.Run && known.Call == p.Call && known.Kind == p.Kind {
				p.AnsweredAt, p.AnsweredBy = known.AnsweredAt, known.AnsweredBy
			}
		}
	}
	status := r.opt.Status
	if status == 0 && r.state.Status().Waiting() && Expired(r.Pending, r.now) {
		status = pawl.StatusExpired
	}
	if status != 0 && status != r.Status {
		r.Status, r.Verdict.Status = status, status
		r.Resumable = status.Resumable() && !r.state.Internals().Redacted() && !r.state.Internals().Torn()
	}
	if r.over() {
		r.Resumable = false
	}
}

func (r *Report) rules() bool {
	if r.state == nil {
		return false
	}
	d := r.state.Declaration()
	return byRules(&d)
}

// Expired reports whether nothing of what a run waits for can still be given.
func Expired(pending []pawl.Pending, now time.Time) bool {
	for _, p := range pending {
		if p.ExpiresAt == nil || now.Before(*p.ExpiresAt) || p.AnsweredAt != nil { // only answers in time are recorded
			return false
		}
	}
	return len(pending) > 0
}
