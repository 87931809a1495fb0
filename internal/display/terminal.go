package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r == '\u2028' || r == '\u2029' || r >= 0xe0000 && r <= 0xe007f
}

// Visible is [Clean], except that it escapes invisible characters and the marks that
// change the writing direction. It keeps a joiner between letters or pictures that need one.
func Visible(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return Acts(r) || Unseen(r) }) {
		return s
	}
	s = Without(escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), ""), func(r rune) bool { return unicode.IsControl(r) && Acts(r) })
	return escape(s, func(at int, r rune) bool {
		if r != '\u200c' && r != '\u200d' {
			return Unseen(r)
		}
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[at+utf8.RuneLen(r):])
		return before < utf8.RuneSelf || after < utf8.RuneSelf || Unseen(before) || Unseen(after) || at+utf8.RuneLen(r) == len(s)
	})
}

// Escape escapes every character that a terminal interprets or hides, and all white
// space but line feeds and spaces, so that a reader sees exactly what a value is.
func Escape(s string) string {
	return escape(s, func(_ int, r rune) bool {
		return r != '\n' && r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) || Acts(r) || Unseen(r))
	})
}

// escape escapes some characters, each given with its place.
func escape(s string, some func(at int, r rune) bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case !some(i, r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

var literals = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Values returns a JSON document on one line with every key and value, escaped as by
// [Escape]. A text of more than most characters is cut in its middle.
func Values(raw []byte, most int) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return strings.ReplaceAll(Escape(middle(string(raw), most)), "\n", `\n`)
	}
	return Escape(literals.ReplaceAllStringFunc(b.String(), func(literal string) string {
		var text string
		if len(literal) <= most || json.Unmarshal([]byte(literal), &text) != nil || utf8.RuneCountInString(text) <= most {
			return literal
		}
		var short bytes.Buffer
		to := json.NewEncoder(&short)
		to.SetEscapeHTML(false)
		_ = to.Encode(middle(text, most)) // a text can be written
		return strings.TrimSpace(short.String())
	}))
}

// Cropped stands before the rest of a text that [Values] has cut.
const Cropped = " more …"

// middle cuts a text of more than most characters, and says how many are missing.
func middle(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	head := most * 3 / 4
	return fmt.Sprintf("%s… %d%s%s", string(r[:head]), len(r)-most, Cropped, string(r[len(r)-(most-head):]))
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

// Digits writes the digits of all scripts in ASCII.
func Digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.IsDigit(r) {
			return r
		}
		for _, block := range unicode.Nd.R16 {
			if lo := rune(block.Lo); r >= lo && r <= rune(block.Hi) {
				return '0' + (r-lo)%10
			}
		}
		return r
	}, s)
}
