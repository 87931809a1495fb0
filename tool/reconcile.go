package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// Reconcile returns the result of a call from the record of the command's supervisor; see
// [Supervise]. It first prevents an attempt that was not started from starting. It waits for a
// command that still runs, whatever its effect: starting over would take longer. It ends the
// command when its time, or the run's, is over. A command that has lost its supervisor is ended,
// and its outcome is unknown.
func (c *command) Reconcile(ctx context.Context, inv pawl.Invocation) (out pawl.Output, happened bool, err error) {
	if c.err != nil {
		return pawl.Output{}, false, c.err
	}
	effect := c.info.Effect
	effect = cmp.Or(effect, pawl.Write)
	dir, proof, err := recordOf(inv)
	if err != nil {
		return pawl.Output{}, false, err
	}
	a := attempt(inv)
	fate, err := dir.Fence(a)
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		switch {
		case err != nil:
			return pawl.Output{}, false, err
		case !fate.About(a):
			return pawl.Output{}, false, fmt.Errorf("%w: its record in %s is damaged", errUnknown, dir.Path())
		case fate.Never != nil && effect == pawl.Write && !proof:
			// A program without a supervisor may have run it and left no record.
			return pawl.Output{}, false, fmt.Errorf("%w: there is no record of it in %s", errUnknown, dir.Path())
		case fate.Never != nil:
			return pawl.Output{}, false, nil
		case fate.Exit != nil:
			return c.ended(fate, effect)
		}
		if id, err := process.ParseIdentity(fate.Begin.Supervisor); err != nil || !id.Alive() {
			return c.orphaned(dir, a, effect)
		}
		select {
		case <-ctx.Done():
			return c.overdue(ctx, dir, a, effect)
		case <-time.After(pause):
		}
		fate, err = dir.Read(a)
	}
}

// ended returns the result of a command whose end was recorded.
func (c *command) ended(fate spool.Fate, effect pawl.Effect) (out pawl.Output, happened bool, err error) {
	e := fate.Exit
	if e.Cut == spool.Stopped && e.Refused == nil {
		if effect != pawl.Write {
			return pawl.Output{}, false, nil
		}
		return pawl.Output{}, false, fmt.Errorf("%w: it was cut short", errUnknown)
	}
	if e.Refused != nil && e.Cut != 0 {
		return pawl.Output{}, false, nil
	}
	out, err = outcome(e, func(what error) error {
		return &stopError{text: fmt.Sprintf("no result within %v; %v", fate.Begin.Timeout, what), is: []error{context.DeadlineExceeded}}
	})
	return out, true, err
}

// overdue ends a command that still runs when its time, or the run's, is over, as the process
// that started it would have. If the context ended for another reason, the command goes on.
func (c *command) overdue(ctx context.Context, dir spool.Dir, a spool.Attempt, effect pawl.Effect) (out pawl.Output, happened bool, err error) {
	runs := fmt.Errorf("the command still runs: %w", context.Cause(ctx))
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return pawl.Output{}, false, runs
	}
	told := false
	for end := time.Now().Add(c.grace + settling); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		fate, err := dir.Read(a)
		if err != nil {
			return pawl.Output{}, false, err
		}
		if e := fate.Exit; e != nil {
			if told && e.Cut == 0 { // its supervisor does not know why it ended
				late := *e
				late.Cut, fate.Exit = spool.Late, &late
			}
			return c.ended(fate, effect)
		}
		if id, err := process.ParseIdentity(fate.Process); err == nil && id.Alive() {
			told = true
			_ = id.End(c.grace) // only the kernel can end what survives SIGKILL
		}
	}
	return pawl.Output{}, false, runs
}

// orphaned ends what is left of a command that has lost its supervisor. It reads the record once
// more, since the supervisor may have finished normally meanwhile.
func (c *command) orphaned(dir spool.Dir, a spool.Attempt, effect pawl.Effect) (out pawl.Output, happened bool, err error) {
	fate, err := dir.Read(a)
	if err != nil {
		return pawl.Output{}, false, err
	}
	if fate.Exit != nil && fate.Begin != nil {
		return c.ended(fate, effect)
	}
	if id, err := process.ParseIdentity(fate.Process); err == nil {
		if err := id.End(c.grace); err != nil {
			return pawl.Output{}, false, err
		}
	}
	return pawl.Output{}, false, fmt.Errorf("%w: its supervisor has died", errUnknown)
}
