package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// ErrNoEntry says that a run's log is shorter than the caller expects.
var ErrNoEntry = errors.New("no entry")

// Until folds a run's log up to the entry at. If the log is shorter, the error is [ErrNoEntry].
func Until(ctx context.Context, j pawl.Journal, run string, at uint64) (*pawl.State, error) {
	s := new(pawl.State)
	for e, err := range engine.Entries(ctx, j, run, 1) {
		if err == nil {
			err = s.CheckNext(e)
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
