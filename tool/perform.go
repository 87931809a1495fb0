package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/cage"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/spool"
)

// job is one attempt at a command, for this process or for a supervisor to run.
type job struct {
	Argv      []string
	Dir       string
	Env       []string
	Stdin     []byte
	Grace     time.Duration
	MaxOutput int
	Secrets   map[string]string
	Cage      *cage.Cage // with absolute paths; nil: none
	Chosen    bool       // the model chose the program
}

// perform runs the command and returns how it ended, without its secrets.
func (j *job) perform(ctx context.Context, started func(pid int)) *spool.Exit {
	secrets, _ := redact.New(j.Secrets)
	stdout, stderr := excerpt.New(j.MaxOutput), excerpt.New(j.MaxOutput)
	// Secrets are removed before the text is truncated, which might split one.
	toOut, toErr := secrets.Writer(stdout), secrets.Writer(stderr)
	c := process.Command{
		Argv: j.Argv, Dir: j.Dir, Env: j.Env, Stdin: j.Stdin, Grace: j.Grace,
		Stdout: toOut, Stderr: toErr, Started: started,
	}
	var exit process.Exit
	leave, err := j.enter(&c)
	if err == nil {
		exit, err = process.Run(ctx, c)
		leave()
	}
	_, _ = toOut.Close(), toErr.Close() // writing to an excerpt never fails
	e := &spool.Exit{Code: exit.Code, Signal: exit.Signal, Took: exit.Duration, Out: said(stdout)}
	if refusal, ok := errors.AsType[*process.StartError](err); ok {
		e.Refused = &spool.Refusal{Program: refusal.Program, Reason: refusal.Reason}
	} else if err != nil {
		e.Error = err.Error()
	}
	if exit.Killed || e.Refused != nil && ctx.Err() != nil {
		e.Cut = spool.Stopped
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			e.Cut = spool.Late
		}
	}
	if e.Cut != 0 || e.Code != 0 { // else it is not needed
		e.Err = said(stderr)
	}
	return e
}

func said(b *excerpt.Buffer) spool.Said {
	return spool.Said{Text: b.String(), Truncated: b.Truncated(), Total: b.Total(), Digest: b.Digest()}
}

// outcome is what the model reads of a command that has ended. Stopped makes the error of a
// command that was ended from outside.
func outcome(e *spool.Exit, stopped func(what error) error) (pawl.Output, error) {
	how := process.Exit{Code: e.Code, Signal: e.Signal}.String()
	var wrong error
	switch {
	case e.Error != "":
		wrong = errors.New(e.Error)
	case e.Refused != nil:
		wrong = &process.StartError{Program: e.Refused.Program, Reason: e.Refused.Reason}
	}
	switch {
	case e.Cut != 0 && e.Refused != nil:
		return pawl.Output{}, notRun("%s", e.Refused.Reason)
	case e.Cut != 0:
		return pawl.Output{}, stopped(errors.Join(wrong, report(how, e)))
	case wrong != nil:
		return pawl.Output{}, wrong
	case e.Signal != "":
		return pawl.Output{}, report(how, e)
	case e.Code != 0:
		return pawl.Output{}, report(fmt.Sprintf("exit status %d", e.Code), e)
	}
	return result(e.Out)
}

// report returns an error that says how a command failed and what it wrote. Many programs
// complain on stdout, which is used only if stderr is empty.
func report(how string, e *spool.Exit) error {
	for _, said := range []spool.Said{e.Err, e.Out} {
		if text := strings.TrimSpace(said.Text); text != "" {
			return fmt.Errorf("%s: %s", how, text)
		}
	}
	return fmt.Errorf("%s, and it printed nothing", how)
}
