package engine

import (
	"fmt"

	"github.com/pawl-run/pawl/internal/figure"
)

// A BusyError says that an engine drives as many runs as it may; see Options.MaxRuns.
type BusyError struct{ Max int }

// Error gives the limit and the remedy.
func (e *BusyError) Error() string {
	return fmt.Sprintf("no more than %s can be driven here at once; try again when one has ended or waits, or raise the limit", figure.Count(e.Max, "run"))
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
		return &BusyError{e.opt.MaxRuns}
	}
	return nil
}
