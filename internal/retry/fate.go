package retry

// NotRunError is the error of a call that did not take place and never will, so that it may be
// made again. The engine calls its method NotRun.
type NotRunError struct{ Err error }

func (e *NotRunError) Error() string { return "not run: " + e.Err.Error() }

// Unwrap returns why the call did not take place.
func (e *NotRunError) Unwrap() error { return e.Err }

// NotRun reports that nothing took place.
func (*NotRunError) NotRun() bool { return true }

// UnknownError is the error of a call that may have taken place, such as one that was sent and not
// answered. The engine calls its method Unknown.
type UnknownError struct{ Err error }

func (e *UnknownError) Error() string { return e.Err.Error() }

// Unwrap returns why the outcome is unknown.
func (e *UnknownError) Unwrap() error { return e.Err }

// Unknown reports that the call may have taken place.
func (*UnknownError) Unknown() bool { return true }
