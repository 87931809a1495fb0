// Package outage tells what cannot be reached for now from what is wrong: it is
// asked again later, and then as it was.
package outage

import "errors"

// Error says of an error that it is one of reaching something. It reads as the
// error itself.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *Error) Unwrap() error { return e.Err }

// Unavailable returns true. Errors of others may have the method, too.
func (e *Error) Unavailable() bool { return true }

// Is reports whether an error says of itself that something cannot be reached.
func Is(err error) bool {
	says, ok := errors.AsType[interface {
		error
		Unavailable() bool
	}](err)
	return ok && says.Unavailable()
}
