package guard

import (
	"regexp"
	"strings"

	"github.com/pawl-run/pawl/internal/naming"
)

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func alnum(c byte) bool  { return digit(c) || letter(c) }

// apart reports whether text[start:end] is not part of a longer word or number.
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
// literals. What ends in more than letters is none, nor is git@host:path.
func emails(text string) (found []span) {
	for _, at := range mail().FindAllStringSubmatchIndex(text, -1) {
		if more := text[at[1]:]; longer().MatchString(more) || text[at[0]:at[2]] == "git@" && strings.HasPrefix(more, ":") {
			continue
		}
		found = append(found, span{"email", at[0], at[1]})
	}
	return found
}

var (
	mail   = naming.Regexp(`[A-Za-z0-9_%+][A-Za-z0-9._%+-]{0,63}@((?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,})`)
	longer = naming.Regexp(`^[.-]?[A-Za-z0-9]`)
)

// phones finds numbers that begin with + (ITU-T E.164: at most 15 digits), and
// grouped North American ones, whose area and exchange begin with 2 to 9. A
// plain row of digits is not a telephone number.
func phones(text string) (found []span) {
	for i := 0; i < len(text); i++ {
		end := 0
		switch c := text[i]; {
		case c == '+':
			end = shaped(text, i, international())
			if row := end - i; !strings.ContainsAny(text[i:max(i, end)], " .-()") && (row < 11 || row > 14) {
				end = 0
			}
		case c == '(' || c >= '2' && c <= '9':
			end = shaped(text, i, american())
		}
		if end > 0 && apart(text, i, end) {
			found = append(found, span{"phone", i, end})
			i = end - 1
		}
	}
	return found
}

var (
	international = naming.Regexp(`^\+[1-9](?:[ .()-]{0,2}\d){7,14}`)
	american      = naming.Regexp(`^(?:(?:\([2-9]\d\d\) ?|[2-9]\d\d-)[2-9]\d\d-\d{4}|[2-9]\d\d\.[2-9]\d\d\.\d{4})`)
	social        = naming.Regexp(`^\d{3}-\d{2}-\d{4}`)
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
		end := shaped(text, i, social())
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
