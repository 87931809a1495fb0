package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// ErrElsewhere says that another program must resume a run.
var ErrElsewhere = errors.New("the run must be resumed by another program")

// Suspended reports whether a run waits or is paused and has no owner, so that it can be
// resumed.
func Suspended(h pawl.Head) bool {
	return (h.Status == pawl.StatusPaused || h.Status == pawl.StatusQueued || h.Status.Waiting()) && !Owned(h.Lease)
}

// Parked returns the runs that wait for somebody or are paused.
func Parked(ctx context.Context, j pawl.Journal) (map[string]bool, error) {
	parked := map[string]bool{}
	for _, status := range []pawl.Status{
		pawl.StatusPaused, pawl.StatusWaitingApproval, pawl.StatusWaitingInput, pawl.StatusWaitingClientTool, pawl.StatusWaitingDoubt,
	} {
		for h, err := range j.List(ctx, pawl.Query{Status: status}) {
			if err != nil {
				return nil, err
			}
			parked[h.Run] = true
		}
	}
	return parked, nil
}

// HasLabels reports whether a run has all the labels that are wanted.
func HasLabels(h pawl.Head, want map[string]string) bool {
	for name, value := range want {
		if has, ok := h.Labels[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// Forward resumes the root of a run that got a signal, if the root is suspended, and returns
// its head as it is then. If the signal is not fresh (see [Addressee].Fresh), a waiting run
// stays as it is: resuming would repeat its requests and invalidate their tokens. It is not an
// error if another process resumes the root first, which then reads the signal, or if resume
// fails with [ErrElsewhere].
func Forward(ctx context.Context, j pawl.Journal, run string, fresh bool, resume func(ctx context.Context, root pawl.Head) error) (root pawl.Head, resumed bool, err error) {
	if root, err = RootOf(ctx, j, run); err != nil {
		return root, false, err
	}
	if !Suspended(root) || root.Status.Waiting() && !fresh {
		return root, false, nil
	}
	err = resume(ctx, root)
	switch {
	case err == nil:
		return root, true, nil
	case errors.Is(err, ErrElsewhere):
		return root, false, nil
	}
	now, looking := Head(ctx, j, root.Run)
	if looking != nil {
		return root, false, errors.Join(err, looking)
	}
	if errors.As(err, new(*pawl.HeldError)) || now.Status == pawl.StatusSuccess || now.Lease.Epoch > root.Lease.Epoch && Owned(now.Lease) {
		err = nil
	}
	return now, false, err
}

// Resumable loads a run that is to be resumed. The error says why it cannot be: it is
// driven, has succeeded, or was redacted. If after is not zero, the run must not have gone
// on since that entry; otherwise the error is pawl.ErrConflict.
func Resumable(ctx context.Context, j pawl.Journal, h pawl.Head, after uint64) (*pawl.State, error) {
	if after == 0 && h.Status == pawl.StatusRunning && Owned(h.Lease) { // otherwise the journal decides by its own clock
		return nil, &pawl.HeldError{Lease: h.Lease}
	}
	s, err := engine.Load(ctx, j, h.Run)
	switch {
	case err != nil:
	case after != 0 && s.Seq() != after:
		err = pawl.ErrConflict
	case s.Status() == pawl.StatusSuccess:
		var leg pawl.Head
		if leg, err = Leg(ctx, j, h); err == nil && leg.Run != h.Run {
			err = conflict("run %s has handed over, and run %s has the conversation; resume that one", h.Run, leg.Run)
		} else if err == nil {
			err = conflict("run %s has succeeded; fork it to continue differently", h.Run)
		}
	case s.Internals().Redacted():
		err = fmt.Errorf("run %s: %w", h.Run, engine.ErrRedacted)
	}
	return s, err
}

// ErrNoEntry says that a run's log is shorter than the caller expects.
var ErrNoEntry = errors.New("no entry")

// Until folds a run's log up to the entry at. If the log is shorter, the error is [ErrNoEntry].
func Until(ctx context.Context, j pawl.Journal, run string, at uint64) (*pawl.State, error) {
	s := new(pawl.State)
	for e, err := range engine.Entries(ctx, j, run, 1) {
		if err == nil {
			err = s.Internals().CheckNext(e)
		}
		if err != nil {
			return s, err
		}
		if e.Seq > at {
			break
		}
		s.Fold(e)
	}
	if at == 0 || s.Seq() < at {
		return s, fmt.Errorf("run %s has %w %d to be forked at", run, ErrNoEntry, at)
	}
	return s, nil
}

// Relabelled returns the labels of a fork: those of the run that it comes from, with the labels
// in more added or replaced. If more is empty it returns nil, which keeps those of the run.
func Relabelled(s *pawl.State, more map[string]string) map[string]string {
	if len(more) == 0 {
		return nil
	}
	return Labels(s.Head().Labels, more)
}

// Labels returns the labels in all of the maps. A later map replaces the values of an earlier
// one.
func Labels(of ...map[string]string) map[string]string {
	labels := map[string]string{}
	for _, m := range of {
		maps.Copy(labels, m)
	}
	return labels
}
