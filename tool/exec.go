package tool

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/process"
)

// ExecOptions are the optional parts of [Exec]. The zero value is right for most commands.
type ExecOptions struct {
	Dir   string   // the working directory; empty: that of this process
	Env   []string // variables of this process that the command gets, besides PATH, HOME, LANG and TMPDIR, or NAME=value
	Stdin []byte
	// Timeout is the command's own deadline; zero: that of ctx.
	Timeout time.Duration
	// MaxOutput is how many bytes of stdout, and of stderr, are kept, head and tail; zero is 16 KiB.
	MaxOutput int
	// Grace is the time between SIGTERM and SIGKILL; zero is 5 s. In a call of a tool it is at most
	// what the call has to end.
	Grace time.Duration
}

// ExecResult is what a command wrote and its exit code, or -1 if a signal ended it.
type ExecResult struct {
	Stdout, Stderr string
	Code           int
}

// Exec runs a command for a tool that is a Go function: argv is the program and its arguments, and
// there is no shell. Pass the function's ctx on, which ends when the time of the call or of the run
// is over. Then every process of the command gets SIGTERM, and SIGKILL after Grace.
//
// The error says how the command failed and what it wrote, so that the tool can return it. It wraps
// that of ctx if the command was stopped. Exec is safe for concurrent use. A command outlives this
// process if that is killed; one of [Command] can be found again then.
func Exec(ctx context.Context, argv []string, o *ExecOptions) (ExecResult, error) {
	o = cmp.Or(o, &ExecOptions{})
	if err := errors.Join((&command{argv: argv, grace: o.Grace}).problems()...); err != nil {
		return ExecResult{}, notRun("%w", err)
	}
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	if ctx.Err() != nil {
		return ExecResult{}, tooLate(ctx)
	}
	j := &job{
		Argv: slices.Clone(argv), Dir: o.Dir, Env: process.CleanEnv(o.Env...), Stdin: o.Stdin,
		Grace: cmp.Or(o.Grace, process.DefaultGrace), MaxOutput: o.MaxOutput, stderr: true,
	}
	ended := j.perform(ctx, nil)
	_, err := result(ended, func(what error) error { return stopped(ctx, what) })
	return ExecResult{ended.Out.Text, ended.Err.Text, ended.Code}, err
}
