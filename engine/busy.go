package engine

import (
	"fmt"
	"time"

	"github.com/pawl-run/pawl/internal/display"
)

// A BusyError says that a run cannot be driven now: the engine drives as many as it may, see
// Options.MaxRuns, or calls to a provider wait for its rate, see [Engine.Ready].
type BusyError struct {
	Max int // runs; zero: it is the rate

	Provider string
	Wait     time.Duration // until calls to it may be made
}

// Error gives the limit and the remedy.
func (e *BusyError) Error() string {
	if e.Max == 0 && e.Provider != "" {
		return fmt.Sprintf("calls to %s wait %v for the rate that it is asked at; try again later, or raise the rate", e.Provider, e.Wait.Round(time.Second))
	}
	return fmt.Sprintf("no more than %s can be driven here at once; try again when one has ended or waits, or raise the limit", display.Count(e.Max, "run"))
}

// room reports a *BusyError before anything is claimed for a run. Adding the run decides.
func (e *Engine) room() error {
	if e.opt.MaxRuns <= 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.full()
}

// full is room for a caller that holds mu.
func (e *Engine) full() error {
	if e.opt.MaxRuns <= 0 {
		return nil
	}
	n := 0
	for _, d := range e.live {
		if !d.rec.hooks.driven {
			n++
		}
	}
	if n >= e.opt.MaxRuns {
		return &BusyError{Max: e.opt.MaxRuns}
	}
	return nil
}
