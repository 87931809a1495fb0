package runs

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/team"
)

// A Decision is one decision of a person, a client or another run about a run, from the log.
type Decision struct {
	Run       string    `json:"run"`
	Agent     string    `json:"agent"`
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Iteration int       `json:"iteration"`
	// What is fork, approve, deny, answer, submit, settle, cancel, extend or note.
	What string `json:"what"`
	By   string `json:"by"` // empty: the log does not say
	Call string `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Text is the start of what was said: at most 300 bytes, on one line, with no apparent secrets.
	Text    string        `json:"text,omitempty"`
	Tokens  int           `json:"tokens"`   // what the run had used by then
	CostUSD *pawl.Decimal `json:"cost_usd"` // the same in dollars; null: it has no price
}

// Decisions returns the decisions about a run, in order. Those in the entries that a fork
// shares with another run are left out.
func Decisions(ctx context.Context, j pawl.Journal, h pawl.Head) (all []Decision, err error) {
	s := new(pawl.State)
	for e, err := range Entries(ctx, j, h.Run) {
		if err != nil {
			return nil, err
		}
		s.Fold(e)
		if _, forked := e.Event.(pawl.RunForked); forked {
			all = nil
		}
		d, ok := decided(e.Event)
		if !ok {
			continue
		}
		if c, ok := s.Call(d.Call); ok {
			d.Tool = c.Tool
		}
		d.Run, d.Agent, d.Seq, d.Time, d.Iteration = h.Run, h.Agent, e.Seq, e.Time, e.Iteration
		d.By, d.Text = redact.Text(strings.ToValidUTF8(d.By, "")), brief(d.Text)
		d.Tokens = s.Tokens()
		if cost, priced := s.Cost(); priced {
			d.CostUSD = new(pawl.Decimal(cost))
		}
		all = append(all, d)
	}
	return all, nil
}

// decided is the decision in an event.
func decided(event pawl.Event) (d Decision, ok bool) {
	switch e := event.(type) {
	case pawl.RunForked:
		d = Decision{What: "fork", By: e.By, Text: e.Input}
	case pawl.ApprovalDecided:
		d = Decision{What: "deny", By: e.By, Call: e.Call, Text: e.Reason}
		if e.Approved {
			d.What, d.Text = "approve", cmp.Or(e.Reason, string(e.Args))
		}
	case pawl.InputGiven:
		d = Decision{What: "answer", By: e.By, Call: e.Call, Text: e.Text}
		switch {
		case e.Call == "" && e.Signal == 0:
			return d, false // a message that was said before, in its turn
		case e.Call == "":
			d.What = "say"
		}
	case pawl.ClientToolReturned:
		d = Decision{What: "submit", By: e.By, Call: e.Call, Text: string(e.Result)}
	case pawl.ToolSettled:
		if e.By == "reconcile" {
			return d, false // a tool knew how it ended
		}
		d = Decision{What: "settle", By: e.By, Call: e.Call, Text: cmp.Or(e.Error, string(e.Result))}
		if !e.Happened {
			d.Text = "it did not happen"
		}
	case pawl.CancelRequested:
		d = Decision{What: "cancel", By: e.By, Call: e.Call, Text: e.Reason}
	case pawl.RunExtended:
		d = Decision{What: "extend", By: e.By, Text: e.Limits.String()}
		if e.Stop != "" {
			d.Text = "stop: " + e.Stop
		}
	case pawl.Noted:
		if _, board := team.ChangeOf(e); board || !e.Given() {
			return d, false
		}
		d = Decision{What: "note", By: e.By, Text: e.Name + ": " + string(e.Value)}
	default:
		return d, false
	}
	return d, true
}
