package guard

import (
	"regexp"
	"strings"
)

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func alnum(c byte) bool  { return digit(c) || letter(c) }

// standsAlone reports whether text[start:end] is not part of a longer word or number.
func apart(text string, start, end int) bool {
	if start > 0 && (alnum(text[start-1]) || text[start-1] == '_' || text[start-1] >= 0x80) {
		return false
	}
	if start > 1 && (text[start-1] == '.' || text[start-1] == '-' || text[start-1] == '/') && alnum(text[start-2]) {
		return false
	}
	if end < len(text) && (alnum(text[end]) || text[end] == '_' || text[end] >= 0x80) {
		return false
	}
	return end+1 >= len(text) || text[end] != '.' && text[end] != '-' || !digit(text[end+1])
}

// emails finds mail addresses: RFC 5321 without quoted local parts and address
// literals.
func emails(text string) (found []span) {
	const mostLocal, mostDomain = 64, 253
	for i := 0; i < len(text); i++ {
		if text[i] != '@' {
			continue
		}
		start := i
		for start > 0 && i-start < mostLocal && (alnum(text[start-1]) || strings.IndexByte("._%+-", text[start-1]) >= 0) {
			start--
		}
		for start < i && (text[start] == '.' || text[start] == '-') {
			start++
		}
		end := i + 1
		for end < len(text) && end-i <= mostDomain && (alnum(text[end]) || text[end] == '-' || text[end] == '.') {
			end++
		}
		for end > i && (text[end-1] == '.' || text[end-1] == '-') {
			end--
		}
		if start == i || !domain(text[i+1:end]) {
			continue
		}
		if text[start:i] == "git" && end < len(text) && text[end] == ':' { // git@host:path
			continue
		}
		found = append(found, span{"email", start, end})
		i = end - 1
	}
	return found
}

// domain reports whether a name consists of labels, the last of letters.
func domain(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot < 3 || strings.Contains(name, "..") || name[0] == '-' {
		return false
	}
	for i := dot + 1; i < len(name); i++ {
		if !letter(name[i]) {
			return false
		}
	}
	return true
}

// phones finds numbers that begin with + (ITU-T E.164: at most 15 digits), and
// grouped North American ones, whose area and exchange begin with 2 to 9. A
// plain row of digits is not a telephone number.
func phones(text string) (found []span) {
	for i := 0; i < len(text); i++ {
		end := 0
		switch c := text[i]; {
		case c == '+':
			end = international(text, i)
		case c == '(' || c >= '2' && c <= '9':
			end = shaped(text, i, american)
		}
		if end > 0 && apart(text, i, end) {
			found = append(found, span{"phone", i, end})
			i = end - 1
		}
	}
	return found
}

func international(text string, i int) (end int) {
	const least, most = 8, 15
	digits, groups := 0, 1
	if i+1 >= len(text) || text[i+1] < '1' || text[i+1] > '9' {
		return 0
	}
	for j := i + 1; j < len(text); j++ {
		switch c := text[j]; {
		case digit(c):
			digits++
			end = j + 1
		case strings.IndexByte(" .-()", c) >= 0 && j-end < 2:
			if j == end {
				groups++
			}
		default:
			j = len(text)
		}
	}
	if digits < least || digits > most || groups == 1 && (digits < 10 || digits > 13) {
		return 0
	}
	return end
}

var (
	american = regexp.MustCompile(`^(?:\([2-9]\d\d\) ?|[2-9]\d\d-)[2-9]\d\d-\d{4}|^[2-9]\d\d\.[2-9]\d\d\.\d{4}`)
	social   = regexp.MustCompile(`^\d{3}-\d{2}-\d{4}`)
)

// shaped returns the end of the match of a form at text[i]; zero: there is none.
func shaped(text string, i int, form *regexp.Regexp) int {
	match := form.FindString(text[i:])
	if match == "" {
		return 0
	}
	return i + len(match)
}

// ssns finds social security numbers that may have been issued: no area 000,
// 666 or from 900 on, no group 00, no serial 0000 (SSA, POMS RM 10201.035).
func ssns(text string) (found []span) {
	for i := range len(text) {
		if !digit(text[i]) {
			continue
		}
		end := shaped(text, i, social)
		if end == 0 || !apart(text, i, end) {
			continue
		}
		area, group, serial := text[i:i+3], text[i+4:i+6], text[i+7:end]
		if area != "000" && area != "666" && area[0] != '9' && group != "00" && serial != "0000" {
			found = append(found, span{"ssn", i, end})
		}
	}
	return found
}
