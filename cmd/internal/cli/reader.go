package cli

import (
	"errors"
	"io"
	"syscall"

	"github.com/spf13/cobra"
)

// readerGoneError says that the reader of standard output has closed it, as head does when
// it has enough. Other broken connections are reported as errors.
type readerGoneError struct{ err error }

func (r *readerGoneError) Error() string { return r.err.Error() }
func (r *readerGoneError) Unwrap() error { return r.err }

// resultWriter is standard output.
type resultWriter struct{ w io.Writer }

func (r resultWriter) Write(b []byte) (int, error) {
	n, err := r.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		err = &readerGoneError{err}
	}
	return n, err
}

// looking marks a command that only shows something: if its reader closes the pipe,
// the command has succeeded. Other commands then exit with an error, since their
// result was not delivered.
func looking(c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if failed, ok := errors.AsType[*failure](err); ok && errors.As(failed.err, new(*readerGoneError)) {
			return nil
		}
		return err
	}
	return c
}
