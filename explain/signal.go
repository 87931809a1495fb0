package explain

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// outside explains an external event.
func (f *fold) outside(e pawl.Entry) {
	d := Decision{Seq: e.Seq, Iteration: e.Iteration, Time: e.Time, last: e.Seq, Step: "signal"}
	switch e := e.Event.(type) {
	case pawl.RunStarted:
		d.Step, d.Subject = "start", Phrase("agent "+name(e.Declaration.Agent))
		d.Why = Phrase("asked: " + said(e.Input))
		if c := e.Continues; c != nil && c.By != "" {
			d.Why = phrasef("%s handed over: %s", name(c.By), said(c.Reason))
		}
	case pawl.RunResumed:
		f.resumed(&d, e)
	case pawl.RunForked:
		f.forked = e
		d.Step, d.Subject = "fork", Phrase("of run "+name(e.From)+by(e.By))
		d.Why = phrasef("shares its entries 1 to %d", e.Seq)
		f.because("the run was forked")
		if e.Input != "" {
			d.Outcome = append(d.Outcome, Phrase("said in addition: "+said(e.Input)))
		}
		if f.editing = e.Edited; e.Edited {
			d.Outcome = append(d.Outcome, phrasef("entry %d of that run was edited, and what stands in its place follows", e.Seq+1))
			if n := len(f.decisions); f.flight != nil && n > 0 {
				f.decisions[n-1].Outcome = []Phrase{"its reply was edited; see below"}
			}
		}
	case pawl.RunExtended:
		d.Step, d.Subject = "extend", Phrase("limits are "+f.state.Limits().Merge(e.Limits).String())
		d.Why = phrasef("they were %s%s", f.state.Limits(), by(e.By))
		if e.Stop != "" {
			d.Outcome = append(d.Outcome, Phrase("the stop condition is now "+name(e.Stop)))
		}
	case pawl.RunPaused:
		d.Step, d.Subject, d.Why = "pause", Phrase(e.Status.String()), Phrase(said(e.Reason))
	case pawl.RunStopped:
		stopped(&d, e)
	case pawl.HookDirected:
		f.hook(&d, e)
	default:
		f.signal(&d, e)
	}
	f.push(d)
}

// hook explains a hook's directive and its effect.
func (f *fold) hook(d *Decision, e pawl.HookDirected) {
	d.Step, d.Subject, d.Why = "hook", phrasef("%s says %s", name(e.Hook), name(e.Direction)), Phrase(said(e.Reason))
	switch {
	case e.Refused != "":
		d.Outcome = append(d.Outcome, phrasef("entry %d stands: %s", e.Entry, said(e.Refused)))
	case e.Direction != "retry":
	case e.Call != "":
		d.Outcome = append(d.Outcome, phrasef("%s is to run again; the result in entry %d is not shown to the model", name(f.label(e.Call)), e.Entry))
	default:
		d.Outcome = append(d.Outcome, phrasef("the reply in entry %d does not count; the model is to be asked again", e.Entry))
	}
}

