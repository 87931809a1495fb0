package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// doing is what an act did so far.
type doing struct {
	calls []did // in the order in which they were classified
	whys  []Phrase
	tasks []Phrase
}

// did is what became of a call.
type did struct {
	id, label string
	line      Phrase // the call
	came      Phrase
}

// do takes in an entry of an act.
func (f *fold) do(e pawl.Entry) {
	if line, ok := onBoard(e.Event); ok {
		f.doing.tasks = append(f.doing.tasks, line)
		return
	}
	id, why, came := f.disposed(e)
	if id == "" {
		return
	}
	i := slices.IndexFunc(f.doing.calls, func(c did) bool { return c.id == id })
	if i < 0 {
		i = len(f.doing.calls)
		f.doing.calls = append(f.doing.calls, did{id: id, label: id, line: Phrase(name(id)), came: "no outcome is in the log"})
		if c, ok := f.state.Call(id); ok {
			args := c.Args
			if c.Edited != nil {
				args = c.Edited
			}
			f.doing.calls[i].label = id + " " + c.Tool
			f.doing.calls[i].line = Phrase(name(f.doing.calls[i].label) + " " + data(args))
		}
	}
	if came != "" {
		f.doing.calls[i].came = came
	}
	if why != "" && !slices.Contains(f.doing.whys, why) {
		f.doing.whys = append(f.doing.whys, why)
	}
	switch e.Event.(type) {
	case pawl.ToolFinished, pawl.ToolReused, pawl.ToolRefused:
		f.answered = append(f.answered, id)
		f.acted = append(f.acted, id)
	}
}

// act explains a batch of calls and their results.
func (f *fold) act(d *Decision) {
	calls, whys := f.doing.calls, f.doing.whys
	slices.SortFunc(calls, func(a, b did) int { return byNumber(a.id, b.id) })
	labels := make([]string, len(calls))
	for i, c := range calls {
		labels[i] = c.label
		d.Outcome = append(d.Outcome, c.line+" → "+c.came)
	}
	d.Outcome = append(d.Outcome, f.doing.tasks...)
	d.Subject = Phrase(names(labels, 4))
	if len(whys) > 4 {
		whys = append(whys[:4:4], phrasef("and %d more", len(whys)-4))
	}
	d.Why = cmp.Or(join(whys, "; "), "it was called")
	f.doing = doing{calls: calls[:0], whys: f.doing.whys[:0]}
}

// byNumber orders the ids of calls as the model made them.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// caller returns the origin of a call: the model, or a step of the loop.
func (f *fold) caller(id string) Phrase {
	if c, ok := f.state.Call(id); ok && c.Step != "" {
		return Phrase("step " + name(c.Step))
	}
	return "the model"
}

func (f *fold) label(id string) string {
	if c, ok := f.state.Call(id); ok {
		return id + " " + c.Tool
	}
	return id
}

