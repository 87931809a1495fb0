package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
)

// Reconcile returns the result of a call from the file of its wrapper; see [Supervise]. It first
// keeps an attempt that was not started from starting. It waits for a command that still runs,
// whatever its effect: starting over would take longer. It ends the command when its time, or the
// run's, is over. A command that has lost its wrapper is ended, and its outcome is unknown.
func (c *command) Reconcile(ctx context.Context, inv pawl.Invocation) (out pawl.Output, happened bool, err error) {
	if c.err != nil {
		return pawl.Output{}, false, c.err
	}
	dir, ok := process.ParseCallDir(inv.Supervised)
	if !ok || !dir.Reachable() {
		return pawl.Output{}, false, fmt.Errorf("%w: the log names no directory of this machine where it is recorded", errUnknown)
	}
	a := attempt(inv)
	fate, err := dir.Await(ctx, a)
	switch {
	case !fate.Running:
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		fate, err = dir.Stop(ctx, a, process.Late, c.grace+process.Settling)
	default: // another process can wait for it
		err = fmt.Errorf("the command still runs: %w", context.Cause(ctx))
	}
	switch {
	case err != nil:
		return pawl.Output{}, false, err
	case fate.Never:
		return pawl.Output{}, false, nil
	case fate.Outcome == nil:
		return pawl.Output{}, false, c.lost(fate, errDied)
	}
	return c.ended(fate)
}

// ended returns the result of a command whose outcome was recorded.
func (c *command) ended(fate process.Fate) (out pawl.Output, happened bool, err error) {
	o := fate.Outcome
	write := cmp.Or(c.info.Effect, pawl.Write) == pawl.Write
	switch {
	case o.NotStarted():
		return pawl.Output{}, false, nil
	case write && o.Interrupted():
		return pawl.Output{}, false, fmt.Errorf("%w: it was cut short, %s", errUnknown, process.Exit{Code: o.Code, Signal: o.Signal})
	case o.Cut == process.Stopped:
		return pawl.Output{}, false, nil
	}
	out, err = result(o, func(what error) error { return timedOut(fate.Timeout, what) })
	return out, true, err
}

// lost ends a command that has lost its wrapper. The error says that its outcome is unknown.
func (c *command) lost(fate process.Fate, why error) error {
	return fmt.Errorf("%w: %w", errUnknown, errors.Join(why, fate.EndCommand(c.grace)))
}

// timedOut returns the error of a command that Pawl ended because its time was over.
func timedOut(after time.Duration, what error) error {
	return &stopError{text: fmt.Sprintf("no result within %v; %v", after, what), is: []error{context.DeadlineExceeded}}
}
