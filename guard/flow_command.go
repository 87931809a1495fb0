package guard

import (
	"strings"
	"unicode/utf8"
)

// A command that a person named must match as a whole: without --dry-run or its
// WHERE it is another command. Lines, quotation marks, punctuation and the
// surrounding English words delimit it.

var (
	introductions = one("and are as by call called code command commands do execute executing expression invoke is namely program query run running script shell sql start statement sure that the then to try type use using via with")
	// A single word is a command only after one of these.
	calls = one("call code command execute executing expression invoke program query run running script shell sql statement")
	// Words that may follow a command, and one in SQL.
	sequels   = one("after again and are as before fails first for if in is on once passes please so succeeds then to until when which while works")
	bounds    = one("against please then")
	heres     = one("our my that the this your")
	operators = one("between exists ilike in is like not similar")
	queries   = one("alter call create delete drop grant insert merge replace revoke select truncate update with")
)

// commands reports whether people named the whole folded command. broken: it
// has more than one line.
func (s *speech) commands(folded string, broken bool) bool {
	lines := s.lines
	if broken {
		lines = []string{strings.Join(lines, " ")}
	}
	for _, line := range lines {
		for at := 0; ; at++ {
			i := strings.Index(line[at:], folded)
			if i < 0 {
				break
			}
			at += i
			end := at + len(folded)
			if standsAlone(line, at, end) && begins(line[:at], folded) && over(line[end:], folded) {
				return true
			}
		}
	}
	return false
}

// begins reports whether a command may begin after a text.
func begins(before, command string) bool {
	before = strings.TrimRight(before, " ")
	last, size := utf8.DecodeLastRuneInString(before)
	switch {
	case strings.Trim(before, "-*•>$# \x00") == "", strings.HasSuffix(before, "\x00"):
		return true
	case strings.ContainsRune("\"'`“‘«(", last):
		word := strings.TrimRight(before[:len(before)-size], " ")
		word = word[strings.LastIndexByte(word, ' ')+1:]
		return !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "=|&<>$")
	case strings.ContainsRune(".:!?", last):
		return true
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	if strings.Contains(command, " ") {
		return introductions[word]
	}
	return calls[word]
}

// over reports whether a command may end before a text.
func over(after, command string) bool {
	next := strings.TrimLeft(after, " ")
	if next == "" || next[0] == 0 {
		return true
	}
	if r, size := utf8.DecodeRuneInString(after); strings.ContainsRune("\"'`”’»)].,!?:;", r) {
		rest := after[size:]
		return rest == "" || r != ';' && (r != '.' || rest[0] == ' ') && !strings.HasPrefix(strings.TrimLeft(rest, " "), "-")
	}
	word, rest, _ := strings.Cut(next, " ")
	second, _, _ := strings.Cut(rest, " ")
	word, second = strings.Trim(word, ".,:;!?"), strings.Trim(second, ".,:;!?")
	verb, _, _ := strings.Cut(command, " ")
	switch {
	case bounds[word]:
		return true
	case queries[verb]:
		third, _, _ := strings.Cut(strings.TrimPrefix(rest, second+" "), " ")
		return word == "and" && (second == "then" || third != "" && !operators[third] && !operators[second] && !strings.ContainsAny(second+third, "=<>!()")) ||
			(word == "in" || word == "on") && heres[second]
	}
	return sequels[word]
}
