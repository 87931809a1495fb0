package redact

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/naming"
)

// A pattern is one form of a secret in a text, and the mark that replaces the form.
type pattern struct {
	text, mark string
	form       form
}

// form says how a text may write the bytes of a pattern.
type form int

const (
	verbatim form = iota // as they are
	escaped              // some of them as escapes; the pattern has no backslashes
	coded                // escaped, and in lines that a program breaks and indents
)

// patterns lists the forms of a value: itself, hexadecimal, decimal numbers, and
// the part of its base64 that does not depend on what stands beside the value. A
// character of base64 holds six bits, so a value can lie in it in three ways
// (RFC 4648, section 4).
func patterns(value, mark string) []pattern {
	code := hex.EncodeToString([]byte(value))
	var numbers []byte
	for _, b := range []byte(value) {
		numbers = strconv.AppendUint(numbers, uint64(b), 10)
	}
	all := []pattern{
		{value, mark, verbatim},
		{strings.ReplaceAll(value, `\`, ""), mark, escaped},
		{code, mark, coded}, {strings.ToUpper(code), mark, coded}, {string(numbers), mark, coded},
	}
	for before, skip := range []int{0, 2, 3} {
		data := append(make([]byte, before), value...)
		whole := len(data) * 8 / 6
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, pattern{coding.EncodeToString(data)[skip:whole], mark, coded})
		}
	}
	return slices.DeleteFunc(all, func(p pattern) bool { return len(p.text) < Least })
}

// The most bytes of an escape, and of what may stand between two bytes of a pattern: no look is as long as the text.
const mostEscape, mostBetween = 64, 128

// match finds the pattern at text[from:] and returns where it ends; 0 means that
// it is not there. more reports that the text ends before the pattern does.
func (p *pattern) match(text string, from int) (end int, more bool) {
	i, last := from, from
	for k := 0; k < len(p.text); {
		if i == len(text) {
			return 0, true
		}
		n, used, half := p.read(text[i:], p.text[k:])
		if n == 0 && !half && i > from {
			n, half = p.between(text[i:min(len(text), i+mostBetween)], i+mostBetween < len(text))
		}
		if n == 0 || i+n-last > mostBetween {
			return 0, half
		}
		if i, k = i+n, k+used; used > 0 {
			last = i
		}
	}
	return i, false
}

// read reads n bytes of a text, which stand for the first bytes of want. half
// reports that the text ends within an escape.
func (p *pattern) read(text, want string) (n, used int, half bool) {
	if p.form != verbatim && strings.IndexByte(escapes, text[0]) >= 0 {
		char, n, half := unescape(text)
		switch {
		case half:
			return 0, 0, true
		case n > 0 && strings.HasPrefix(want, char):
			return n, len(char), false
		case char == `\`: // which the pattern lacks
			return n, 0, false
		}
		if bare := strings.TrimLeft(text[:min(len(text), mostEscape)], `\`); bare != "" && bare[0] == want[0] {
			return strings.IndexByte(text, want[0]) + 1, 1, false
		}
	}
	if text[0] == want[0] || text[0] == '+' && want[0] == ' ' {
		return 1, 1, false
	}
	return 0, 0, false
}

// escapes are the bytes that begin an escape.
const escapes = `\%&`

var (
	percent    = naming.Regexp(`^%(?:25)*([0-9A-Fa-f]{2})`) // also of a URL within another
	entity     = naming.Regexp(`^&#?\w{1,10};`)
	unfinished = naming.Regexp(`^(?:%(?:25)*[0-9A-Fa-f]?|\\+(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|[0-3][0-7]?)?|&#?\w{0,10})$`)
)

// unescape reads the character that a text begins with, escaped as in a URL, in
// HTML, or in JSON and programs with any number of backslashes. n is 0 if there is
// no escape.
func unescape(text string) (char string, n int, half bool) {
	whole := len(text) <= mostEscape
	text = text[:min(len(text), mostEscape)]
	if bare := strings.TrimLeft(text, `\`); bare == "" || unfinished().MatchString(text) {
		return "", 0, whole
	}
	switch text[0] {
	case '%':
		if m := percent().FindStringSubmatch(text); m != nil {
			b, _ := hex.DecodeString(m[1])
			return string(b), len(m[0]), false
		}
	case '&':
		code := entity().FindString(text)
		return html.UnescapeString(code), len(code), false
	case '\\':
		last := len(text) - len(strings.TrimLeft(text, `\`)) - 1
		r, wide, tail, err := strconv.UnquoteChar(text[last:], 0)
		if err != nil {
			return text[last+1 : last+2], last + 2, false
		}
		if char = string(r); !wide {
			char = string([]byte{byte(r)})
		}
		return char, len(text) - len(tail), false
	}
	return "", 0, false
}

// Texts that stand unseen between the bytes of a secret: sequences for terminals
// (ECMA-48, section 5.4), control characters, and characters that Unicode calls
// default ignorable; in codes also breaks of lines, indentation, and the separators
// of lists.
var (
	unseen = naming.Regexp(`^(?:(?:\x1b\[|\x{9b})[0-?]*[\x20-/]*[\x40-~]|(?:\x1b\]|\x{9d})[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})` +
		`|\x1b[\x20-/]*[0-~]|[\x00-\x1f\x7f-\x{84}\x{86}-\x{9f}]|\p{Cf}` +
		`|[\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{3164}\x{fe00}-\x{fe0f}\x{ffa0}\x{e0000}-\x{e0fff}])`)
	openSequence = naming.Regexp(`^(?:(?:\x1b\[|\x{9b})[0-?]*[\x20-/]*|(?:\x1b\]|\x{9d})[^\x07\x1b\x{9c}]{0,128}\x1b?|\x1b[\x20-/]*)$`)
	separator    = naming.Regexp(`^(?:[ >|,:#"+]|\\+[nrt]?|0[xX])`)
)

const separators = ` >|,:#"+\0` // the bytes that begin a separator

// between returns the length of what may stand between two bytes of the pattern.
// half reports that the text ends within it, unless it was cut.
func (p *pattern) between(text string, cut bool) (n int, half bool) {
	if p.form == coded && strings.IndexByte(separators, text[0]) >= 0 {
		if sep := separator().FindString(text); sep != "" || text == "0" {
			return len(sep), sep == ""
		}
	}
	if text[0] > ' ' && text[0] < 0x7f {
		return 0, false
	}
	if !utf8.FullRuneInString(text) || openSequence().MatchString(text) {
		return 0, !cut
	}
	return len(unseen().FindString(text)), false
}
