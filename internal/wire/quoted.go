package wire

import "strings"

// Quoted is how many bytes a text has between the quotes of a JSON string, as
// encoding/json writes it with the escapes of HTML, which are the longest that
// any encoder of a provider's wire writes.
func Quoted[S string | []byte](s S) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		case c < ' ', c == '<', c == '>', c == '&':
			n += len(`\u003c`) - 1
		case c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && (s[i+2] == 0xA8 || s[i+2] == 0xA9): // line and paragraph separator
			n += len(`\u2028`) - len("\u2028")
		}
	}
	return n
}

// QuotedText is [Quoted] of the text that a JSON document stands for: of a
// string what it says, of anything else its source.
func QuotedText(doc []byte) int {
	if len(doc) < 2 || doc[0] != '"' {
		return Quoted(doc)
	}
	inner := doc[1 : len(doc)-1]
	return len(inner) + 5*(strings.Count(string(inner), "<")+strings.Count(string(inner), ">")+strings.Count(string(inner), "&"))
}