func (f *fold) signal(d *Decision, event pawl.Event) {
	// The machine treats an answered call as one that may have changed
	// something.
	over := func(call string) {
		f.answered = append(f.answered, call)
		f.acted = append(f.acted, call)
	}
	switch e := event.(type) {
	case pawl.CancelRequested:
		d.Subject, d.Why = Phrase("cancel"+by(e.By)), "cancellation was requested"
		if e.Reason != "" {
			d.Why = Phrase(said(e.Reason))
		}
	case pawl.InputGiven:
		if e.Call == "" {
			d.Subject, d.Why = phrasef("message%s", by(e.By)), Phrase(said(e.Text))
			if e.After {
				d.Outcome = append(d.Outcome, Phrase("the model reads it when it would be done"))
			} else {
				f.because("a person said something")
			}
			return
		}
		d.Subject, d.Why = phrasef("answer to %s%s", name(f.label(e.Call)), by(e.By)), Phrase(said(e.Text))
		if _, ok := f.state.Call(e.Call); ok {
			over(e.Call)
		} else {
			f.because("a person answered")
		}
	case pawl.ClientToolReturned:
		d.Subject, d.Why = phrasef("result of %s%s", name(f.label(e.Call)), by(e.By)), Phrase(data(e.Result))
		over(e.Call)
	case pawl.ApprovalDecided:
		what := "denial of "
		if e.Approved {
			what = "approval of "
		}
		d.Subject, d.Why = Phrase(what+name(f.label(e.Call))+by(e.By)), "a person decided"
		if e.Reason != "" {
			d.Why = Phrase(said(e.Reason))
		}
		if e.Args != nil {
			d.Outcome = append(d.Outcome, Phrase("with other arguments: "+data(e.Args)))
		}
	case pawl.ToolSettled:
		what, with := "settlement", "it happened, with "
		if f.editing {
			what, with = "result", "it is now "
		}
		d.Subject = phrasef("%s of %s%s", what, name(f.label(e.Call)), by(e.By))
		switch {
		case !e.Happened:
			d.Why = "it did not happen, so it may be driven again"
			return
		case e.Error != "":
			d.Why = Phrase("it failed: " + said(e.Error))
		default:
			d.Why = Phrase(with + data(e.Result))
		}
		over(e.Call)
	}
}

// resumed explains a resume: the new owner, how long the run was idle, and the
// calls that were lost.
func (f *fold) resumed(d *Decision, e pawl.RunResumed) {
	edited := f.editing
	f.back, f.editing = true, false
	d.Step, d.Subject = "resume", Phrase("owner "+name(person(e.Owner)))
	still := d.Time.Sub(f.state.Time())
	switch status := f.state.Status(); {
	case edited || len(f.decisions) > 0 && f.decisions[len(f.decisions)-1].Step == "fork":
		d.Why = "the fork is started"
	case status == pawl.StatusRunning && f.state.InFlight():
		d.Why = phrasef("the owner before, %s, was gone with work in flight; %s passed", name(person(f.state.Owner())), display.Lasting(still))
	case status == pawl.StatusRunning:
		d.Why = phrasef("the owner before, %s, was gone; %s passed", name(person(f.state.Owner())), display.Lasting(still))
	default:
		d.Why = phrasef("the run was %v for %s", status, display.Lasting(still))
	}
	f.because("the run was resumed")
	if f.flight != nil {
		called, _ := f.flight.Event.(pawl.ModelCalled)
		d.Outcome = append(d.Outcome, phrasef("the model call of entry %d is lost and booked at %s tokens", f.flight.Seq, display.Group(called.Reserved)))
		f.lost = true
	}
	for c := range f.state.Open() {
		if c.Phase == pawl.PhaseStarted {
			d.Outcome = append(d.Outcome, phrasef("%s is lost: %s", name(c.ID+" "+c.Tool), fate(c)))
		}
	}
	if e.Changed != nil {
		text := Phrase("at other prices")
		if parts := f.decl.Differences(*e.Changed); len(parts) > 0 {
			text = Phrase("under a changed agent: " + names(parts, 6))
		}
		d.Outcome = append(d.Outcome, text)
	}
}

// fate describes what happens to a call that was running when its owner was
// lost.
func fate(c pawl.CallState) string {
	if c.Effect == pawl.Write {
		return "in doubt, since a write is never repeated unasked"
	}
	return "driven again, since its tool is " + c.Effect.String()
}

// inFlight lists the model and tool calls without an end in the log.
func (f *fold) inFlight() (out []Phrase) {
	if f.flight != nil {
		called, _ := f.flight.Event.(pawl.ModelCalled)
		out = append(out, phrasef("model call for %s (entry %d, attempt %d): if lost, booked at its reservation of %s tokens and made again",
			name(string(called.Purpose)), f.flight.Seq, called.Attempt, display.Group(called.Reserved)))
	}
	for c := range f.state.Open() {
		if c.Phase == pawl.PhaseStarted {
			out = append(out, phrasef("call %s %s, since %s: if lost, %s", name(c.ID+" "+c.Tool), data(c.Args), stamp(c.Started), fate(c)))
		}
	}
	return out
}
