package cli

import (
	"errors"
	"io"
	"syscall"

	"github.com/spf13/cobra"
)

// goneError says that who read the result has gone away, as head does when it
// has enough. Another connection that breaks is another matter, and is told.
type goneError struct{ err error }

func (r *goneError) Error() string { return r.err.Error() }
func (r *goneError) Unwrap() error { return r.err }

// resultWriter is standard output.
type resultWriter struct{ w io.Writer }

func (r resultWriter) Write(b []byte) (int, error) {
	n, err := r.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		err = &goneError{err}
	}
	return n, err
}

// looking marks a command that only shows something: whose reader has enough of
// it has got what he wanted. The result of others that was not taken is not
// delivered, and their exit code says so.
func looking(c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if failed, ok := errors.AsType[*failure](err); ok && errors.As(failed.err, new(*goneError)) {
			return nil
		}
		return err
	}
	return c
}
