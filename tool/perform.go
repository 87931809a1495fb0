package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/retry"
)

// job is one attempt at a command, for this process or for a wrapper to run.
type job struct {
	Argv      []string
	Dir       string
	Env       []string
	Stdin     []byte
	Grace     time.Duration
	MaxOutput int
	Secrets   map[string]string
	Cage      *process.Cage // with absolute paths; nil: none
	Chosen    bool          // the model chose the program
	Returns   bool          // the command may leave files
	FilesIn   string        // where their directory is made; empty: where temporary ones are
	stderr    bool          // kept also if the command succeeds
}

// perform runs the command and returns how it ended, without its secrets. Lines of progress that it
// writes to stderr go to the receiver of ctx.
func (j *job) perform(ctx context.Context, started func(pid int)) *process.Outcome {
	secrets, _ := redact.New(j.Secrets)
	stdout, stderr := display.NewBuffer(j.MaxOutput), display.NewBuffer(j.MaxOutput)
	// Secrets are removed before the text is truncated, which might split one.
	lines := process.NewProgressLines(stderr, nil)
	if !j.stderr {
		lines = process.NewProgressLines(stderr, process.ReporterOf(ctx))
	}
	toOut, toErr := secrets.Writer(stdout), secrets.Writer(lines)
	c := process.Command{
		Argv: j.Argv, Dir: j.Dir, Env: j.Env, Stdin: j.Stdin, Grace: j.Grace,
		Stdout: toOut, Stderr: toErr, Started: started,
	}
	exit, files, err := j.run(ctx, c, secrets)
	_ = errors.Join(toOut.Close(), toErr.Close(), lines.Close()) // writing to an excerpt never fails
	o := &process.Outcome{Code: exit.Code, Signal: exit.Signal, Out: printed(stdout), Files: files}
	refusal, refused := errors.AsType[*process.StartError](err)
	if exit.Killed || refused && ctx.Err() != nil {
		o.Cut = cutBy(ctx)
	}
	switch {
	case refused && o.Cut != 0:
		o.Refused = refusal.Reason
	case refused:
		o.Refused = refusal.Error()
	case err != nil:
		o.Error = err.Error()
	}
	if o.Cut != 0 || o.Code != 0 || j.stderr { // else it is not needed
		o.Err = printed(stderr)
	}
	return o
}

// run runs the command where it may leave files, and in its cage. The files are those of a command
// that has succeeded.
func (j *job) run(ctx context.Context, c process.Command, secrets *redact.Secrets) (exit process.Exit, files []process.File, err error) {
	var left *returned
	if j.Returns {
		if left, err = j.openReturned(&c); err != nil {
			return exit, nil, j.notStarted(err)
		}
		defer func() { _ = left.close() }() // a directory that cannot be removed is a temporary one
	}
	leave, err := j.enter(&c)
	if err != nil {
		return exit, nil, j.notStarted(err)
	}
	exit, err = process.Run(ctx, c)
	leave()
	if left != nil && err == nil && exit.Code == 0 && exit.Signal == "" && !exit.Killed {
		files, err = left.files(secrets)
	}
	return exit, files, err
}

// notStarted returns the error of a command for which something could not be prepared.
func (j *job) notStarted(err error) error {
	return &process.StartError{Program: j.Argv[0], Reason: err.Error(), Err: err}
}

// cutBy returns why a command is ended whose context has ended.
func cutBy(ctx context.Context) process.Cut {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return process.Late
	}
	return process.Stopped
}

func printed(b *display.Buffer) process.Printed {
	return process.Printed{Text: b.String(), Truncated: b.Truncated()}
}

// result is what the model reads of a command that has ended. Stopped makes the error of a
// command that Pawl ended.
func result(o *process.Outcome, stopped func(what error) error) (pawl.Output, error) {
	how := process.Exit{Code: o.Code, Signal: o.Signal}.String()
	var wrong error
	if text := cmp.Or(o.Error, o.Refused); text != "" {
		wrong = errors.New(text)
	}
	switch {
	case o.NotStarted():
		return pawl.Output{}, notRun("%s", o.Refused)
	case o.Cut != 0:
		return pawl.Output{}, stopped(errors.Join(wrong, failure(how, o)))
	case wrong != nil:
		return pawl.Output{}, wrong
	case o.Signal != "": // not sent by Pawl: the command may not have been done
		return pawl.Output{}, &retry.UnknownError{Err: failure(how, o)}
	case o.Code != 0:
		return pawl.Output{}, failure(fmt.Sprintf("exit status %d", o.Code), o)
	}
	out, err := output(o.Out)
	for _, f := range o.Files {
		out.Files = append(out.Files, pawl.File{Name: f.Name, Data: f.Data, Bytes: f.Bytes})
	}
	return out, err
}

// failure returns an error that says how a command failed and what it wrote. Many programs
// complain on stdout, which is used only if stderr is empty, or if a signal ended the command: then it
// may be part of a result.
func failure(how string, o *process.Outcome) error {
	text := strings.TrimSpace(o.Err.Text)
	if out := strings.TrimSpace(o.Out.Text); text == "" || o.Cut != 0 || o.Signal != "" {
		text = strings.TrimSpace(text + "\n" + out)
	}
	if text == "" {
		return fmt.Errorf("%s, and it printed nothing", how)
	}
	return fmt.Errorf("%s: %s", how, text)
}

func notRun(why string, args ...any) error {
	return &retry.NotRunError{Err: fmt.Errorf(why, args...)}
}

// tooLate returns the error of a command whose context ended before the command was started. It
// wraps both the context's error and the cause.
func tooLate(ctx context.Context) error {
	cause := context.Cause(ctx)
	text := fmt.Sprintf("stopped before it was started: %v", cause)
	if errors.Is(cause, context.DeadlineExceeded) {
		text = "its time was over before it was started"
	}
	return &retry.NotRunError{Err: &stopError{text: text, is: []error{ctx.Err(), cause}}}
}
