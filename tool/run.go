package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

// RunCommand is the tool run_command, with which a model runs a program of its choice: argv
// unchanged, without a shell, unless the model names one. The program may do whatever this process
// may. There is no list of forbidden words, since such a list can be circumvented; an approval of
// each call or a cage protects.
//
// The tool is a Write unless the options say otherwise; their Input is not used. The program has an
// empty stdin and else the environment of a [Command], and its result is that of a Command. A program
// that is killed at its deadline may have had effects. In a cage it must be one of the system or
// among the files of the cage.
func RunCommand(o *CommandOptions) pawl.Tool {
	t := &runCommand{}
	if o != nil {
		t.CommandOptions = *o
	}
	t.Input = json.RawMessage(`{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"},"minItems":1,"description":"the program and its arguments, one each; there is no shell"}},"required":["argv"],"additionalProperties":false}`)
	return t
}

type runCommand struct{ CommandOptions }

// of returns the command of a call with this argv.
func (t *runCommand) of(argv []string) *command {
	c := Command("run_command", "Run a program and get what it prints.", argv, &t.CommandOptions).(*command)
	c.chosen = true
	return c
}

// called returns the command that a call asks for.
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

// only returns the first of joined errors.
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

// Grace is how long Run may take after its context ended; see [Command].
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

// Witness returns the digests of the command's preconditions; see [Command].
func (t *runCommand) Witness(ctx context.Context, args json.RawMessage) (map[string]string, error) {
	c, err := t.called(args)
	if err != nil {
		return nil, err
	}
	return c.Witness(ctx, args)
}

// Supervised names the directory where the next attempt is recorded; see [Supervise].
func (t *runCommand) Supervised(inv pawl.Invocation) string { return t.of(nil).Supervised(inv) }

// Reconcile determines the outcome of a call; see [Supervise].
func (t *runCommand) Reconcile(ctx context.Context, inv pawl.Invocation) (out pawl.Output, happened bool, err error) {
	c, err := t.called(inv.Args)
	if err != nil {
		return pawl.Output{}, false, err
	}
	return c.Reconcile(ctx, inv)
}
