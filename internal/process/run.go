//go:build linux || darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killSettle is how long the effect of SIGKILL may take. Together with
// pipeDelay it is below the second that Run promises.
const killSettle = 500 * time.Millisecond

func run(ctx context.Context, c Command) (Exit, error) {
	path, err := locate(c)
	if err != nil {
		return Exit{}, err
	}
	pipes, err := newPipes(c)
	if err != nil {
		return Exit{}, &StartError{Program: c.Argv[0], Reason: err.Error(), Err: err}
	}
	markCloseOnExec()
	began := time.Now()
	// The command gets a session and not only a process group: without a
	// controlling terminal nothing can stop to ask for a password, and jobs
	// that a shell puts into groups of their own can still be found by session.
	//
	// There is no Pdeathsig: Linux sends it when the *thread* that forked ends,
	// and Go ends a thread whose goroutine exits while locked to it, so an
	// unrelated goroutine could kill a command. The process that resumes the
	// work of a dead caller ends its commands, see [Identity.End].
	proc, told, err := start(path, c, pipes.child[:])
	if err != nil {
		pipes.abandon()
		return Exit{}, refused(c.Argv[0], err)
	}
	if told != nil {
		defer told.Close()
	}
	pipes.start(c.Stdin, c.Feed)

	var ended time.Time
	exited := make(chan struct{})
	go func() {
		awaitExit(proc.Pid)
		ended = time.Now()
		close(exited)
	}()
	hasExited := func() bool {
		select {
		case <-exited:
			return true
		default:
			return false
		}
	}
	if c.Started != nil {
		c.Started(proc.Pid)
	}

	var exit Exit
	select {
	case <-exited:
	case <-ctx.Done():
		exit.Killed = !hasExited()
	}
	// The first process is dead but not reaped until the session is empty: its
	// entry in the process table keeps its id from being reused for a process
	// that would then get these signals.
	gone := true
	if exit.Killed {
		gone = endSession(proc.Pid, hasExited, c.Grace)
	} else if len(members(proc.Pid)) > 0 {
		exit.Leftover = true
		gone = endSession(proc.Pid, hasExited, c.Grace)
	}
	failed := pipes.finish()
	if !hasExited() {
		go func() { <-exited; _, _ = proc.Wait() }()
		exit.Code, exit.Duration = -1, time.Since(began)
		return exit, errors.Join(fmt.Errorf("%s: process %d does not end, even by SIGKILL", c.Argv[0], proc.Pid), failed)
	}
	exit.Duration = ended.Sub(began)
	state, err := proc.Wait()
	if err != nil {
		return exit, fmt.Errorf("%s: its exit code is lost: %w", c.Argv[0], err)
	}
	if err := c.notStarted(told); err != nil {
		return Exit{}, err
	}
	exit.Code = state.ExitCode()
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		exit.Signal = unix.SignalName(status.Signal())
	}
	if !gone {
		failed = errors.Join(fmt.Errorf("%s: processes of session %d do not end, even by SIGKILL", c.Argv[0], proc.Pid), failed)
	}
	return exit, failed
}

// endSession ends every process of the session: SIGTERM, at most grace later
// SIGKILL. It reports whether all are gone, including the leader, whose state
// leaderGone reports.
func endSession(session int, leaderGone func() bool, grace time.Duration) bool {
	// SIGCONT lets a stopped process handle SIGTERM.
	signalSession(session, syscall.SIGTERM)
	signalSession(session, syscall.SIGCONT)
	if waitEmpty(session, leaderGone, grace, 0) {
		return true
	}
	return waitEmpty(session, leaderGone, killSettle, syscall.SIGKILL)
}

// waitEmpty waits until the session is empty, sending sig, if any, with each
// check.
func waitEmpty(session int, leaderGone func() bool, limit time.Duration, sig syscall.Signal) bool {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 25*time.Millisecond) {
		if sig != 0 {
			signalSession(session, sig)
		}
		if leaderGone() && len(members(session)) == 0 {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
}

// signalSession sends sig to the group of the session's leader at once, then to the
// members of other groups one by one. It ignores errors: the process is gone or
// belongs to another user.
func signalSession(session int, sig syscall.Signal) {
	_ = syscall.Kill(-session, sig)
	for _, m := range members(session) {
		if m.group != session {
			_ = syscall.Kill(m.pid, sig)
		}
	}
}

// member is a process of a session that is not a zombie.
type member struct{ pid, group int }
