package runs

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// A Decided is one decision of a person or a client about a run, from the log. Its Text has at
// most 300 bytes, is on one line, and has no apparent secrets.
type Decided struct {
	Seq       uint64
	Time      time.Time
	Iteration int
	What      string // call (a person made the one call of the run), fork, edit, approve, deny, answer, submit, settle, cancel, extend or note
	By        string // empty: the log does not say
	Call      string
	Tool      string
	Text      string
	Tokens    int     // what the run had used by then
	Cost      float64 // the same in dollars
	Priced    bool    // whether Cost means anything
}

// DecidedIn returns the decisions about a run, in order. Those in the entries that a fork
// shares with another run are left out.
func DecidedIn(ctx context.Context, j pawl.Journal, run string) (all []Decided, err error) {
	s := new(pawl.State)
	edited := ""
	for e, err := range entries(ctx, j, run) {
		if err != nil {
			return nil, err
		}
		s.Fold(e)
		if f, ok := e.Event.(pawl.RunForked); ok {
			all, edited = nil, ""
			if f.Edited {
				edited = cmp.Or(f.By, "?")
			}
		}
		d, ok := decided(e.Event, edited)
		if !ok {
			continue
		}
		if c, ok := s.Call(d.Call); ok {
			d.Tool = c.Tool
		}
		d.Seq, d.Time, d.Iteration, d.Text = e.Seq, e.Time, e.Iteration, brief(d.Text)
		d.Tokens = s.Tokens()
		d.Cost, d.Priced = s.Cost()
		all = append(all, d)
		if d.What == "edit" {
			edited = ""
		}
	}
	return all, nil
}

// decided is the decision in an event. edited is who wrote the entry, if it is the edit of a
// fork.
func decided(event pawl.Event, edited string) (d Decided, ok bool) {
	switch e := event.(type) {
	case pawl.RunStarted:
		tool, by, called := CalledBy(e.Declaration.Source)
		if !called || by != Person {
			return d, false
		}
		d = Decided{What: "call", By: e.Labels[CallerLabel], Tool: tool, Text: e.Input}
	case pawl.RunForked:
		d = Decided{What: "fork", By: e.By, Text: e.Input}
	case pawl.ModelReplied:
		if edited == "" {
			return d, false
		}
		d = Decided{What: "edit", By: edited, Text: e.Reply.Text()}
	case pawl.ApprovalDecided:
		d = Decided{What: "deny", By: e.By, Call: e.Call, Text: e.Reason}
		if e.Approved {
			d.What, d.Text = "approve", cmp.Or(e.Reason, string(e.Args))
		}
	case pawl.InputGiven:
		d = Decided{What: "answer", By: e.By, Call: e.Call, Text: e.Text}
		switch {
		case e.Call == "" && e.Signal == 0:
			return d, false // a message that was said before, in its turn
		case e.Call == "":
			d.What = "say"
		}
	case pawl.ClientToolReturned:
		d = Decided{What: "submit", By: e.By, Call: e.Call, Text: string(e.Result)}
	case pawl.ToolSettled:
		if edited == "" && (e.By == "reconcile" || strings.HasPrefix(e.By, "run ")) {
			return d, false // a tool knew how it ended, or another run had it
		}
		d = Decided{What: "settle", By: e.By, Call: e.Call, Text: cmp.Or(e.Error, string(e.Result))}
		switch {
		case edited != "":
			d.What = "edit"
		case !e.Happened:
			d.Text = "it did not happen"
		}
	case pawl.CancelRequested:
		d = Decided{What: "cancel", By: e.By, Text: e.Reason}
	case pawl.RunExtended:
		d = Decided{What: "extend", By: e.By, Text: e.Limits.String()}
		if e.Stop != "" {
			d.Text = "stop: " + e.Stop
		}
	case pawl.Noted:
		if _, board := team.ChangeOf(e); board || !e.Given() {
			return d, false
		}
		d = Decided{What: "note", By: e.By, Text: e.Name + ": " + string(e.Value)}
	default:
		return d, false
	}
	return d, true
}
