package cli

import (
	"encoding/json"
	"errors"
	"io"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
)

// mostGist is the most characters of a gist.
const mostGist = 160

// gist is a text of a model or a tool for one line. Secrets are removed before the text
// is cut: half a key is not recognised.
func gist(s string) string {
	text := []rune(screen.Harmless(s))
	if len(text) <= mostGist {
		return string(text)
	}
	return string(text[:mostGist]) + "…"
}

// gistJSON is gist for a JSON value; a string is shown as its text.
func gistJSON(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return gist(text)
	}
	return gist(string(redact.JSON(raw)))
}

// pendingJSON shows the arguments of a call that somebody is to decide: each value, cut
// by itself.
func pendingJSON(raw json.RawMessage) string { return display.Values(redact.JSON(raw), 120) }

// printJSON writes one document on one line.
func printJSON(w io.Writer, v any) error {
	b, err := wire.Marshal(v)
	if err == nil {
		_, err = w.Write(screen.LegibleJSON(append(b, '\n')))
	}
	return err
}

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
