// Package retry distinguishes temporary failures to reach a service, which are retried unchanged, from other
// errors, and waits before the next attempt. It says of a call that failed whether it took place.
package retry

import "errors"

// Error marks an error as a failure to reach a service. It reads as the wrapped
// error.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Unavailable returns true. Errors of other packages may have the method, too.
func (e *Error) Unavailable() bool { return true }

// Temporary reports whether an error is a failure to reach a service.
func Temporary(err error) bool {
	says, ok := errors.AsType[interface {
		error
		Unavailable() bool
	}](err)
	return ok && says.Unavailable()
}
