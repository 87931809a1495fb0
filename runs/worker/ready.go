package worker

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-run/pawl"
)

// readyTime is how long the journal may take to answer.
const readyTime = 2 * time.Second

// Ready returns nil if the worker can take a run now. Otherwise the error says why not:
// the worker is closing, or its journal fails or does not answer within two seconds.
func (w *Worker) Ready(ctx context.Context) error {
	w.mu.Lock()
	draining := w.draining
	w.mu.Unlock()
	if draining {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	answered := make(chan error, 1)
	go func() { // a journal that waits for a disk does not look at the context
		for _, err := range w.journal.List(ctx, pawl.Query{Max: 1}) {
			answered <- err
			return
		}
		answered <- nil
	}()
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	w.log.Warn("not ready", "error", err)
	return errors.New("the journal does not answer")
}
