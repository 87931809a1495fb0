package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/retry"
)

func attempt(inv pawl.Invocation) process.Attempt {
	return process.Attempt{Run: inv.Run, Call: inv.Call, Key: inv.Key, Number: inv.Attempt}
}

// defaultTimeout is the machine's default for tools.
const defaultTimeout = time.Minute

// wrapped runs the command in a wrapper.
func (c *command) wrapped(ctx context.Context, j *job, inv pawl.Invocation) (*process.Outcome, error) {
	dir, named := process.ParseCallDir(inv.Supervised)
	var err error
	if !named {
		dir, err = supervision.callDir(inv.Run)
	}
	if err == nil {
		j.Dir, err = filepath.Abs(j.Dir) // the wrapper has another working directory
	}
	if err != nil {
		return nil, notRun("the command could not be recorded: %w", err)
	}
	j.FilesIn = dir.Path // if the wrapper is killed, it is removed with the calls' files
	j.Secrets = supervision.withSecrets(j.Secrets)
	ask := request{Job: *j, Dir: dir, Attempt: attempt(inv), Timeout: cmp.Or(c.info.Timeout, defaultTimeout)}
	in, out, err := process.Respawn(wrapperName)
	if err != nil {
		return nil, notRun("the wrapper of the command could not be started: %w", err)
	}
	defer func() { _ = errors.Join(in.Close(), out.Close()) }()
	over := make(chan []byte, 1)
	go func() {
		_ = errors.Join(json.NewEncoder(in).Encode(ask), in.Close()) // a wrapper that cannot read it starts nothing
		var refused bytes.Buffer
		lines := process.NewProgressLines(&refused, func(fraction float64, text string) { process.Progress(ctx, fraction, text) })
		_, _ = io.Copy(lines, out)
		_ = lines.Close() // a buffer takes everything
		over <- refused.Bytes()
	}()
	var refused []byte
	select {
	case refused = <-over:
	case <-ctx.Done():
	}
	fate, err := dir.Settle(ask.Attempt)
	if err == nil && fate.Running && ctx.Err() != nil {
		fate, err = dir.Stop(ctx, ask.Attempt, cutBy(ctx), c.grace+process.Settling)
	}
	switch {
	case fate.Never && ctx.Err() != nil:
		return nil, tooLate(ctx)
	case len(refused) > 0:
		return nil, notRun("%s", refused)
	case fate.Never:
		return nil, notRun("%w before it started the command", errDied)
	case fate.Outcome != nil:
		return fate.Outcome, nil
	}
	return nil, &retry.UnknownError{Err: c.lost(fate, cmp.Or(err, errDied))}
}

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
