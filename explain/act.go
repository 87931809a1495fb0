package explain

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// completeTool is the built-in tool for the final answer, which it notes first.
const completeTool = "__complete__"

// act says what an entry of a step that runs calls is; false: it is of no such step.
func (f *fold) act(entry pawl.Entry) (t told, is bool) {
	t.step = "act"
	put := func(call string, why, outcome Phrase) {
		t.call, t.why = call, why
		if outcome != "" {
			t.outcome = []Phrase{outcome}
		}
	}
	switch e := entry.Event.(type) {
	case pawl.ToolStarted:
		put(e.Call, f.whyRun(e), "started, and no outcome is in the log")
	case pawl.ToolFinished:
		f.over(e.Call)
		put(e.Call, "", finished(e))
		if c, ok := f.state.Call(e.Call); ok && c.Phase == pawl.PhaseLost { // the model reads what is unknown
			return f.alone(t, "the outcome of "), true
		}
	case pawl.ToolReused:
		f.over(e.Call)
		put(e.Call, "", phrasef("answered from the log: %s was the same call", name(e.Of)))
	case pawl.ToolRefused:
		f.over(e.Call)
		put(e.Call, "", Phrase("refused: "+said(e.Why)))
	case pawl.ToolDoubted:
		put(e.Call, "", Phrase("in doubt: "+said(e.Why)))
		return f.alone(t, "a doubt about "), true
	case pawl.ApprovalRequested:
		p := Phrase("needs approval: " + said(e.Reason))
		if !e.Expires.IsZero() {
			p += Phrase(", until " + stamp(e.Expires))
		}
		put(e.Call, "", p)
	case pawl.ApprovalExpired:
		put(e.Call, "", "not run: nobody approved it in time")
		return f.alone(t, "the end of the approval of "), true
	case pawl.ApprovalInvalidated:
		put(e.Call, "", Phrase("not run: what its approval relied on has changed: "+names(e.Changed, 5)))
		return f.alone(t, "the end of the approval of "), true
	case pawl.InputRequested:
		if _, ok := f.state.Call(e.Call); !ok {
			return t, false
		}
		if asks := "asked a person: "; e.WakeAt.IsZero() {
			put(e.Call, "", Phrase(asks+said(e.Question)))
		} else {
			put(e.Call, "", Phrase("suspends the run: "+said(e.Question)))
		}
	case pawl.ClientToolRequested:
		put(e.Call, "", "handed to the client, whose tool it is")
	case pawl.MemoryStored:
		put(e.Call, "", phrasef("stored a value under %s", name(e.Key)))
	case pawl.ProgressLogged:
		put(e.Call, "", Phrase("noted its progress: "+said(e.Message)))
	case pawl.ChildStarted:
		put(e.Call, phrasef("agent %s was called", name(e.Agent)), phrasef("run %s was started", name(e.Child)))
	case pawl.ChildStopped:
		put(e.Call, "its child run is over", phrasef("run %s is %v", name(e.Child), e.Status))
		switch {
		case e.Status == pawl.StatusInterrupted:
			t.why = "its child run was interrupted with it"
		case !e.Status.Ended():
			t.why = "its child run was suspended"
		}
	case pawl.Noted:
		return f.notedCall(e)
	default:
		return t, false
	}
	return t, true
}

// alone is a step that only records what became of a call, if the entry begins a step.
func (f *fold) alone(t told, subject Phrase) told {
	if f.in == nil {
		t = told{step: "record", subject: subject + Phrase(name(f.label(t.call))), why: t.outcome[0]}
	}
	return t
}

// notedCall explains the notes of a step that runs calls.
func (f *fold) notedCall(e pawl.Noted) (t told, is bool) {
	t.step = "act"
	switch e.By {
	case completeTool:
	case "__tools__":
	case "__board__": // of package team
		var c struct {
			Do, Run, Task, Text string
			Tasks               []string
		}
		if json.Unmarshal(e.Value, &c) != nil {
			return t, false
		}
		line := phrasef("board: %s by run %s: %s", name(c.Do), name(c.Run), name(c.Task))
		if text := cmp.Or(strings.Join(c.Tasks, "; "), c.Text); text != "" {
			line += Phrase(": " + said(text))
		}
		if f.in == nil {
			return told{step: "record", subject: "the board of tasks", why: line}, true
		}
		t.outcome = []Phrase{line}
	default:
		return t, false
	}
	return t, true
}

// over marks a call as answered: the model reads the result, and the call may
// have changed something.
func (f *fold) over(call string) {
	f.answered = append(f.answered, call)
	f.acted = append(f.acted, call)
}

// byNumber orders the ids of calls as the model made them.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

func (f *fold) label(id string) string {
	if c, ok := f.state.Call(id); ok {
		return id + " " + c.Tool
	}
	return id
}

// argsOf returns the arguments with which a call runs.
func argsOf(c pawl.CallState) json.RawMessage {
	if c.Edited != nil {
		return c.Edited
	}
	return c.Args
}

// whyRun returns the reason why a call ran at this point; empty: it was made just before.
func (f *fold) whyRun(e pawl.ToolStarted) Phrase {
	c, _ := f.state.Call(e.Call)
	switch {
	case c.Phase == pawl.PhaseLost:
		return phrasef("%s was lost when the run's process ended; driven again, since its tool is %v (attempt %d)", name(e.Call), e.Effect, e.Attempt)
	case c.Phase != pawl.PhaseApproved:
		return ""
	case c.Retries > 0:
		return phrasef("a hook had %s run again (attempt %d)", name(e.Call), e.Attempt)
	case c.Attempt > 0:
		return phrasef("%s did not happen, as was settled%s; driven again (attempt %d)", name(e.Call), by(c.By), e.Attempt)
	case c.Edited != nil:
		return phrasef("%s was approved%s with other arguments; ran it", name(e.Call), by(c.By))
	}
	return phrasef("%s was approved%s; ran it", name(e.Call), by(c.By))
}

// with names the files that a call returned.
func with(files []pawl.File) (p Phrase) {
	const named = 5
	for i, f := range files {
		if i == named {
			return p + Phrase(" and "+display.Count(len(files)-i, "more file"))
		}
		lost := ""
		if f.Blob == "" && f.Data == nil {
			lost = ", not kept"
		}
		p += phrasef(", with %s (%s, %s%s)", name(cmp.Or(f.Name, "a picture")), name(f.Type), display.Count(max(f.Bytes, len(f.Data)), "byte"), lost)
	}
	return p
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
	p += with(e.Files)
	if e.Abandoned {
		p += ", left behind because it did not stop"
	}
	return p
}
