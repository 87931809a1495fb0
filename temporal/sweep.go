package temporal

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/runs"
)

// A sweeper finds runs that should go on and that Temporal does not drive: it was not told of
// a signal, or has lost the workflow.
type sweeper struct {
	*waker

	read    int64                // the last signal that was read
	told    map[string]bool      // runs with signals, which are looked at until that succeeds
	lapsed  map[string]uint64    // runs without a live owner, and the epoch of their lease
	retries map[string]*wakening // what was woken
	said    string               // what the last look failed with
}

// A wakening is a run that was woken and may have to be woken again.
type wakening struct {
	seq   uint64 // where it stood
	after time.Duration
	until time.Time // it is left alone
}

// What a run is left alone after it was woken and did not go on: twice as long each time.
const mostPatience = time.Hour

// sweep looks into the journal until ctx ends.
func (s *sweeper) sweep(ctx context.Context, every time.Duration) {
	for {
		err := s.look(ctx, every)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			s.said = ""
		case err.Error() != s.said:
			s.said = err.Error()
			s.log.Error("runs that Temporal has lost cannot be looked for; it is tried again", "error", err)
		}
		if !retry.Wait(ctx, every) {
			return
		}
	}
}

func (s *sweeper) look(ctx context.Context, every time.Duration) error {
	agents, err := s.host.Names(ctx)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	lapsed := map[string]uint64{}
	for _, q := range []pawl.Query{{Due: time.Now()}, {Status: pawl.StatusQueued}} {
		for h, err := range s.journal.List(ctx, q) {
			if err != nil {
				return err
			}
			if h.Status == pawl.StatusRunning { // an owner that lives renews its lease before the next look
				epoch, before := s.lapsed[h.Run]
				lapsed[h.Run] = h.Lease.Epoch
				if !before || epoch != h.Lease.Epoch {
					continue
				}
			}
			found[h.Run] = true
		}
	}
	s.lapsed = lapsed
	if err := s.signalledSince(ctx, found); err != nil {
		return err
	}
	var failed error
	for run := range found {
		if err := s.find(ctx, run, agents, every); err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
			failed = err
		} else {
			delete(s.told, run)
		}
	}
	for run, r := range s.retries {
		if time.Since(r.until) > 2*every { // it is not found any more
			delete(s.retries, run)
		}
	}
	return failed
}

// signalledSince adds the runs with signals since the last look or with signals that could not
// be looked at, and those that were woken for a signal. Before the first look signals came to runs that have long ended.
func (s *sweeper) signalledSince(ctx context.Context, found map[string]bool) error {
	mail, ok := s.journal.(pawl.Inbox)
	if !ok {
		return nil
	}
	for run := range s.retries {
		found[run] = true
	}
	var parked map[string]bool
	if s.read == 0 {
		var err error
		if parked, err = runs.Parked(ctx, s.journal); err != nil {
			return err
		}
	}
	for l, err := range mail.Signals(ctx, "", s.read) {
		if err != nil {
			return err
		}
		if s.read = l.ID; tells(&l) && (parked == nil || parked[l.Run]) {
			s.told[l.Run] = true
		}
	}
	maps.Copy(found, s.told)
	return nil
}

// tells reports whether a signal may be a reason for a run to go on.
func tells(l *pawl.Signal) bool { return l.Kind != pawl.SignalNote && l.Kind != pawl.SignalDelivery }

// find wakes the run that one descends from, if it should go on and Temporal does not drive it.
func (s *sweeper) find(ctx context.Context, run string, agents []string, every time.Duration) error {
	root, err := runs.RootOf(ctx, s.journal, run)
	if err != nil || !slices.Contains(agents, root.Agent) || runs.Owned(root.Lease) || root.Status.Ended() {
		return err
	}
	r := s.retries[root.Run]
	if r == nil || r.seq != root.Seq {
		r = &wakening{seq: root.Seq, after: every}
	}
	if time.Now().Before(r.until) {
		return nil
	}
	if waits := root.Status.Waiting() || root.Status == pawl.StatusPaused; waits && (root.WakeAt.IsZero() || root.WakeAt.After(time.Now())) {
		if unread, err := engine.Signalled(ctx, s.journal, root.Run); err != nil || !unread {
			delete(s.retries, root.Run)
			return err
		}
	}
	if busy, err := s.client.busy(ctx, root.Run); err != nil || busy {
		return err
	}
	if err := s.client.Wake(ctx, root, rand.Text()); err != nil {
		return err
	}
	s.log.Info("run found that Temporal does not drive", slog.String("run", root.Run), slog.String("status", root.Status.String()))
	r.until, r.after = time.Now().Add(r.after), min(2*r.after, mostPatience)
	s.retries[root.Run] = r
	return nil
}
