package worker

import (
	"context"
	"time"

	"github.com/pawl-run/pawl"
)

// An unread is what is known of a run that may have unread signals.
type unread struct {
	since time.Time
	next  time.Time // when to look at it
}

// listen reads the signals that came since the last look, and resumes runs with
// signals that nobody has read. The sender of a signal has until the next look to
// resume the run itself, as pawl approve does.
func (s *sweeper) listen(ctx context.Context, now time.Time) error {
	waits := map[string]bool{} // before the first look signals came to runs that have long ended
	if !s.caught {
		for _, status := range []pawl.Status{
			pawl.StatusPaused, pawl.StatusWaitingApproval, pawl.StatusWaitingInput, pawl.StatusWaitingClientTool, pawl.StatusWaitingDoubt,
		} {
			for h, err := range s.journal.List(ctx, pawl.Query{Status: status}) {
				if err != nil {
					return err
				}
				waits[h.Run] = true
			}
		}
	}
	for l, err := range s.mail.Signals(ctx, "", s.read) {
		if err != nil {
			return err
		}
		s.read = l.ID
		if _, known := s.signals[l.Run]; !known && l.Kind != pawl.SignalDelivery && l.Kind != pawl.SignalNote && (s.caught || waits[l.Run]) {
			s.signals[l.Run] = unread{now, now.Add(s.every / 2)}
		}
	}
	s.caught = true
	for run, at := range s.signals {
		if now.Before(at.next) {
			continue
		}
		h := pawl.Head{Run: run}
		for found, err := range s.journal.List(ctx, pawl.Query{Run: run}) {
			if err != nil {
				return err
			}
			if found.Run == run {
				h = found
			}
		}
		switch s.resume(ctx, h, hasSignal); {
		case s.driven: // its owner may stop before it reads the signal; looking ever more rarely costs little
			s.signals[run] = unread{at.since, now.Add(now.Sub(at.since))}
		case !s.later:
			delete(s.signals, run) // it is resumed, or its owner reads the signal, or that says nothing to the run
		case s.worker.free() == 0:
			return nil // the others wait for a slot, too
		}
	}
	return nil
}
