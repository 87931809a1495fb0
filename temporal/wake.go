package temporal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
)

// A waker tells Temporal of runs that have a reason to go on.
type waker struct {
	client  *Client
	journal pawl.Journal
	host    worker.Host
	log     *slog.Logger
}

// A notifier is a journal that tells of new signals; see [engine.New].
type notifier interface {
	WatchSignals(ctx context.Context) iter.Seq2[string, error]
}

const (
	pollEvery  = 50 * time.Millisecond // in a journal that tells nothing
	againAfter = 5 * time.Second       // the journal failed
	mostAtOnce = 16                    // wakes in progress
)

// listen wakes runs that get signals until ctx ends. What it misses the sweep finds.
func (k *waker) listen(ctx context.Context) {
	mail, ok := k.journal.(pawl.Inbox)
	if !ok {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, mostAtOnce)
	for ctx.Err() == nil {
		for run, err := range k.signalled(ctx, mail) {
			if err != nil {
				if ctx.Err() == nil {
					k.log.Warn("signals reach Temporal late: the journal cannot be watched", "error", err)
				}
				break
			}
			if run == "" {
				continue
			}
			slots <- struct{}{}
			all.Go(func() {
				if err := k.signal(ctx, mail, run); err != nil && ctx.Err() == nil {
					k.log.Warn("Temporal was not told of a signal; the sweep tells it", "run", run, "error", err)
				}
				<-slots
			})
		}
		retry.Wait(ctx, againAfter)
	}
}

// signalled yields the ids of runs that get signals.
func (k *waker) signalled(ctx context.Context, mail pawl.Inbox) iter.Seq2[string, error] {
	if n, ok := k.journal.(notifier); ok {
		return n.WatchSignals(ctx)
	}
	return func(yield func(string, error) bool) {
		last, caught := int64(0), false
		for ctx.Err() == nil {
			var news []string
			for s, err := range mail.Signals(ctx, "", last) {
				if err != nil {
					yield("", err)
					return
				}
				if last = s.ID; caught && !slices.Contains(news, s.Run) {
					news = append(news, s.Run)
				}
			}
			caught = true
			for _, run := range news {
				if !yield(run, nil) {
					return
				}
			}
			retry.Wait(ctx, pollEvery)
		}
	}
}

// signal wakes the run that one with a new signal descends from, if nobody drives it. Of
// several workers that do so, Temporal hears the first: the id names the signal and where the
// run stood.
func (k *waker) signal(ctx context.Context, mail pawl.Inbox, run string) error {
	var last int64
	for s, err := range mail.Signals(ctx, run, 0) {
		if err != nil {
			return err
		}
		if tells(&s) {
			last = s.ID
		}
	}
	root, err := runs.RootOf(ctx, k.journal, run)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return nil
	}
	if err != nil || last == 0 || !runs.Suspended(root) {
		return err
	}
	agents, err := k.host.Names(ctx)
	if err != nil || !slices.Contains(agents, root.Agent) {
		return err
	}
	return k.client.Wake(ctx, root, fmt.Sprintf("%s/%d/%d", run, root.Seq, last))
}
