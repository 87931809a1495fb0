package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
)

// oneLine is a text with its white space folded and invisible characters escaped, for
// a person to read only.
func oneLine(s string) string { return fold(display.Without(display.Visible(s), display.Unseen)) }

// harmless is a text without its secrets, which are found through invisible characters,
// and with those escaped.
func harmless(s string) string {
	plain := display.Without(display.Clean(s), display.Unseen)
	if text := redact.Text(plain); text != plain {
		return fold(text)
	}
	return oneLine(s)
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten truncates a text after most characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// gist is a text of a model or a tool for one line. Secrets are removed before the text
// is cut: half a key is not recognised.
func gist(s string) string { return shorten(harmless(s), 160) }

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
		_, err = w.Write(legibleJSON(append(b, '\n')))
	}
	return err
}

// All output to a terminal passes through here last. Even if an earlier step forgot to
// clean text of a model or a tool, the text cannot control the terminal. Files and
// pipes get the original bytes, such as a diff to apply.

// inert makes text harmless: a character that a terminal interprets becomes a visible
// one, and an invisible one is escaped. The rest of an escape sequence stays as text.
// An incomplete rune is left in rest.
func inert(b []byte) (done, rest []byte) {
	for len(b) > 0 {
		if !utf8.FullRune(b) {
			return done, b
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError || display.Acts(r):
			done = append(done, "\uFFFD"...)
		case r == '\u200c' || r == '\u200d': // scripts and pictures need them, and terminals do not know them
		case display.Unseen(r):
			done = append(done, display.Escape(string(r))...)
		default:
			done = append(done, b[:size]...)
		}
		b = b[size:]
	}
	return done, nil
}

// inertWriter writes harmless text to a terminal.
type inertWriter struct {
	w    io.Writer
	part []byte // the beginning of a rune
}

func (i *inertWriter) Write(b []byte) (int, error) {
	done, rest := inert(append(i.part, b...))
	i.part = append([]byte(nil), rest...)
	if _, err := i.w.Write(done); err != nil {
		return 0, err
	}
	return len(b), nil
}

// shown returns a writer for a result that cannot control the terminal.
func shown(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && columns(f) > 0 {
		return &inertWriter{w: f}
	}
	return w
}

// legibleJSON escapes characters that are valid in JSON but that a terminal would
// interpret or hide. The JSON value is unchanged.
func legibleJSON(raw []byte) []byte {
	if !strings.ContainsFunc(string(raw), hides) {
		return raw
	}
	out := make([]byte, 0, len(raw)+16)
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case !hides(r):
			out = append(out, raw[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[size:]
	}
	return out
}

func hides(r rune) bool { return display.Acts(r) || display.Unseen(r) || r == utf8.RuneError }

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
