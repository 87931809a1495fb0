package cli

import (
	"context"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
)

// owned reports whether somebody drives a run now.
func owned(l pawl.Lease) bool {
	return l.Until.After(time.Now()) && !engine.ParseOwner(l.Owner).Gone()
}

// standing is where a run stands for whoever looks: a log cannot know that the
// run's owner is gone, nor that the time of what it asked for is over.
func standing(ctx context.Context, j pawl.Journal, h pawl.Head) (pawl.Status, error) {
	switch {
	case h.Status == pawl.Running && !owned(h.Lease):
		return pawl.Interrupted, nil
	case h.Status.Waiting():
		s, err := engine.Load(ctx, j, h.Run)
		if err != nil {
			return 0, err
		}
		if expired(pawl.ResultOf(s).Pending, time.Now()) {
			return pawl.Expired, nil
		}
	}
	return h.Status, nil
}

// expired reports whether nothing of what a run waits for can still be given.
func expired(pending []pawl.Pending, now time.Time) bool {
	for _, p := range pending {
		if p.ExpiresAt == nil || now.Before(*p.ExpiresAt) {
			return false
		}
	}
	return len(pending) > 0
}

// reportOn explains a run as it stands now, and thereby gives its result.
func reportOn(ctx context.Context, j pawl.Journal, h pawl.Head) (explain.Report, error) {
	o := &explain.Options{Now: time.Now()}
	if h.Status == pawl.Running && !owned(h.Lease) {
		o.Status = pawl.Interrupted
	}
	return explain.Of(redacted(engine.Entries(ctx, j, h.Run, 1)), o)
}
