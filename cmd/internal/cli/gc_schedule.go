package cli

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
)

// A retention is how long a server or worker keeps runs.
type retention struct{ older string }

func (r *retention) flags(f *pflag.FlagSet) {
	f.StringVar(&r.older, "gc", "", "delete runs that ended this long ago, as 90d or 12h: at the start and then every hour (default: keep all)")
}

// every is how often a server looks for runs to delete.
const every = time.Hour

// schedule deletes old runs until quit. Several servers may do so in one journal: a run is
// claimed before it is removed. Wrong flags are an error.
func (r *retention) schedule(ctx context.Context, j store, log *slog.Logger) (quit func(), err error) {
	if r.older == "" {
		return func() {}, nil
	}
	s := &sweep{older: r.older}
	if err := s.parse("--gc", time.Now()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			s.once(ctx, j, log)
			select {
			case <-time.After(every - rand.N(every/4)): //nolint:gosec // keeps servers apart, protects nothing
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }, nil
}

// once deletes what is old by now.
func (s *sweep) once(ctx context.Context, j store, log *slog.Logger) {
	_ = s.parse("--gc", time.Now())                           // it was right before
	_, sum, err := s.collect(ctx, j, func(string, ...any) {}) // what cannot be judged stays
	if sum.Runs > 0 {
		log.Info("old runs deleted", "runs", sum.Runs)
	}
	if err != nil && ctx.Err() == nil {
		log.Error("old runs cannot be deleted; it is tried again within the hour", "error", err)
	}
}
