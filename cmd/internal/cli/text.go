package cli

import (
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

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
