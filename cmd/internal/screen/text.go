// Package screen shows runs, and what models say, to a person at a terminal. Nothing that it writes
// there can control the terminal.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
)

// OneLine is a text with its white space folded and invisible characters escaped, for
// a person to read only.
func OneLine(s string) string { return fold(display.Without(display.Visible(s), display.Unseen)) }

// Harmless is a text without its secrets, which are found through invisible characters,
// and with those escaped.
func Harmless(s string) string {
	plain := display.Without(display.Clean(s), display.Unseen)
	if text := redact.Text(plain); text != plain {
		return fold(text)
	}
	return OneLine(s)
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

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

// Shown returns a writer for a result that cannot control the terminal.
func Shown(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && Columns(f) > 0 {
		return &inertWriter{w: f}
	}
	return w
}

// LegibleJSON escapes characters that are valid in JSON but that a terminal would
// interpret or hide. The JSON value is unchanged.
func LegibleJSON(raw []byte) []byte {
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

// Terminal is the terminal that a writer of [Shown] writes to; nil: it is none.
func Terminal(w io.Writer) *os.File {
	if on, ok := w.(*inertWriter); ok {
		f, _ := on.w.(*os.File)
		return f
	}
	return nil
}

// NewPage returns a writer that ends its last line when it is closed.
func NewPage(to io.Writer) io.WriteCloser { return &page{to: to} }

type page struct {
	to   io.Writer
	open bool // the last line has no end yet
}

func (p *page) Write(b []byte) (int, error) {
	if len(b) > 0 {
		p.open = b[len(b)-1] != '\n'
	}
	return p.to.Write(b)
}

func (p *page) Close() error {
	if !p.open {
		return nil
	}
	_, err := p.Write([]byte("\n"))
	return err
}
