package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// Reconcile tells from the record of the command's supervisor what came of a
// call; see [Supervise]. A command that still runs is waited for whatever its
// effect is: it has been paid for, and to end it and begin again would take
// longer. What has lost its supervisor is ended, and then nobody can tell.
func (c *command) Reconcile(ctx context.Context, inv pawl.Invocation) (out pawl.Output, happened bool, err error) {
	if c.err != nil {
		return pawl.Output{}, false, c.err
	}
	if !supervision.on() {
		return pawl.Output{}, false, fmt.Errorf("%w: commands of this program are not supervised; have main call tool.Supervise first", errUntold)
	}
	dir, _, err := supervision.place()
	if err != nil {
		return pawl.Output{}, false, err
	}
	effect := c.info.Effect
	if effect == 0 {
		effect = pawl.Write
	}
	a := attempt(inv)
	unreadable := 0
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		fate, err := dir.Read(a)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			sure := proven(dir, inv)
			if !sure && !supervision.complete(dir, a, effect) {
				return pawl.Output{}, false, fmt.Errorf("%w: there is no record of it in %s", errUntold, dir.Path())
			}
			// Whoever was about to start it finds that he may not.
			switch err := dir.Never(a); {
			case err == nil:
				return never(effect, sure)
			case !errors.Is(err, fs.ErrExist):
				return pawl.Output{}, false, err
			}
			continue // he was faster
		case err != nil:
			return pawl.Output{}, false, err
		case !fate.About(a) && fate.Begin == nil && fate.Never == nil && unreadable < patience: // it is just being made
			unreadable++
		case !fate.About(a):
			return pawl.Output{}, false, fmt.Errorf("%w: its record in %s is damaged", errUntold, dir.Path())
		case fate.Never != nil:
			return never(effect, proven(dir, inv))
		case fate.Exit != nil:
			return c.ended(fate, effect)
		}
		if fate.Begin != nil {
			id, err := process.ParseIdentity(fate.Begin.Supervisor)
			if err != nil || !id.Alive() {
				return c.orphaned(dir, a, effect)
			}
		}
		select {
		case <-ctx.Done():
			return pawl.Output{}, false, fmt.Errorf("the command still runs: %w", context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// never is what the absence of a record tells. Unless the log says that there
// would be one, a program that does not supervise may have driven the run, on the
// same journal, and left none: nothing that may be done once only rests on that.
func never(effect pawl.Effect, sure bool) (pawl.Output, bool, error) {
	if effect == pawl.Write && !sure {
		return pawl.Output{}, false, fmt.Errorf("%w: no supervisor has started it, and none will", errUntold)
	}
	return pawl.Output{}, false, nil
}

// patience is how many looks, a second in all, an empty record may take to be
// written.
const patience = 14

// ended tells of a command whose end was recorded.
func (c *command) ended(fate spool.Fate, effect pawl.Effect) (out pawl.Output, happened bool, err error) {
	e := fate.Exit
	if e.Cut == spool.Stopped && e.Refused == nil {
		if effect != pawl.Write {
			return pawl.Output{}, false, nil
		}
		return pawl.Output{}, false, fmt.Errorf("%w: it was cut short", errUntold)
	}
	if e.Refused != nil && e.Cut != 0 {
		return pawl.Output{}, false, nil
	}
	out, err = outcome(e, func(what error) error {
		return &stopError{text: fmt.Sprintf("no result within %v; %v", fate.Begin.Timeout, what), is: []error{context.DeadlineExceeded}}
	})
	return out, true, err
}

// orphaned ends what is left of a command without a supervisor. It is looked at
// once more: the supervisor may have ended in good order meanwhile.
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
	return pawl.Output{}, false, fmt.Errorf("%w: its supervisor has died", errUntold)
}
