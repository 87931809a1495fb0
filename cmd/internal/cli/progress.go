package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/team"
)

// progress prints an entry in one line, if it concerns people. Where a person sees the
// result as well, a reply that may be the answer is left out, and where a person is asked,
// what needs approval.
func (con *console) progress(e pawl.Entry) {
	reply, _ := e.Event.(pawl.ModelReplied)
	text := con.progressText(e.Event)
	if reply.Purpose != "" && !calls(reply.Reply) && con.outTerminal() != nil && !con.json {
		text = ""
	}
	if _, asked := e.Event.(pawl.ApprovalRequested); asked && con.shown {
		text = ""
	}
	if text != "" {
		con.sayf("[%d] %s", e.Iteration, text)
	}
	for _, change := range con.changes(e.Event) {
		con.sayf("[%d] %s", e.Iteration, change)
	}
	for _, h := range reply.Reply.Hosted {
		came := ""
		if h.Error != "" {
			came = ": " + gist(h.Error)
		}
		con.sayf("[%d] %s %s %s, run by the provider%s", e.Iteration, h.Call.ID, h.Call.Tool, gistJSON(h.Call.Args), came)
	}
	for _, p := range reply.Reply.Parts {
		if c, is := p.(pawl.Call); is && c.Tool == searchTool {
			con.sayf("[%d] %s %s %s", e.Iteration, c.ID, c.Tool, gistJSON(c.Args))
		}
	}
}

// changes returns what adapters changed in requests to a model and was not printed yet. The note
// of a run has all such changes so far.
func (con *console) changes(event pawl.Event) (lines []string) {
	note, ok := event.(pawl.Noted)
	var all []string
	if !ok || note.By != "__model__" || json.Unmarshal(note.Value, &all) != nil {
		return nil
	}
	for _, change := range all {
		if !con.told[change] {
			lines = append(lines, gist(change))
			if con.told == nil {
				con.told = map[string]bool{}
			}
			con.told[change] = true
		}
	}
	return lines
}

// searchTool is the tool that finds tools. The machine answers its calls, so no entry says that one starts.
const searchTool = "tool_search"

// thoughts is the thinking of a reply, which is where current models of Anthropic put what they say
// between calls.
func thoughts(r pawl.Reply) string {
	var text strings.Builder
	for _, p := range r.Parts {
		if t, is := p.(pawl.Thinking); is {
			text.WriteString(t.Text)
		}
	}
	return text.String()
}

func calls(r pawl.Reply) bool {
	return slices.ContainsFunc(r.Parts, func(p pawl.Part) bool { _, is := p.(pawl.Call); return is })
}

// progressText is the line for an event; empty: it gets none. Other functions print how
// a run began and ended.
func (con *console) progressText(event pawl.Event) string {
	switch e := event.(type) {
	case pawl.ModelCalled:
		if e.Fallback > 0 && e.Attempt > 1 {
			return fmt.Sprintf("asking fallback %d", e.Fallback)
		}
	case pawl.ModelReplied:
		if strings.HasPrefix(string(e.Purpose), string(pawl.PurposeJudge)) {
			return "" // its result follows
		}
		return gist(cmp.Or(e.Reply.Text(), thoughts(e.Reply)))
	case pawl.ModelFailed:
		text := fmt.Sprintf("the model call failed (%v): %s", e.Class, gist(e.Message))
		if !e.RetryAt.IsZero() {
			text += fmt.Sprintf("; next try at %s", e.RetryAt.Local().Format(time.TimeOnly))
		}
		return text
	case pawl.PlanRejected:
		return "reply rejected: " + gist(strings.Join(e.Reasons, "; "))
	case pawl.Observed:
		if e.Text == "" { // there is a goal, whose measure follows, but no observer
			return ""
		}
		return "observed: " + gist(e.Text)
	case pawl.Measured:
		return con.measured(e)
	case pawl.ProgressJudged:
		return "progress: " + gist(e.Detail)
	case pawl.Reflected:
		return fmt.Sprintf("confidence %.2f: %s", e.Confidence, gist(e.Text))
	case pawl.Grounded:
		switch claims := gist(strings.Join(e.Claims, "; ")); {
		case !e.OK:
			return "the answer is not grounded: " + claims
		case claims != "":
			return "the answer has unsupported values: " + claims
		}
		return "the answer is grounded"
	case pawl.InstructionsGiven:
		return "instructions: " + gist(e.Text)
	case pawl.NoticeGiven:
		return "notice: " + gist(e.Text)
	case pawl.ProgressLogged:
		return gist(e.Message)
	case pawl.RunStarted:
		if c := e.Continues; c != nil && c.By != "" {
			return fmt.Sprintf("%s hands over to %s: %s", c.By, e.Declaration.Agent, gist(c.Reason))
		}
	case pawl.Noted:
		if c, ok := team.ChangeOf(e); ok {
			return "board: " + gist(c.String())
		}
	case pawl.RunResumed:
		return "resumed"
	case pawl.RunForked:
		return fmt.Sprintf("forked from %s at entry %d", e.From, e.Seq)
	case pawl.CancelRequested:
		if e.Call != "" {
			return fmt.Sprintf("%s: cancelled by %s", e.Call, because(e.By, e.Reason))
		}
		return "cancelled by " + because(e.By, e.Reason)
	case pawl.HookDirected:
		return hookText(e)
	}
	return callText(event)
}

