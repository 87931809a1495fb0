package server

import (
	"errors"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server/client"
)

// ProblemOf turns errors about the request into problems. Other errors are internal and
// stay unchanged.
func ProblemOf(err error) error {
	if _, ok := errors.AsType[*client.Problem](err); ok {
		return err
	}
	if held, ok := errors.AsType[*pawl.HeldError](err); ok {
		return refusal(http.StatusConflict, held.Error())
	}
	switch {
	case errors.Is(err, pawl.ErrUnknownRun):
		return refusal(http.StatusNotFound, "run not found; use the full id")
	case errors.As(err, new(*engine.BusyError)):
		return refusal(http.StatusTooManyRequests, err.Error())
	case errors.Is(err, worker.ErrClosed):
		return refusal(http.StatusServiceUnavailable, "the server is closing")
	case errors.As(err, new(*engine.SpentError)), errors.As(err, new(*engine.FileError)):
		return invalid(err.Error())
	case errors.As(err, new(*engine.ChangedError)), errors.As(err, new(*engine.KeyError)), errors.As(err, new(*engine.ThreadError)),
		errors.As(err, new(*engine.ContinuedError)), errors.As(err, new(*engine.MissingError)), errors.As(err, new(*pawl.SignalConflictError)),
		errors.As(err, new(*runs.ConflictError)), errors.As(err, new(*runs.AmbiguousError)),
		errors.Is(err, engine.ErrRedacted), errors.Is(err, engine.ErrTorn), errors.Is(err, pawl.ErrFenced), errors.Is(err, pawl.ErrConflict):
		return refusal(http.StatusConflict, err.Error())
	case errors.As(err, new(*runs.RefusedError)):
		return invalid(err.Error())
	}
	return err
}

func invalid(detail string) error { return refusal(http.StatusUnprocessableEntity, detail) }
