package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// A reason is why a run is to be resumed.
type reason string

const (
	ownerDied   reason = "its process ended"
	timeHasCome reason = "its time has come"
	hasSignal   reason = "it has an unread signal"
	isQueued    reason = "it is queued"
)

// A failure is a run that could not be resumed. It is tried again after a time that
// doubles as long as its log does not change.
type failure struct {
	seq   uint64
	after time.Duration
	until time.Time
	said  string
}

// longest is the most that passes between two tries of a run that cannot be resumed.
const longest = time.Hour

// resume resumes the run that one which was found descends from, and reports whether
// it did. What was found may be out of date by now, so it is looked at again. If later is set
// then, the reason still holds, or that could not be seen.
func (s *sweeper) resume(ctx context.Context, h pawl.Head, why reason) bool {
	s.later, s.driven = false, false
	if !runs.IsChild(h) && !slices.Contains(s.agents, h.Agent) {
		return false
	}
	root, ok, err := s.still(ctx, h, why)
	if err == nil && !ok {
		released := root
		released.Lease = pawl.Lease{}
		s.later = runs.Owned(root.Lease) && runs.Suspended(released) // its owner has yet to release it
		s.driven = runs.Owned(root.Lease) && !s.later && s.worker.Live(root.Run) == nil
		return false
	}
	s.later = true
	if f := s.failed[root.Run]; f != nil && f.seq == root.Seq && time.Now().Before(f.until) {
		return false
	}
	if err == nil && why == ownerDied {
		err = Worthwhile(ctx, s.journal, root.Run)
	}
	if err == nil && s.worker.Live(root.Run) != nil {
		return false // its owner here renews a lapsed lease at its next heartbeat
	}
	if why == timeHasCome && s.isDry(root.Agent) {
		return false // it is found again
	}
	// All runs of a process that died were driven at once before, so only a limit that somebody set holds them back.
	if err == nil && s.worker.free() == 0 && (why != ownerDied || s.worker.options.Slots > 0) {
		return false // it is found again
	}
	if err == nil {
		ahead := -1
		if why == timeHasCome {
			ahead = 0
		}
		_, err = s.worker.resume(ctx, root, ahead, runs.Limits{}, &engine.ResumeOptions{After: root.Seq})
	}
	busy, _ := errors.AsType[*engine.BusyError](err)
	s.dries(root.Agent, busy)
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil:
		s.later = false
		delete(s.failed, root.Run)
		s.worker.counts.recovered.Add(1)
		s.log.Info("run resumed", "run", root.Run, "why", string(why))
		return true
	case errors.As(err, new(*pawl.HeldError)), errors.As(err, new(*engine.BusyError)), errors.Is(err, ErrClosed), errors.Is(err, pawl.ErrFenced), errors.Is(err, pawl.ErrConflict), errors.Is(err, pawl.ErrUnknownRun):
		s.later = busy != nil // else somebody else drives it, or removed it
		delete(s.failed, root.Run)
		return false
	case root.Run == "":
		s.say(ctx, err)
		return false
	}
	s.fail(root, why, err)
	return false
}

// fail notes that a run cannot be resumed, and says so unless it was said before.
func (s *sweeper) fail(root pawl.Head, why reason, err error) {
	f := s.failed[root.Run]
	if f == nil {
		f = &failure{}
		s.failed[root.Run] = f
	}
	if f.seq != root.Seq {
		f.seq, f.after = root.Seq, s.every/2
	}
	f.after = min(2*f.after, longest)
	f.until = time.Now().Add(f.after)
	if f.said != err.Error() {
		f.said = err.Error()
		s.log.Warn("run cannot be resumed", "run", root.Run, "why", string(why), "error", err)
	}
}

// still reports whether the reason to resume a run holds, and gives the run that it
// descends from as it was before that was seen: resuming that one after its last
// entry, one of several programs is the first.
func (s *sweeper) still(ctx context.Context, h pawl.Head, why reason) (root pawl.Head, ok bool, err error) {
	now, err := runs.Head(ctx, s.journal, h.Run)
	if err == nil {
		root, err = runs.Root(ctx, s.journal, now)
	}
	if err == nil && root.Run != now.Run {
		now, err = runs.Head(ctx, s.journal, h.Run)
	}
	if err != nil || !slices.Contains(s.agents, root.Agent) || !runs.HasLabels(root, s.worker.options.Labels) {
		return root, false, err
	}
	parked := runs.Suspended(root)
	switch why {
	case ownerDied:
		same := now.Status == pawl.StatusRunning && now.Lease.Epoch == h.Lease.Epoch
		return root, same && (parked || root.Run == now.Run), nil
	case timeHasCome:
		return root, parked && (now.Status == pawl.StatusPaused || now.Status.Waiting()) && !now.WakeAt.IsZero() && !now.WakeAt.After(time.Now()), nil
	}
	if parked {
		ok, err = engine.Signalled(ctx, s.journal, root.Run)
	}
	return root, ok, err
}
