package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
)

// RunCommandOptions is what the tool run_command may say; its zero value is
// right.
type RunCommandOptions struct {
	// Timeout is the deadline of one attempt; zero is 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of stdout, and of stderr, are kept, head and
	// tail; zero is 16 KiB.
	MaxOutput int
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Env names the variables that commands get of those of this process, besides
	// PATH, HOME, LANG and TMPDIR.
	Env []string
	// Secrets names further ones, whose values are secrets and are taken out of
	// what commands print.
	Secrets []string
	// Cage is what programs are held to by the kernel; nil: to what the user may.
	// A program must be one of the system or among the files of the cage.
	Cage *Cage
}

// RunCommand is the tool run_command, with which a model runs a program of its
// choice: argv as it is, without a shell, unless the model names one. It may do
// whatever this process may. No list of forbidden words would change that, so
// there is none: what holds is a person's approval of each call, or a cage.
//
// It is a Write. The program has nothing on stdin and gets what a [Command] gets
// besides; its result is what that of a Command is. When it is killed over its
// time, it may have had effects.
func RunCommand(o *RunCommandOptions) pawl.Tool {
	if o == nil {
		o = &RunCommandOptions{}
	}
	t := &runCommand{CommandOptions{
		Timeout: o.Timeout, MaxOutput: o.MaxOutput, Dir: o.Dir, Env: slices.Clone(o.Env), Secrets: slices.Clone(o.Secrets), Cage: o.Cage,
	}}
	t.Input = json.RawMessage(`{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"},"minItems":1,"description":"the program and its arguments, one each; there is no shell"}},"required":["argv"],"additionalProperties":false}`)
	return t
}

type runCommand struct{ CommandOptions }

// of is the command of a call.
func (t *runCommand) of(argv []string) *command {
	c := Command("run_command", "Run a program and get what it prints.", argv, &t.CommandOptions).(*command)
	c.chosen = true
	return c
}

// called is the command that a call asks for.
func (t *runCommand) called(args json.RawMessage) (*command, error) {
	var a struct {
		Argv []string `json:"argv"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	c := t.of(a.Argv)
	if c.err != nil {
		return nil, errors.Unwrap(only(c.err))
	}
	return c, nil
}

// only is the first of joined errors.
func only(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
		return joined.Unwrap()[0]
	}
	return err
}

// Info declares the tool.
func (t *runCommand) Info() pawl.ToolInfo { return t.of([]string{"a program"}).Info() }

// Check returns what is wrong with the options.
func (t *runCommand) Check(a pawl.Agent) error { return t.of([]string{"a program"}).Check(a) }

// Grace is how long Run may go on after its context ended; see [Command].
func (t *runCommand) Grace() time.Duration { return t.of(nil).Grace() }

// Run runs the program once.
func (t *runCommand) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	c, err := t.called(inv.Args)
	if err != nil {
		return pawl.Output{}, err
	}
	j, err := c.job(inv)
	if err != nil {
		return pawl.Output{}, err
	}
	j.Stdin = nil // the arguments are in argv
	return c.perform(ctx, j, inv)
}

// Witness digests what the command is; see [Command].
func (t *runCommand) Witness(ctx context.Context, args json.RawMessage) (map[string]string, error) {
	c, err := t.called(args)
	if err != nil {
		return nil, err
	}
	return c.Witness(ctx, args)
}

// Reconcile tells what came of a call; see [Supervise].
func (t *runCommand) Reconcile(ctx context.Context, inv pawl.Invocation) (out pawl.Output, happened bool, err error) {
	c, err := t.called(inv.Args)
	if err != nil {
		return pawl.Output{}, false, err
	}
	return c.Reconcile(ctx, inv)
}
