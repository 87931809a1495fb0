package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// What is written to a terminal goes through here last, whatever was done to it
// before: a page of a model's or a tool's that somebody forgot to clean is ugly
// then, and does nothing. Files and pipes get what was meant for them byte for
// byte, such as a diff that is to be applied.

// unseen reports whether a character takes no room and is not seen: what stands
// beside it reads as something else than it is.
func unseen(r rune) bool {
	switch {
	case r == '\u00ad' || r == '\u061c' || r == '\u180e' || r == '\ufeff' || r == '\u2028' || r == '\u2029':
		return true
	case r >= '\u200b' && r <= '\u200f', r >= '\u2060' && r <= '\u206f', r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// inert makes text harmless without a guess at what was meant: a character that
// acts becomes one that is seen, and one that is not seen goes. The rest of an
// escape sequence stays, as text. A rune that is not whole yet is left for later.
func inert(b []byte) (done, rest []byte) {
	for len(b) > 0 {
		if !utf8.FullRune(b) {
			return done, b
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError || acts(r):
			done = append(done, "\uFFFD"...)
		case !unseen(r):
			done = append(done, b[:size]...)
		}
		b = b[size:]
	}
	return done, nil
}

// inertWriter is a terminal for what is only to be read.
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

// shown is a writer for a result: what it says does nothing to a terminal.
func shown(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && columns(f) > 0 {
		return &inertWriter{w: f}
	}
	return w
}

// legibleJSON has what JSON may hold as it is, but a terminal would act on or not
// show, as escapes. It is the same JSON.
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

func hides(r rune) bool { return acts(r) || unseen(r) || r == utf8.RuneError }
