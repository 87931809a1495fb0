// Package process runs commands that can be killed and cannot hang their caller.
//
// A command gets its own session and process group, exactly the given
// environment, and three descriptors. When its context ends, every process of
// the session is terminated and, after a grace period, killed; the same happens
// to processes that remain when the command exits by itself. A process that
// starts another session (a daemon) cannot be found and survives, but it cannot
// block [Run] by holding the pipes.
package process

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"
)

// DefaultGrace is the default time between SIGTERM and SIGKILL.
const DefaultGrace = 5 * time.Second

// Settling is the most that a tool which runs a command takes beyond the grace: until SIGKILL has
// its effect, and for the disk, which records whether the command was started.
const Settling = 2 * time.Second

// GraceKey is the key of a [time.Duration] in a context: the most time between SIGTERM and SIGKILL
// that commands under the context have; zero: their own.
type GraceKey struct{}

// Within returns a command's grace under ctx.
func Within(ctx context.Context, grace time.Duration) time.Duration {
	if most, _ := ctx.Value(GraceKey{}).(time.Duration); most > 0 {
		return min(most, grace)
	}
	return grace
}

// Command is a command to run. Only Argv is required.
type Command struct {
	// Argv is the program and its arguments, without a shell. A program without
	// a slash is looked up in the PATH of Env, one with a slash is relative to
	// Dir.
	Argv []string
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Env is the whole environment as NAME=value; nothing is inherited. See [CleanEnv].
	Env []string
	// Stdin is the command's standard input, which it need not read.
	Stdin []byte
	// Feed, if set, writes the command's standard input in place of Stdin, from
	// its own goroutine; its return is the end of file. Its writes fail when
	// the command has ended. Run does not wait for it: the caller must end Feed
	// when Run has returned.
	Feed func(stdin io.Writer)
	// Stdout and Stderr receive the output as it arrives; nil discards it. If
	// both are the same writer, the command has one pipe for both, which keeps
	// the order. Otherwise they are written from two goroutines, each from one.
	// A writer that blocks blocks the command and Run; one that fails gets
	// nothing more, and the command continues.
	Stdout, Stderr io.Writer
	// Through, if set, is a program to start in the command's place, which then
	// executes the command.
	Through *Through
	// Grace is the time between SIGTERM and SIGKILL; zero is [DefaultGrace].
	Grace time.Duration
	// Started, if set, is called once with the process id when the command
	// runs, before Run waits for it. The process group and the session have the
	// same id.
	Started func(pid int)
}

// Through is this program, started again as a step before the command: it
// prepares its process and then executes the command. Its arguments are Argv,
// followed by the file to execute and the command's own Argv. It has the
// command's directory, environment and descriptors, and descriptor 3 to report
// why the command was not started, which the command must not inherit.
type Through struct {
	Argv []string
	// Attr are its attributes, in addition to its own session.
	Attr *syscall.SysProcAttr
	// Explain converts the step's report to the errno of executing the command,
	// or another reason; neither if the command was started.
	Explain func(told []byte) (syscall.Errno, string)
}

// Exit is how a command ended.
type Exit struct {
	// Code is the exit code, or -1 if a signal ended the command.
	Code int
	// Signal is the name of the signal that ended the command, such as SIGKILL, or empty.
	Signal string
	// Killed reports that the context ended first, so the command was
	// terminated. A command that handles SIGTERM by exiting is Killed and has a
	// Code.
	Killed bool
	// Leftover reports that the command exited by itself while processes it had
	// started were alive; they were terminated.
	Leftover bool
	// Duration is the time from start to the end of the command's first process.
	Duration time.Duration
}

// String describes the ending, such as "exit 3" or "killed by SIGTERM".
func (e Exit) String() string {
	if e.Signal != "" {
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// StartError is the reason why a command could not be started, and the remedy.
// Nothing was run.
type StartError struct {
	Program string // as in Argv
	Reason  string
	Err     error // the cause; may be nil
}

func (e *StartError) Error() string {
	return fmt.Sprintf("cannot start %q: %s", e.Program, e.Reason)
}

func (e *StartError) Unwrap() error { return e.Err }

// Run starts the command, copies its output to its writers and returns when it
// has ended. It needs a fixed amount of memory whatever the output.
//
// When ctx ends the session gets SIGTERM and after Grace SIGKILL. When the
// command exits by itself, the same happens to the rest of its session. Run
// returns at most Grace and one second after the command's exit or the end of
// ctx, unless a writer blocks.
//
// An ending of any kind is an [Exit], not an error. An error is a [*StartError]
// (nothing was run; it wraps the context's error if ctx had already ended), a
// failed writer (Exit is valid), or a process that SIGKILL did not end, because
// it is in an uninterruptible wait.
//
// Before it starts the command, Run marks every descriptor of the calling
// process above 2 as close-on-exec, so that the command inherits none of them.
//
// Run is safe for concurrent use. It works on Linux and macOS; elsewhere it
// returns a StartError that wraps [errors.ErrUnsupported].
func Run(ctx context.Context, c Command) (Exit, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return Exit{}, &StartError{Reason: "the command is empty; its first element must name a program"}
	}
	if err := context.Cause(ctx); err != nil {
		return Exit{}, &StartError{Program: c.Argv[0], Reason: "its time was over before it began: " + err.Error(), Err: err}
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	c.Grace = Within(ctx, c.Grace)
	if c.Env == nil {
		c.Env = []string{} // os.StartProcess reads nil as "inherit"
	}
	return run(ctx, c)
}