// measured is the line for a measure of the goal, with what has changed since the measure before.
func (con *console) measured(e pawl.Measured) string {
	text := fmt.Sprintf("metric %g", e.Value)
	if len(e.Open) > 0 {
		text += fmt.Sprintf(", open: %d", len(e.Open))
	}
	fixed, broke, shown := meter.Moved(con.open, e.Open)
	con.open = e.Open
	if len(fixed) > 0 {
		text += "; no longer open: " + gist(strings.Join(fixed, ", "))
	}
	if news := append(broke, shown...); len(news) > 0 {
		text += "; newly open: " + gist(strings.Join(news, ", "))
	}
	return text
}

// because is who did something and, if that is said, why.
func because(by, reason string) string {
	if by = gist(by); reason != "" {
		by += ": " + gist(reason)
	}
	return by
}

// hookText is what a hook directed.
func hookText(e pawl.HookDirected) string {
	text := fmt.Sprintf("hook %s: %s", e.Hook, e.Direction)
	switch {
	case e.Refused != "":
		text += ", since " + gist(e.Refused)
	case e.Call != "":
		text = fmt.Sprintf("hook %s: %s runs again", e.Hook, e.Call)
	case e.Direction == "retry":
		text = fmt.Sprintf("hook %s: the model is called again", e.Hook)
	}
	if e.Reason != "" {
		text += ": " + gist(e.Reason)
	}
	return text
}

// callText is the line for an event of a call.
func callText(event pawl.Event) string {
	switch e := event.(type) {
	case pawl.ToolStarted:
		return fmt.Sprintf("%s %s %s", e.Call, e.Tool, gistJSON(e.Args))
	case pawl.ToolFinished:
		text := fmt.Sprintf("%s %s: %v after %s", e.Call, e.Tool, e.Status, display.Lasting(e.Duration))
		if e.Status == pawl.ToolOK {
			return text + ": " + gistJSON(e.Result)
		}
		return text + ": " + gist(e.Error)
	case pawl.ToolReused:
		return fmt.Sprintf("%s %s: reuses the result of %s", e.Call, e.Tool, e.Of)
	case pawl.ToolRefused:
		return fmt.Sprintf("%s %s: refused: %s", e.Call, e.Tool, gist(e.Why))
	case pawl.ToolDoubted:
		return fmt.Sprintf("%s %s: in doubt: %s", e.Call, e.Tool, gist(e.Why))
	case pawl.ToolSettled:
		switch {
		case e.Status == pawl.ToolTimeout:
			return fmt.Sprintf("%s: it timed out: %s", e.Call, gist(e.Error))
		case e.Happened && e.Error != "":
			return fmt.Sprintf("%s: it failed: %s", e.Call, gist(e.Error))
		case e.Happened:
			return fmt.Sprintf("%s: it happened: %s", e.Call, gistJSON(e.Result))
		}
		return e.Call + ": it did not happen"
	case pawl.ApprovalRequested:
		return fmt.Sprintf("%s %s %s needs approval: %s", e.Call, e.Tool, pendingJSON(e.Args), gist(e.Reason))
	case pawl.ApprovalDecided:
		if e.Approved {
			return fmt.Sprintf("%s: approved by %s%s", e.Call, gist(e.By), display.After(", permission ", e.Permission))
		}
		return fmt.Sprintf("%s: denied by %s", e.Call, because(e.By, e.Reason))
	case pawl.InputRequested:
		if !e.WakeAt.IsZero() {
			return fmt.Sprintf("%s: %s", e.Call, gist(e.Question))
		}
		return fmt.Sprintf("%s asks: %s", e.Call, gist(e.Question))
	case pawl.InputGiven:
		switch {
		case e.After:
			return "a message for when it would be done: " + gist(e.Text)
		case e.Call == "":
			return "a message: " + gist(e.Text)
		}
		return fmt.Sprintf("%s is answered: %s", e.Call, gist(e.Text))
	case pawl.ChildStarted:
		return fmt.Sprintf("%s is run %s of %s, within %v", e.Call, e.Child, e.Agent, e.Limits)
	case pawl.ChildStopped:
		return fmt.Sprintf("%s: run %s is %s", e.Call, e.Child, e.Status.String())
	case pawl.ClientToolRequested:
		return fmt.Sprintf("%s %s %s waits for the client", e.Call, e.Tool, pendingJSON(e.Args))
	case pawl.ClientToolReturned:
		return fmt.Sprintf("%s: the client returned %s", e.Call, gistJSON(e.Result))
	}
	return ""
}
