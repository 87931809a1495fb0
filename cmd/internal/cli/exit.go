package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/seal"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/spec"
)

// Exit codes that do not come from a run's status.
const (
	exitBroken = 1 // the journal, the disk
	exitUsage  = 2 // bad usage or a bad spec; nothing was run
	exitPaused = 130
)

// exitCode returns the exit code for a run with status s.
func exitCode(s pawl.Status) int {
	switch s {
	case pawl.StatusSuccess:
		return 0
	case pawl.StatusExhausted:
		return 3
	case pawl.StatusNoProgress:
		return 4
	case pawl.StatusWaitingApproval, pawl.StatusWaitingInput, pawl.StatusWaitingClientTool, pawl.StatusWaitingDoubt, pawl.StatusExpired:
		return 5
	case pawl.StatusDenied:
		return 6
	case pawl.StatusPlanFailed:
		return 7
	case pawl.StatusCancelled, pawl.StatusPaused:
		return exitPaused
	}
	return exitBroken // failed; interrupted, running and queued are not final
}

// fault is an error with its exit code.
type fault struct {
	code int
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// misuse is an error in how the command was called.
func misuse(format string, args ...any) error {
	return &fault{exitUsage, fmt.Errorf(format, args...)}
}

// refused turns any error into one of usage.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return &fault{exitUsage, err}
}

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	var f *fault
	var said *client.Problem
	var other *client.ResponseError
	var usage bool
	switch {
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &other):
		usage = other.Status < http.StatusInternalServerError
	case errors.As(server.ProblemOf(err), &said): // what a server refuses is refused here as well
		usage = said.Status < http.StatusInternalServerError
	default:
		usage = errors.As(err, new(spec.Problems))
	}
	if usage {
		return exitUsage
	}
	return exitBroken
}

// report prints an error. Problems in a spec are printed unchanged, one a line, so
// that editors find the places; those of a whole file or a flag are errors like any other.
func (a *app) report(ctx context.Context, err error) int {
	var stopped *interruption
	if errors.As(context.Cause(ctx), &stopped) && (errors.Is(err, context.Canceled) || errors.As(err, &stopped)) {
		return exitPaused
	}
	var held *pawl.HeldError
	var problems spec.Problems
	var said *client.Problem
	switch {
	case errors.As(err, new(*readerGoneError)): // the reader has closed standard output and misses nothing
	case errors.As(err, &problems):
		for _, p := range problems {
			line := display.Clean(p.String())
			if p.Line == 0 {
				line = "pawl: " + line
			}
			fmt.Fprintln(a.err, line)
		}
		return exitUsage
	case errors.As(err, &held):
		a.sayf("pawl: %v", held)
	case errors.As(err, &said) && said.Status == http.StatusUnauthorized && a.getenv("PAWL_TOKEN") == "":
		a.sayf("pawl: %s asks for a token, and PAWL_TOKEN is not set; export PAWL_TOKEN=TOKEN with the token that pawl serve printed, or that you were given", a.server)
	case errors.As(err, &said) && said.Status == http.StatusUnauthorized:
		a.sayf("pawl: %s refuses: %v; the token of a server is in PAWL_TOKEN", a.server, said)
	default:
		fmt.Fprintln(a.err, "pawl: "+redact.Text(display.Clean(a.learned.Scrub(err.Error()))))
		if errors.Is(err, syscall.ECONNREFUSED) && a.server != "" {
			a.sayf("pawl: no server listens there; start one with pawl serve SPEC, or correct the address in --server")
		}
		if key, is := errors.AsType[*seal.KeyError](err); is {
			a.sayf("pawl: the keys of the database are in PAWL_KEYS; add %s=KEY there", key.ID)
		}
		if retry.Temporary(err) {
			a.sayf("pawl: nothing recorded there is lost; try again when it can be reached, then continue an unfinished run with pawl resume. " +
				"Select another database with --database or PAWL_DATABASE")
		}
	}
	return codeOf(err)
}
