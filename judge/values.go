package judge

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/wire"
)

// trivial are words common in all results.
var trivial = map[string]bool{
	"true": true, "false": true, "null": true, "none": true, "undefined": true, "error": true, "success": true,
	"failed": true, "failure": true, "unknown": true, "done": true, "pending": true, "active": true, "inactive": true,
	"open": true, "closed": true, "enabled": true, "disabled": true, "completed": true, "running": true,
}

// values yields the values of a text: all of it if it is short, and the words
// in it that may identify something. A value may come more than once.
func values(text string, yield func(string)) {
	whole := strings.TrimSpace(text)
	if len(whole) <= mostLength && utf8.RuneCountInString(whole) >= 4 && !trivial[strings.ToLower(whole)] && !isNumber(whole) {
		yield(whole)
	}
	text = grouped.ReplaceAllStringFunc(text, func(n string) string { return strings.ReplaceAll(n, ",", "") })
	for _, word := range strings.FieldsFunc(text, separates) {
		word = strings.Trim(word, ".-:/&=+#~^")
		if isNumber(word) {
			if digits(word) >= 3 {
				yield(plainNumber(word))
			}
			continue
		}
		if len(word) <= mostLength && utf8.RuneCountInString(word) >= 4 && strings.ContainsAny(word, "0123456789@/_:") {
			yield(word)
		}
	}
}

// grouped is a number with commas between thousands.
var grouped = regexp.MustCompile(`\b\d{1,3}(?:,\d{3})+\b`)

// separates reports whether a rune separates values.
func separates(r rune) bool {
	return unicode.IsSpace(r) || r < ' ' || strings.ContainsRune("\"'`()[]{}<>,;!?|*\\$€£%", r)
}

// valuesJSON yields the values of the scalars in a document.
func valuesJSON(raw []byte, yield func(string)) {
	wire.Scalars(raw, func(kind byte, text string) {
		switch {
		case kind == '"':
			values(text, yield)
		case kind == '0' && digits(text) >= 3:
			yield(plainNumber(text))
		}
	})
}

func isNumber(s string) bool {
	dots := 0
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
		case r == '.' && i > 0 && dots == 0:
			dots++
		case (r == '-' || r == '+') && i == 0 && len(s) > 1:
		default:
			return false
		}
	}
	return digits(s) > 0
}

// digits counts digits without leading and trailing zeros.
func digits(s string) (n int) {
	s = strings.TrimLeft(s, "+-0.")
	if strings.Contains(s, ".") {
		s = strings.TrimRight(s, "0")
	}
	for _, r := range s {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// plainNumber normalises a number: 12.50 is 12.5.
func plainNumber(s string) string {
	s = strings.TrimPrefix(s, "+")
	if strings.Contains(s, ".") && !strings.ContainsAny(s, "eE") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
