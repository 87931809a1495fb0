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

// Signalled reports whether a waiting run would continue if it were resumed, because its
// inbox, or that of a child run, has an unread signal: an answer to a pending request, or a
// request to cancel the run.
func Signalled(ctx context.Context, j pawl.Journal, run string) (bool, error) {
	mail, ok := j.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	s, err := Load(ctx, j, run)
	if err != nil || s.Status().Ended() {
		return false, err
	}
	for l, err := range mail.Signals(ctx, run, s.Signal()) {
		if err != nil {
			return false, err
		}
		if l.Kind == pawl.SignalCancel && l.Request == cancelRequest(s) {
			return true, nil
		}
	}
	for c := range s.Open() {
		if c.Phase != pawl.PhaseAwaitingChild {
			continue
		}
		child, err := Load(ctx, j, c.Child)
		if err != nil || child.Status().Ended() {
			return err == nil, err
		}
	}
	list, err := Pending(ctx, j, s)
	if err == nil {
		err = MarkAnswered(ctx, j, list)
	}
	answered := func(p pawl.Pending) bool { return p.AnsweredAt != nil }
	return err == nil && slices.ContainsFunc(list, answered), err
}
