package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
		refused, _ := io.ReadAll(out)
		over <- refused
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
