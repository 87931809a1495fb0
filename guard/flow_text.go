package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// text is a text that the model has read, prepared for finding values in it.
type text struct {
	from  string          // where it comes from, for a person
	exact string          // the text as [fold] returns it
	lines string          // the same line by line
	lower string          // the same in lower case
	facts map[string]bool // its numbers, dates and times, as [factsOf] writes them
}

func textOf(from, s string) text {
	exact := fold(s)
	lines := exact
	if strings.Contains(s, "\n") {
		all := strings.Split(s, "\n")
		for i, line := range all {
			all[i] = fold(line)
		}
		lines = strings.Join(all, "\n")
	}
	return text{from, exact, lines, lower(exact), factsOf(s)}
}

// holds reports whether a value stands in the text in one of its forms, or its
// facts do.
func (t *text) holds(v *value) bool {
	missing := func(fact string) bool { return !t.facts[fact] }
	return slices.ContainsFunc(v.forms, func(form string) bool { return t.says(form, v) }) || len(v.facts) > 0 && !slices.ContainsFunc(v.facts, missing)
}

// says reports whether the text has a form of a value by itself: neither as a part of
// a longer name, address or number, nor before an option that belongs to it. A command
// ends where its line, a quotation or a clause does.
func (t *text) says(v string, of *value) bool {
	in := t.exact
	switch {
	case of.whole && !strings.Contains(of.text, "\n"):
		in = t.lines
	case !of.exact:
		in, v = t.lower, lower(v)
	}
	for at := 0; v != ""; {
		i := strings.Index(in[at:], v)
		if i < 0 {
			return false
		}
		start := at + i
		end := start + len(v)
		if standsAlone(in, start, end) && !option().MatchString(in[end:]) && (!of.whole || ended().MatchString(in[end:]) && !operated().MatchString(in[:start])) {
			return true
		}
		at = start + 1
	}
	return false
}

var (
	option   = naming.Regexp(`^ --?\pL`)
	ended    = naming.Regexp("^(?:$|[\n\"'`”’»)\\]]|[.,;:!?。，；：！？](?:[ \n]|$))")
	operated = naming.Regexp("(?:[&|;<>$({=]|(?:^| )--?\\pL[\\pL\\pN_-]*)[ \"'`“‘«]*$")
	origin   = naming.Regexp(`[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*`)
)

// fold replaces each white space by one space, and writes digits in ASCII and
// the hosts of URLs in lower case. Look-alike letters and invisible characters
// stay, because the recipient of a value distinguishes them.
func fold(s string) string {
	s = strings.Join(strings.Fields(display.Digits(s)), " ")
	if !strings.Contains(s, "://") {
		return s
	}
	return origin().ReplaceAllStringFunc(s, strings.ToLower)
}

// lower is strings.ToLower, except for letters that would become ASCII, such as
// the Kelvin sign.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if small := unicode.ToLower(r); small >= utf8.RuneSelf || r < utf8.RuneSelf {
			return small
		}
		return r
	}, s)
}

// isWordRune reports whether a character is part of a word. Invisible characters
// are, so that they cannot split one.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.Is(unicode.Cf, r)
}

// oneWord reports whether two adjacent characters belong to one word. Scripts
// that write no spaces between words do not show it.
func oneWord(a, b rune) bool {
	return isWordRune(a) && isWordRune(b) && !unicode.In(a, unspaced...) && !unicode.In(b, unspaced...)
}

var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// joins are the characters that join two words to one value, as in
// a.b@c-d.example. A slash does not: the parts of a path are values of their
// own.
const joins = ".@-+%~"

// delimiters surround a value without letters and digits.
const delimiters = " \"'`,;()"

// standsAlone reports whether s[start:end] is not part of a longer address,
// number or name.
func standsAlone(s string, start, end int) bool {
	before, n := utf8.DecodeLastRuneInString(s[:start])
	first, _ := utf8.DecodeRuneInString(s[start:])
	last, _ := utf8.DecodeLastRuneInString(s[:end])
	bare := !strings.ContainsFunc(s[start:end], isWordRune) // such as ./...
	after, m := utf8.DecodeRuneInString(s[end:])
	beyond, _ := utf8.DecodeLastRuneInString(s[:start-n])
	next, _ := utf8.DecodeRuneInString(s[end+m:])
	switch {
	case bare && (n > 0 && !strings.ContainsRune(delimiters, before) || m > 0 && !strings.ContainsRune(delimiters, after)):
		return false
	case n > 0 && (oneWord(before, first) || isWordRune(before) && !isWordRune(first)): // x/etc is not /etc
		return false
	case n > 0 && strings.ContainsRune(joins, before) && (before != '@' && before != '%' || isWordRune(beyond)):
		return false
	case (before == ':' || before == ',') && unicode.IsDigit(beyond) && unicode.IsDigit(first):
		return false
	case m > 0 && oneWord(last, after):
		return false
	case m > 0 && strings.ContainsRune(joins, after) && (isWordRune(next) || after == '@' && next != ' ' && next != utf8.RuneError):
		return false
	}
	return (after != ':' && after != ',') || !unicode.IsDigit(next) || !unicode.IsDigit(last)
}
