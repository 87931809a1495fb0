package provider

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// The most letters that all providers take in the name of a tool.
const longestName = 64

// Name is a name of a tool that every provider takes: of letters, digits, _ and
// -, and not too long. A model may call a tool of any name; that call stands in
// the conversation from then on, and a request with a name that breaks the rules
// is refused each time.
func Name(s string) string {
	fits := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	s = strings.Map(func(r rune) rune {
		if fits(r) {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), longestName)]
}

// Repair puts U+FFFD in the place of bytes that are not UTF-8 and reports whether
// there were any. It is for whole events: in less, a letter may be cut in two.
func Repair(b []byte) (fixed []byte, broken bool) {
	if utf8.Valid(b) {
		return b, false
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), true
}

// UniqueID is want, or want with as many _ behind it as make it one that is not
// taken; it takes it. An id that is empty or longer than most bytes is own instead.
func UniqueID(want, own string, most int, taken map[string]bool) string {
	if want == "" || len(want) > most || taken[want] {
		want = own
	}
	for taken[want] {
		want += "_"
	}
	taken[want] = true
	return want
}
