package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
)

// escapes are the sequences of ECMA-48: CSI with its parameters, strings ended
// by BEL or ST (or, if they never end, by their line), and the short ones.
var escapes = regexp.MustCompile(
	`(?:\x1b\[|\x{9b})[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]?` +
		`|(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\n\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
		`|\x1b[\x20-\x2f]*[\x30-\x7e]?`)

// clean removes from the text of a model or a tool what a terminal interprets: escape
// sequences, control characters, and the marks that change the writing direction.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, acts) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if acts(r) {
			return -1
		}
		return r
	}, escapes.ReplaceAllString(s, ""))
}

func acts(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069': // overrides and isolates
		return true
	}
	return unicode.IsControl(r)
}

// oneLine is a text with its white space folded and invisible characters removed, for
// a person to read only.
func oneLine(s string) string { return fold(plain(clean(s))) }

// plain removes invisible characters.
func plain(s string) string {
	if strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, s)
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
func gist(s string) string { return shorten(fold(redact.Text(plain(clean(s)))), 160) }

// gistJSON is gist for a JSON value; a string is shown as its text.
func gistJSON(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return gist(text)
	}
	return gist(string(redact.JSON(raw)))
}

// printJSON writes one document on one line.
func printJSON(w io.Writer, v any) error {
	b, err := wire.Marshal(v)
	if err == nil {
		_, err = w.Write(legibleJSON(append(b, '\n')))
	}
	return err
}

// lasting formats a duration for people.
func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
