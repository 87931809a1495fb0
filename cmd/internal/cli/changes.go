package cli

import (
	"context"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
)

// How often the journal is polled for changes by other processes. Journals that notify
// are polled too, since a notification is lost if its sender dies.
const (
	lookEvery  = 100 * time.Millisecond
	lookAnyway = time.Second
)

// changesOf returns wait, which returns when a run may have changed or ctx ends, and stop,
// which ends the subscription.
func changesOf(ctx context.Context, j pawl.Journal, run string) (wait func() error, stop func()) {
	if r, far := j.(*remote); far {
		return func() error {
			seen, err := r.Watch(ctx, run, r.log(run).state.Seq(), nil)
			if err == nil && seen.Status == pawl.StatusInterrupted { // the stream does not say who takes it
				err = pause(ctx, lookAnyway)
			}
			return err
		}, func() {}
	}
	teller, ok := j.(interface {
		WatchLogs(ctx context.Context) iter.Seq2[string, error]
	})
	if !ok {
		return func() error { return pause(ctx, lookEvery) }, func() {}
	}
	listening, stop := context.WithCancel(ctx)
	word := make(chan struct{}, 1)
	go func() {
		for about, err := range teller.WatchLogs(listening) {
			if err != nil {
				return // polling is enough
			}
			if about == run || about == "" {
				select {
				case word <- struct{}{}:
				default:
				}
			}
		}
	}()
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
