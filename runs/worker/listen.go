package worker

import (
	"context"
	"time"

	"github.com/pawl-run/pawl"
)

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
			s.signals[l.Run] = now
		}
	}
	s.caught = true
	for run, since := range s.signals {
		if now.Sub(since) < s.every/2 {
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
		if s.resume(ctx, h, hasSignal); !s.later {
			delete(s.signals, run) // it is resumed, or its owner reads the signal, or that says nothing to the run
		} else if s.worker.free() == 0 {
			break // the others wait for a slot, too
		}
	}
	return nil
}
