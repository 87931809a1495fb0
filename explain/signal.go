package explain

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// signal explains an external event.
func (f *fold) signal(entry pawl.Entry) told {
	t := told{step: "signal"}
	switch e := entry.Event.(type) {
	case pawl.RunStarted:
		t.step, t.subject, t.why = "start", Phrase("agent "+name(e.Declaration.Agent)), Phrase("asked: "+said(e.Input))
		if c := e.Continues; c != nil && c.By != "" {
			t.why = phrasef("%s handed over: %s", name(c.By), said(c.Reason))
		}
	case pawl.RunResumed:
		return f.resumed(entry, e)
	case pawl.RunForked:
		return f.forkedFrom(e)
	case pawl.RunExtended:
		t.step, t.subject = "extend", Phrase("limits are "+f.state.Limits().Merge(e.Limits).String())
		t.why = phrasef("they were %s", f.state.Limits()) + by(e.By)
		if e.Stop != "" {
			t.outcome = []Phrase{Phrase("the stop condition is now " + name(e.Stop))}
		}
	case pawl.RunPaused:
		t.step, t.subject, t.why = "pause", Phrase(e.Status.String()), Phrase(said(e.Reason))
	case pawl.RunStopped:
		return stopped(e)
	case pawl.InstructionsGiven:
		t.step, t.subject, t.why = "instruct", "the instructions changed", Phrase(said(e.Text))
	case pawl.NoticeGiven:
		return noticed(e)
	case pawl.HookDirected:
		return f.directed(e)
	case pawl.CancelRequested:
		t.subject, t.why = "cancel"+by(e.By), "cancellation was requested"
		if e.Call != "" {
			t.subject = Phrase("cancel of "+name(f.label(e.Call))) + by(e.By)
		}
		if e.Reason != "" {
			t.why = Phrase(said(e.Reason))
		}
	case pawl.InputGiven:
		return f.given(e)
	case pawl.ClientToolReturned:
		f.over(e.Call)
		t.subject, t.why = Phrase("result of "+name(f.label(e.Call)))+by(e.By), Phrase(data(e.Result))
	case pawl.ApprovalDecided:
		return f.decided(e)
	case pawl.ToolSettled:
		return f.settled(e)
	}
	return t
}

func (f *fold) directed(e pawl.HookDirected) (t told) {
	t.step, t.subject, t.why = "hook", phrasef("%s says %s", name(e.Hook), name(e.Direction)), Phrase(said(e.Reason))
	switch {
	case e.Refused != "":
		t.outcome = []Phrase{phrasef("entry %d stands: %s", e.Entry, said(e.Refused))}
	case e.Direction == "retry" && e.Call != "":
		t.outcome = []Phrase{phrasef("%s is to run again; the result in entry %d is not shown to the model", name(f.label(e.Call)), e.Entry)}
	case e.Direction == "retry":
		t.outcome = []Phrase{phrasef("the reply in entry %d does not count; the model is to be asked again", e.Entry)}
	}
	return t
}

func (f *fold) decided(e pawl.ApprovalDecided) (t told) {
	t.step = "signal"
	t.subject, t.why = Phrase("denial of "+name(f.label(e.Call)))+by(e.By), "a person decided"
	if e.Approved {
		t.subject = Phrase("approval of "+name(f.label(e.Call))) + by(e.By)
	}
	switch {
	case e.Reason != "":
		t.why = Phrase(said(e.Reason))
	case e.Permission != "":
		t.why = phrasef("a person decided, and gave the permission %s for the %s", name(e.Permission), Phrase(e.Scope))
	}
	if e.Args != nil {
		t.outcome = []Phrase{Phrase("with other arguments: " + undecided(e.Args))}
	}
	return t
}

func (f *fold) given(e pawl.InputGiven) told {
	t := told{step: "signal", subject: "message" + by(e.By), why: Phrase(said(e.Text))}
	_, open := f.state.Call(e.Call)
	if e.Call != "" {
		t.subject = Phrase("answer to "+name(f.label(e.Call))) + by(e.By)
	}
	switch {
	case open:
		f.over(e.Call)
	case e.After && e.Call == "":
		t.outcome = []Phrase{"the model reads it when it would be done"}
	}
	return t
}

func (f *fold) settled(e pawl.ToolSettled) told {
	t := told{step: "signal", subject: Phrase("settlement of "+name(f.label(e.Call))) + by(e.By), why: Phrase("it happened, with " + data(e.Result))}
	switch {
	case !e.Happened:
		t.why = "it did not happen, so it may be driven again"
		return t
	case e.Error != "":
		t.why = Phrase("it failed: " + said(e.Error))
	}
	f.over(e.Call)
	return t
}

func (f *fold) forkedFrom(e pawl.RunForked) told {
	f.fork = e
	t := told{step: "fork", subject: Phrase("of run "+name(e.From)) + by(e.By), why: phrasef("shares its entries 1 to %d", e.Seq)}
	if e.Input != "" {
		t.outcome = []Phrase{Phrase("said in addition: " + said(e.Input))}
	}
	return t
}

// resumed explains a resume: the new owner, how long the run was idle, and the
// calls that were lost.
func (f *fold) resumed(entry pawl.Entry, e pawl.RunResumed) told {
	t := told{step: "resume", subject: Phrase("owner " + name(person(e.Owner)))}
	still := display.Lasting(entry.Time.Sub(f.state.Time()))
	switch status := f.state.Status(); {
	case len(f.Decisions) > 0 && f.Decisions[len(f.Decisions)-1].Step == "fork":
		t.why = "the fork is started"
	case status == pawl.StatusRunning && f.state.InFlight():
		t.why = phrasef("the owner before, %s, was gone with work in flight; %s passed", name(person(f.state.Owner())), still)
	case status == pawl.StatusRunning:
		t.why = phrasef("the owner before, %s, was gone; %s passed", name(person(f.state.Owner())), still)
	default:
		t.why = phrasef("the run was %v for %s", status, still)
	}
	f.lost = f.flight != nil
	t.outcome = f.inFlight("lost: ")
	if e.Changed != nil {
		text := Phrase("at other prices")
		if parts := f.decl.Differences(*e.Changed); len(parts) > 0 {
			text = Phrase("under a changed agent: " + names(parts, 6))
		}
		t.outcome = append(t.outcome, text)
	}
	return t
}

// inFlight lists the model and tool calls without an end in the log, and what
// becomes of each; lost says that it is lost, or if.
func (f *fold) inFlight(lost string) (out []Phrase) {
	if f.flight != nil {
		c, _ := f.flight.Event.(pawl.ModelCalled)
		out = append(out, phrasef("model call for %s (entry %d, attempt %d), %sbooked at its reservation of %s tokens and made again",
			name(string(c.Purpose)), f.flight.Seq, c.Attempt, lost, display.Group(c.Reserved)))
	}
	for c := range f.state.Open() {
		if c.Phase != pawl.PhaseStarted {
			continue
		}
		fate := "driven again, since its tool is " + c.Effect.String()
		if c.Effect == pawl.Write {
			fate = "in doubt, since a write is never repeated unasked"
		}
		out = append(out, phrasef("call %s %s, since %s, %s%s", name(c.ID+" "+c.Tool), undecided(c.Args), stamp(c.Started), lost, fate))
	}
	return out
}
