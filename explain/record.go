package explain

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// record explains facts that the machine recorded.
func (f *fold) record(d *Decision) {
	for i, e := range f.step {
		subject, why := f.recorded(e.Event)
		if i == 0 {
			d.Subject, d.Why = subject, why
			continue
		}
		if _, asks := e.Event.(pawl.InputRequested); asks {
			why = "a person is asked: " + why
		}
		if why != "" && !ladder(e.Event) {
			d.Outcome = append(d.Outcome, why)
		}
	}
}

// ladder reports whether an event is the note in which the policy no_progress
// counts its hints and questions.
func ladder(event pawl.Event) bool {
	note, ok := event.(pawl.Noted)
	return ok && note.By == "no_progress"
}

func (f *fold) recorded(event pawl.Event) (subject, why Phrase) {
	switch e := event.(type) {
	case pawl.PlanRejected:
		f.rejected = e.Rejection
		why = phrasef("try %d of %d", e.Rejection, maxStrikes)
		for i, r := range e.Reasons {
			if i == 3 {
				why += phrasef(" and %d more", len(e.Reasons)-i)
				break
			}
			why += Phrase(": " + said(r))
		}
		return "reply rejected", why
	case pawl.InputGiven:
		return Phrase("a message kept for now" + by(e.By)), Phrase(said(e.Text))
	case pawl.ToolRefused:
		return Phrase("refused " + name(f.label(e.Call))), phrasef("refused %s: %s", name(f.label(e.Call)), said(e.Why))
	case pawl.ToolDoubted:
		return Phrase("a doubt about " + name(f.label(e.Call))), phrasef("%s: %s", name(f.label(e.Call)), said(e.Why))
	case pawl.ToolFinished:
		f.answered = append(f.answered, e.Call)
		f.acted = append(f.acted, e.Call)
		return Phrase("the outcome of " + name(f.label(e.Call))), finished(e)
	case pawl.ProgressJudged:
		return f.judged(e)
	case pawl.Reflected:
		return f.reflected(e)
	case pawl.Grounded:
		return f.grounded(e)
	case pawl.CausesFound:
		return f.caused(e)
	case pawl.ContextCompacted:
		f.because("the conversation was shortened")
		switch e.Why {
		case "":
		case "price":
			why = "carrying it on would have cost more: "
		case "pause":
			why = "the provider's cache had lost it, so that it cost nothing: "
		case "tools":
			why = "tools were found, so that the provider's cache had nothing of it anyway: "
		default:
			why = Phrase(said(e.Why) + ": ")
		}
		left := Phrase(display.Count(len(e.Masked), "result") + " left out")
		switch {
		case e.Summary == "":
			why += left
		case len(e.Masked) == 0:
			why += phrasef("entries %d to %d are shown as a summary", e.From, e.To)
		default:
			why += phrasef("entries %d to %d are shown as a summary, %s", e.From, e.To, left)
		}
		return "the conversation is shortened", why
	case pawl.InputRequested:
		return "a question to a person", Phrase(said(e.Question))
	case pawl.ApprovalExpired:
		return Phrase("the approval of " + name(f.label(e.Call)) + " has expired"), "nobody decided in time"
	case pawl.ApprovalInvalidated:
		return Phrase("the approval of " + name(f.label(e.Call)) + " does not hold any more"), Phrase("what it relied on has changed: " + names(e.Changed, 5))
	case pawl.Noted:
		if subject, why, is := looped(e); is {
			return subject, why
		}
		if subject, why, is := ruled(e); is {
			return subject, why
		}
		if e.By == "__budget__" {
			var over struct{ Detail string }
			_ = json.Unmarshal(e.Value, &over)
			return "a budget refuses the next model call", Phrase(said(over.Detail))
		}
		return Phrase("a note " + name(e.Name)), phrasef("%s noted %s", name(e.By), data(e.Value))
	case pawl.ModelDelta:
		return "a piece of a reply", ""
	}
	return Phrase(name(pawl.Entry{Event: event}.Type())), ""
}

// onBoard reads a note with a change of the board of tasks; see package team.
func onBoard(event pawl.Event) (line Phrase, is bool) {
	var c struct {
		Do, Run, Task, Text string
		Tasks               []string
	}
	note, ok := event.(pawl.Noted)
	if !ok || note.By != "__board__" || json.Unmarshal(note.Value, &c) != nil {
		return "", false
	}
	line = phrasef("board: %s by run %s: %s", name(c.Do), name(c.Run), name(c.Task))
	if text := cmp.Or(strings.Join(c.Tasks, "; "), c.Text); text != "" {
		line += Phrase(": " + said(text))
	}
	return line, true
}

// looped reads the note with the calls that a loop makes.
func looped(e pawl.Noted) (subject, why Phrase, is bool) {
	var calls []struct{ Call, Tool, Step string }
	if e.By != "__loop__" || json.Unmarshal(e.Value, &calls) != nil {
		return "", "", false
	}
	var steps, tools []string
	for _, c := range calls {
		steps, tools = append(steps, cmp.Or(c.Step, c.Call)), append(tools, c.Tool)
	}
	what := "step "
	if len(steps) > 1 {
		what = "steps "
	}
	return Phrase(what + names(steps, 6)), Phrase("it is known what comes next: " + names(tools, 6)), true
}

func (f *fold) judged(e pawl.ProgressJudged) (subject, why Phrase) {
	why = Phrase(said(e.Detail))
	if e.Hint != "" {
		why += Phrase("; the model is told: " + said(e.Hint))
		f.because("a hint was given")
	}
	return cmp.Or(judgements[e.Judgement], "progress"), why
}

var judgements = map[pawl.Judgement]Phrase{
	pawl.JudgedRefuted:   "the goal refutes the claim to be done",
	pawl.JudgedRepeating: "the run gets nowhere",
	pawl.JudgedHinted:    "a hint, because the run gets nowhere",
	pawl.JudgedRegressed: "the last turn made it worse",
}

func (f *fold) await(d *Decision) {
	e, _ := f.step[0].Event.(pawl.RunPaused)
	d.Subject, d.Why = Phrase(e.Status.String()), Phrase(said(e.Reason))
	if !e.WakeAt.IsZero() {
		d.Outcome = append(d.Outcome, Phrase("it wants to go on at "+stamp(e.WakeAt)))
	}
}

func (f *fold) finish(d *Decision) {
	e, _ := f.step[0].Event.(pawl.RunStopped)
	stopped(d, e)
}

func stopped(d *Decision, e pawl.RunStopped) {
	d.Step, d.Subject, d.Why = "finish", Phrase(e.Status.String()), Phrase(said(e.Detail))
	if e.Status != pawl.StatusPlanFailed { // there the leaf is the status
		d.Why = phrasef("%s decided: ", name(e.Leaf)) + d.Why
	}
}
