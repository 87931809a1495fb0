package judge

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostClaims is the most claims of an answer that a judge gets. The rest of a
// longer answer is not judged.
const mostClaims = 200

var (
	codeBlock = regexp.MustCompile("(?s)```.*?(?:```|$)")
	itemMark  = regexp.MustCompile(`^\s*(?:[-*+•>|]|#+|\d{1,4}[.)])\s+`)
	endMark   = regexp.MustCompile(`[.!?…]["'”’»)\]*_]*\s+|[。！？]+`)
)

// claimsOf splits an answer for a judge into sentences and list items, or into
// the lines of a JSON document. The judge decides which of them are claims.
func claimsOf(answer string) (all []string) {
	var document bytes.Buffer
	if isDocument(answer) && json.Indent(&document, []byte(answer), "", " ") == nil {
		answer = document.String()
	}
	add := func(claim string) {
		if strings.ContainsFunc(claim, unicode.IsLetter) || strings.ContainsFunc(claim, unicode.IsDigit) {
			all = append(all, strings.TrimSpace(claim))
		}
	}
	for line := range strings.Lines(codeBlock.ReplaceAllString(answer, "\n")) {
		line = itemMark.ReplaceAllString(line, "")
		from := 0
		for _, at := range endMark.FindAllStringIndex(line, -1) {
			next, _ := utf8.DecodeRuneInString(line[at[1]:])
			if line[at[0]] != '.' || !unicode.IsLower(next) && !unicode.IsDigit(next) { // a lower-case letter or digit follows an abbreviation
				add(line[from:at[1]])
				from = at[1]
			}
		}
		add(line[from:])
	}
	return all[:min(len(all), mostClaims)]
}

// isDocument reports whether an answer is a JSON object or array.
func isDocument(answer string) bool {
	answer = strings.TrimSpace(answer)
	return (strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[")) && json.Valid([]byte(answer))
}
