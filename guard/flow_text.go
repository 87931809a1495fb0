package guard

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold normalises a text for comparison: each white space becomes one space,
// letters become lower case. Look-alike letters and invisible characters stay,
// because the value's recipient distinguishes them.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if small := unicode.ToLower(r); small >= utf8.RuneSelf || r < utf8.RuneSelf {
			r = small // except the Kelvin sign, which would become k
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isWordRune reports whether a character is part of a word. Invisible characters
// are, so that they cannot split one.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.Is(unicode.Cf, r)
}

// eachWord yields the words of a text with their positions.
func eachWord(text string, yield func(word string, at int) bool) {
	start := -1
	for i := 0; i <= len(text); {
		r, size := rune(0), 1
		if i < len(text) {
			if r = rune(text[i]); r >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(text[i:])
			}
		}
		switch in := i < len(text) && isWordRune(r); {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			if !yield(text[start:i], start) {
				return
			}
			start = -1
		}
		i += size
	}
}

// joins are the characters that join two words to one value, as in
// a.b@c-d.example. A slash does not: the parts of a path are values of their
// own.
const joins = ".@-+%~"

// standsAlone reports whether text[start:end] is not part of a longer address,
// number or name.
func standsAlone(text string, start, end int) bool {
	if start > 0 {
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		first, _ := utf8.DecodeRuneInString(text[start:])
		switch {
		case isWordRune(before) && isWordRune(first):
			return false
		case isWordRune(before): // it begins with a sign: x/etc is not /etc
			return false
		case before == '$' || before == '#' || before == '@' && start == 1:
		case strings.ContainsRune(joins, before):
			if before != '@' && before != '%' || wordBefore(text, start-1) {
				return false
			}
		case (before == ':' || before == ',') && digitBefore(text, start-1) && digit(text[start]):
			return false
		}
	}
	if end < len(text) {
		last, _ := utf8.DecodeLastRuneInString(text[:end])
		after, size := utf8.DecodeRuneInString(text[end:])
		next := end + size
		switch {
		case isWordRune(after) && isWordRune(last):
			return false
		case strings.ContainsRune(joins, after) && next < len(text):
			if r, _ := utf8.DecodeRuneInString(text[next:]); isWordRune(r) || after == '@' && r != ' ' {
				return false
			}
		case (after == ':' || after == ',') && next < len(text) && digit(text[next]) && digit(text[end-1]):
			return false
		}
	}
	return true
}

func wordBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return i > 0 && isWordRune(r)
}

func digitBefore(text string, i int) bool { return i > 0 && digit(text[i-1]) }

// canonical normalises a number: 50, 50.0 and 5e1 are the same. Digits with a
// leading zero are a name.
func canonical(s string) (string, bool) {
	sign, rest := "", s
	if strings.HasPrefix(rest, "-") {
		sign, rest = "-", rest[1:]
	}
	if rest == "" || !digit(rest[0]) || len(rest) > 1 && rest[0] == '0' && digit(rest[1]) {
		return "", false
	}
	if strings.ContainsAny(rest, "eE") {
		f, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return "", false
		}
		rest = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if whole, part, ok := strings.Cut(rest, "."); ok {
		if part = strings.TrimRight(part, "0"); part == "" {
			rest = whole
		} else {
			rest = whole + "." + part
		}
	}
	for i := range len(rest) {
		if !digit(rest[i]) && rest[i] != '.' {
			return "", false
		}
	}
	if strings.Count(rest, ".") > 1 {
		return "", false
	}
	if rest == "0" {
		sign = ""
	}
	return sign + rest, true
}

// numberAt reads the number at text[i] as people write it, with or without
// commas between thousands, and returns its end. A part of a date, a time, an
// address or a name is not a number.
func numberAt(text string, i int) (number string, end int, ok bool) {
	end = i
	for end < len(text) && (digit(text[end]) || (text[end] == '.' || text[end] == ',') && end+1 < len(text) && digit(text[end+1])) {
		end++
	}
	written := text[i:end]
	start := i
	if i > 0 && text[i-1] == '-' && (i == 1 || text[i-2] == ' ') {
		start--
	}
	if !standsAlone(text, start, end) {
		return "", end, false
	}
	groups := strings.Split(written, ",")
	for k, g := range groups {
		whole, _, _ := strings.Cut(g, ".")
		if k > 0 && len(whole) != 3 || k == 0 && len(groups) > 1 && len(whole) > 3 || k < len(groups)-1 && whole != g {
			return "", end, false
		}
	}
	number, ok = canonical(text[start:i] + strings.Join(groups, ""))
	return number, end, ok
}