// disposed reads one entry of an act: the call, the reason for its class, and
// its outcome.
func (f *fold) disposed(entry pawl.Entry) (id string, why, came Phrase) {
	switch e := entry.Event.(type) {
	case pawl.ToolStarted:
		return e.Call, f.whyRun(e), "started, and no outcome is in the log"
	case pawl.ToolFinished:
		f.changed(entry, e)
		if strings.HasPrefix(e.Tool, "__") || e.Tool == searchTool {
			why = f.caller(e.Call) + phrasef(" called %s; the machine answered it", name(e.Tool))
		}
		return e.Call, why, finished(e)
	case pawl.Noted:
		if e.By == toolsFound {
			f.because("it is shown the tools that were found")
		}
	case pawl.ToolReused:
		return e.Call, f.caller(e.Call) + phrasef(" called %s again with the same arguments; answered from the log", name(e.Tool)),
			phrasef("reused the result of %s", name(e.Of))
	case pawl.ToolRefused:
		return e.Call, phrasef("refused %s: %s", name(e.Tool), said(e.Why)), Phrase("refused: " + said(e.Why))
	case pawl.ToolDoubted:
		return e.Call, "", Phrase("in doubt: " + said(e.Why))
	case pawl.ApprovalRequested:
		p := Phrase("held for a person: " + said(e.Reason))
		if !e.Expires.IsZero() {
			p += Phrase(", until " + stamp(e.Expires))
		}
		return e.Call, phrasef("%s needs approval: %s", name(e.Tool), said(e.Reason)), p
	case pawl.ApprovalExpired:
		return e.Call, "", "not run: its approval had expired"
	case pawl.ApprovalInvalidated:
		return e.Call, "", Phrase("not run: what its approval relied on has changed: " + names(e.Changed, 5))
	case pawl.InputRequested:
		return e.Call, f.caller(e.Call) + " asked a person", Phrase("asked: " + said(e.Question))
	case pawl.ClientToolRequested:
		return e.Call, phrasef("%s is the client's to run; handed over", name(e.Tool)), "handed to the client"
	case pawl.MemoryStored:
		return e.Call, f.caller(e.Call) + phrasef(" stored a value under %s", name(e.Key)), ""
	case pawl.ProgressLogged:
		return e.Call, f.caller(e.Call) + Phrase(" noted its progress: "+said(e.Message)), ""
	case pawl.ChildStarted:
		return e.Call, f.caller(e.Call) + phrasef(" called on agent %s", name(e.Agent)), phrasef("run %s was started", name(e.Child))
	case pawl.ChildStopped:
		switch {
		case e.Status == pawl.StatusInterrupted:
			return e.Call, "its child run was interrupted with it", phrasef("what run %s had used was booked", name(e.Child))
		case !e.Status.Ended():
			return e.Call, "its child run was let go of", phrasef("run %s is %v", name(e.Child), e.Status)
		}
		return e.Call, "its child run is over", phrasef("run %s ended as %v", name(e.Child), e.Status)
	}
	return "", "", ""
}

// whyRun returns the reason why a call ran at this point.
func (f *fold) whyRun(e pawl.ToolStarted) Phrase {
	c, _ := f.state.Call(e.Call)
	switch {
	case c.Phase == pawl.PhaseLost:
		return phrasef("%s was lost when the run's process ended; driven again, since its tool is %v (attempt %d)", name(e.Call), e.Effect, e.Attempt)
	case c.Phase == pawl.PhaseApproved && c.Retries > 0:
		return phrasef("a hook had %s run again (attempt %d)", name(e.Call), e.Attempt)
	case c.Phase == pawl.PhaseApproved && c.Attempt > 0:
		who := "it is known"
		if c.By != "" {
			who = name(person(c.By)) + " says"
		}
		return phrasef("%s that %s did not happen; driven again (attempt %d)", who, name(e.Call), e.Attempt)
	case c.Phase == pawl.PhaseApproved && c.Edited != nil:
		return phrasef("%s was approved%s with other arguments; ran it", name(e.Call), by(c.By))
	case c.Phase == pawl.PhaseApproved:
		return phrasef("%s was approved%s; ran it", name(e.Call), by(c.By))
	}
	return f.caller(e.Call) + phrasef(" called %s; ran it", name(e.Tool))
}

func finished(e pawl.ToolFinished) Phrase {
	p := Phrase(e.Status.String())
	if e.Duration > 0 {
		p += Phrase(" in " + display.Lasting(e.Duration))
	}
	switch {
	case e.Status == pawl.ToolOK:
		p += Phrase(": " + data(e.Result))
	case e.Error != "":
		p += Phrase(": " + said(e.Error))
	}
	if e.Truncated {
		p += ", cut to its cap"
		if e.Blob != "" {
			p += phrasef(" (the whole is kept as %s)", name(e.Blob))
		}
	}
	if n := len(e.Images); n > 0 {
		p += Phrase(", with " + display.Count(n, "image"))
	}
	if e.Abandoned {
		p += ", left behind because it did not stop"
	}
	return p
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + name(person(who))
}
