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

// clean takes out of the text of a model or a tool what acts on a terminal
// instead of being read: escape sequences, control characters, and the marks
// that turn the direction of writing.
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

// oneLine is a text with its white space folded, cleaned also of what is not seen:
// it is for a person to read and for nothing else.
func oneLine(s string) string { return fold(plain(clean(s))) }

// plain takes out what is not seen.
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

// shorten keeps the beginning of a text of more than most characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// gist is a text of a model's or a tool's for one line. What looks like a secret
// goes before the text is cut: half a key is no longer known for one.
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

// lasting is a duration for people.
func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
