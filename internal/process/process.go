// Package process runs commands that can be killed and cannot hang their caller.
//
// A command gets a session and process group of its own, exactly the environment it is given, and
// three descriptors. When its context ends, everything in the session is asked to terminate and,
// after a grace period, killed; the same happens to whatever the command leaves behind when it
// exits by itself. What deliberately starts a further session (a daemon) cannot be found again and
// survives, but it cannot keep [Run] waiting by holding the pipes.
package process

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"
)

// DefaultGrace is the time between SIGTERM and SIGKILL when a Command does not say.
const DefaultGrace = 5 * time.Second

// Command says what to run. Only Argv is required.
type Command struct {
	// Argv is the program and its arguments, handed over as they are: there is no shell. A program
	// without a slash is looked up in the PATH of Env, one with a slash is relative to Dir.
	Argv []string
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Env is the whole environment as NAME=value; nothing is inherited. See [CleanEnv].
	Env []string
	// Stdin is what the command may read, followed by end of file. It need not read it.
	Stdin []byte
	// Feed, if set, writes the command's standard input in place of Stdin, from a goroutine of its
	// own; end of file is when it returns. Its writes fail when the command has ended. Run does not
	// wait for it: whoever feeds a command ends Feed when Run has returned.
	Feed func(stdin io.Writer)
	// Stdout and Stderr receive the output as it comes; nil discards it. If both are the same
	// writer the command has one pipe for both, which keeps the order. Otherwise they are written
	// from two goroutines, each from one. A writer that blocks holds up the command and Run; one
	// that fails gets nothing more, while the command runs on undisturbed.
	Stdout, Stderr io.Writer
	// Through, if set, starts another program in the command's place, which is to become it.
	Through *Through
	// Grace is the time between SIGTERM and SIGKILL; zero is [DefaultGrace].
	Grace time.Duration
	// Started, if set, is called once with the process id when the command runs, before Run waits
	// for it. The process group and the session have the same id.
	Started func(pid int)
}

// Through is this program, started once more as a step on the way to the command: it prepares its
// process and executes the command in it. It is called by Argv, followed by the file to execute and
// the command's own Argv, and has the command's directory, environment and descriptors, and one
// more, 3, to tell why the command was not started. The command must not inherit that one.
type Through struct {
	Argv []string
	// Attr is how it is started, besides in a session of its own.
	Attr *syscall.SysProcAttr
	// Explain makes of what the step told the errno of executing the command, or another reason;
	// neither if the command was started.
	Explain func(told []byte) (syscall.Errno, string)
}

// Exit is how a command ended.
type Exit struct {
	// Code is the exit code, or -1 if a signal ended the command.
	Code int
	// Signal is the name of the signal that ended the command, such as SIGKILL, or empty.
	Signal string
	// Killed says that the context ended first, so that the command was terminated. A command that
	// answers SIGTERM by exiting in good order is Killed and has a Code.
	Killed bool
	// Leftover says that the command exited by itself while processes it had started were alive;
	// they were terminated.
	Leftover bool
	// Duration is the time from start to the end of the command's first process.
	Duration time.Duration
}

// String gives the ending in a few words, such as "exit 3" or "killed by SIGTERM".
func (e Exit) String() string {
	if e.Signal != "" {
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// StartError says why a command could not be started and what would be right. Nothing was run.
type StartError struct {
	Program string // as in Argv
	Reason  string
	Err     error // the cause, if there is one
}

func (e *StartError) Error() string {
	return fmt.Sprintf("cannot start %q: %s", e.Program, e.Reason)
}

func (e *StartError) Unwrap() error { return e.Err }

// Run starts the command, streams its output to its writers and returns when it has ended. It
// needs a fixed amount of memory whatever the output.
//
// When ctx ends the session gets SIGTERM and after Grace SIGKILL. When the command exits by itself
// the same is done to what it left in its session. Run returns at most Grace and one second after
// the command's exit or the end of ctx, provided that the writers do not block.
//
// An ending of any kind is an [Exit], not an error. An error is a [*StartError] (nothing was run;
// it wraps the context's error if ctx had already ended), a failed writer (Exit is valid), or a
// process that SIGKILL did not end, which the kernel is holding in an uninterruptible wait.
//
// Before it starts the command, Run marks every descriptor of the calling process above 2 as
// close-on-exec, so that nothing the caller happened to inherit reaches the command.
//
// Run may be called from many goroutines. It works on Linux and macOS; elsewhere it returns a
// StartError that wraps [errors.ErrUnsupported].
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
	if c.Env == nil {
		c.Env = []string{} // os.StartProcess reads nil as "inherit"
	}
	return run(ctx, c)
}
