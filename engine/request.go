package engine

import (
	"fmt"
	"log/slog"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// requests are what one run asks of people: approvals, answers, results of client tools, and
// unknown outcomes of calls.
type requests struct {
	rec      *recorder
	given    []approval.Permission // that were just given
	tokens   map[string]string     // of the requests made here, by call
	deferred map[string]uint64     // the requests that the approver left to others, by call
	reissue  bool                  // pending requests must be made again: the run was resumed, and not because its time had come
	ended    uint64                // the epoch in which the run last ended; earlier cancels are void
}

// read turns signals into entries. A signal that nothing waits for any more is dropped.
func (q *requests) read(signals []pawl.Signal) {
	r := q.rec
	for _, l := range signals {
		if l.ID <= r.state.Internals().Signal() {
			continue
		}
		if e := q.event(&l); e != nil {
			q.give(e)
			r.appendNow(e)
			q.reissue = q.reissue && !resumes(e)
		} else if l.Kind != pawl.SignalChild { // which only wakes
			r.log(slog.LevelDebug, "a signal came too late, or answers nothing", slog.String("request", l.Request), slog.String("by", l.By))
		}
	}
	q.reconsider()
}

// event is the entry that a signal becomes; nil: none.
func (q *requests) event(l *pawl.Signal) pawl.Event {
	r, call := q.rec, callOf(l.Request)
	c, _ := r.state.Call(call)
	waits := func(p pawl.Phase) bool { return c.Phase == p && answers(l, &c) }
	b, err := bodyOf(l)
	if err != nil {
		return nil
	}
	switch l.Kind {
	case pawl.SignalCancel:
		var epoch uint64
		if _, err := fmt.Sscanf(l.Request, "cancel.%d", &epoch); err != nil || epoch > q.ended { // else the run ended by itself before it was read
			return pawl.CancelRequested{By: l.By, Reason: r.clean.text(b.Reason), Signal: l.ID}
		}
	case pawl.SignalCancelCall:
		if e := cancelOf(r, l); e != nil {
			return *e
		}
	case pawl.SignalNote:
		return pawl.Noted{By: l.By, Name: r.clean.text(b.Name), Value: r.clean.json(b.Value), Signal: l.ID}
	case pawl.SignalAnswer:
		question, asked := r.state.Question()
		switch {
		case isSaid(l):
			call = awaiting(r.state, l)
			return pawl.InputGiven{Call: call, Text: r.clean.text(b.Text), By: l.By, After: b.After && call == "", Signal: l.ID}
		case waits(pawl.PhaseAwaitingInput), asked && question.Call == call:
			return pawl.InputGiven{Call: call, Text: r.clean.text(b.Text), By: l.By, Signal: l.ID}
		}
	case pawl.SignalResult:
		if waits(pawl.PhaseAwaitingClient) {
			return pawl.ClientToolReturned{Call: call, Result: handed(r, c.Tool, b.Result), By: l.By, Signal: l.ID}
		}
	case pawl.SignalResolution:
		if waits(pawl.PhaseInDoubt) {
			return pawl.ToolSettled{Call: call, Happened: b.Happened != nil && *b.Happened, Result: handed(r, c.Tool, b.Result), By: l.By, Signal: l.ID}
		}
	case pawl.SignalDecision:
		if waits(pawl.PhaseAwaitingApproval) && r.host.checkDecision(r.state, c.Tool, b.decision(l.By)) == nil {
			return q.decided(c, b.decision(l.By), l.ID)
		}
	}
	return nil
}

// answered reports whether one of the signals is worth claiming the run again for.
// A driver that must release the run claims it only to cancel it.
func (q *requests) answered(signals []pawl.Signal, suspend bool) bool {
	for _, l := range signals {
		if l.Kind == pawl.SignalChild && !suspend {
			return q.rec.state.Waits(pawl.PhaseAwaitingChild)
		}
		if resumes(q.event(&l)) && (!suspend || l.Kind == pawl.SignalCancel) {
			return true
		}
	}
	return false
}

// cancelOf is the entry that a signal which cancels a call becomes; nil: none, as the call is over.
func cancelOf(r *recorder, l *pawl.Signal) *pawl.CancelRequested {
	b, err := bodyOf(l)
	c, _ := r.state.Call(callOf(l.Request))
	if !cancellable(&c) || c.Cancelled != "" || err != nil {
		return nil
	}
	return &pawl.CancelRequested{Call: c.ID, By: l.By, Reason: r.clean.text(b.Reason), Signal: l.ID}
}

// unattended answers a question of the model in a run that no person can reach, because its
// journal is memory. It reports whether there was one.
func (q *requests) unattended() bool {
	r := q.rec
	for c := range r.state.Open() {
		if c.Phase == pawl.PhaseAwaitingInput && !r.host.lasting {
			r.resumed()
			r.appendNow(pawl.InputGiven{Call: c.ID, By: "pawl", Text: "Nobody can answer here. Decide yourself, or finish with what you know."})
			return true
		}
	}
	return false
}
