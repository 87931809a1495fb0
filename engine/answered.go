package engine

import (
	"context"
	"slices"

	"github.com/pawl-run/pawl"
)

// answerKind is the kind of signal that answers a pending request.
var answerKind = map[string]pawl.SignalKind{
	"approval": pawl.SignalDecision, "input": pawl.SignalAnswer, "client_tool": pawl.SignalResult, "doubt": pawl.SignalResolution,
}

// MarkAnswered marks the requests in a list from [Pending] that a signal in the inbox answers
// already, although no owner has turned the signal into an entry yet. Resuming the run does
// so. Until then the run still waits, since the log is the only truth about it.
func MarkAnswered(ctx context.Context, j pawl.Journal, list []pawl.Pending) error {
	mail, ok := j.(pawl.Inbox)
	if !ok {
		return nil
	}
	looked := map[string]bool{}
	for _, p := range list {
		if looked[p.Run] {
			continue
		}
		looked[p.Run] = true
		s, err := Load(ctx, j, p.Run)
		if err != nil {
			return err
		}
		for l, err := range mail.Signals(ctx, p.Run, s.Signal()) {
			if err != nil {
				return err
			}
			markAnswered(s, &l, list)
		}
	}
	return nil
}

func markAnswered(s *pawl.State, l *pawl.Signal, list []pawl.Pending) {
	call := callOf(l.Request)
	c, _ := s.Call(call)
	q, asked := s.Question()
	for i := range list {
		p := &list[i]
		if p.Run == l.Run && p.Call == call && answerKind[p.Kind] == l.Kind && (answers(l, &c) || asked && q.Call == call && p.Kind == "input") {
			at := l.Time
			p.AnsweredAt, p.AnsweredBy = &at, l.By
		}
	}
}

// Signalled reports whether a waiting or paused run would continue if it were resumed, because its
// inbox, or that of a child run, has an unread signal: an answer to a pending request, or a
// request to cancel the run.
func Signalled(ctx context.Context, j pawl.Journal, run string) (bool, error) {
	mail, ok := j.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	s, err := Load(ctx, j, run)
	if err != nil {
		return false, err
	}
	return signalled(ctx, &Engine{journal: j, inbox: mail}, s)
}

func signalled(ctx context.Context, e *Engine, s *pawl.State) (bool, error) {
	if s.Seq() == 0 || s.Status().Ended() {
		return false, nil
	}
	list := s.Result().Pending
	for l, err := range e.inbox.Signals(ctx, s.Run(), s.Signal()) {
		if err != nil {
			return false, err
		}
		if l.Kind == pawl.SignalCancel && l.Request == cancelRequest(s) {
			return true, nil
		}
		markAnswered(s, &l, list)
	}
	if slices.ContainsFunc(list, func(p pawl.Pending) bool { return p.AnsweredAt != nil }) {
		return true, nil
	}
	// An owner that is shut down may pause the run before it has resumed a child.
	for _, c := range begun(s, pawl.PhaseStarted, pawl.PhaseLost, pawl.PhaseAwaitingChild) {
		child, _, err := e.loadChild(ctx, c.Child)
		if err != nil {
			return false, err
		}
		if call, _ := s.Call(c.Call.ID); child.Status().Ended() && call.Phase != pawl.PhaseAnswered {
			return true, nil
		}
		if ok, err := signalled(ctx, e, child); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
