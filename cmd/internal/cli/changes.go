package cli

import (
	"context"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// lookAnyway is how often a run is polled for changes by other processes, in addition to when the
// journal notifies.
const lookAnyway = time.Second

// changesOf returns wait, which returns when a run may have changed or ctx ends, and stop,
// which ends the subscription.
func changesOf(ctx context.Context, j pawl.Journal, run string) (wait func() error, stop func()) {
	listening, stop := context.WithCancel(ctx)
	word := client.Changes(listening, j, run)
	return func() error {
		select {
		case <-word:
			return nil
		case <-time.After(lookAnyway):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, stop
}
