package display

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are the sequences of ECMA-48: CSI with its parameters, strings ended
// by BEL or ST (or, if they never end, by their line), and the short ones.
var escapes = regexp.MustCompile(
	`(?:\x1b\[|\x{9b})[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]?` +
		`|(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\n\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
		`|\x1b[\x20-\x2f]*[\x30-\x7e]?`)

// Clean removes what a terminal interprets: escape sequences, control
// characters other than line feed and tab, and the marks that change the
// writing direction.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, Acts) < 0 {
		return s
	}
	return Without(escapes.ReplaceAllString(s, ""), Acts)
}

// Acts reports whether a terminal interprets a character.
func Acts(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069': // overrides and isolates
		return true
	}
	return unicode.IsControl(r)
}

// Unseen reports whether a character is invisible and takes no column: it makes the
// text around it look like something else.
func Unseen(r rune) bool {
	switch {
	case r == '\u00ad' || r == '\u061c' || r == '\u180e' || r == '\ufeff' || r == '\u2028' || r == '\u2029':
		return true
	case r >= '\u200b' && r <= '\u200f', r >= '\u2060' && r <= '\u206f', r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// Without returns a text without some characters.
func Without(s string, some func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if some(r) {
			return -1
		}
		return r
	}, s)
}
