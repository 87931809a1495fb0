package redact

import (
	"regexp"
	"strings"
)

// Names of keys, in lower case and with _ between words, whose value is a secret;
// and tokens that are none: what tells a page from the next, or a model's text from
// its end.
var (
	secretName = regexp.MustCompile(`(?:(?:api|access|secret|private|auth|signing|encryption|account|session|service)_?key` +
		`|(?:^|_)(?:session_id|(?:db|smtp|user)_pass|pwd|passcode|secrets?|credentials?|authorization|cookie|token)` +
		`|password|passwd|passphrase|(?:auth|access)token|clientsecret)$`)
	harmlessName = regexp.MustCompile(`(?:^|_)(?:next|page|continuation|stop|max|min|start|end|eos|bos|pad|unk|special|sync|per|input|output|cache|total)_token$`)
	headerName   = regexp.MustCompile(`(?:^|_)(?:authorization|cookie)$`)
)

// mostKey is the longest name of a key that is looked at.
const mostKey = 64

var (
	camel     = regexp.MustCompile(`([a-z])([A-Z])`)
	separated = strings.NewReplacer("-", "_", ".", "_", " ", "_")
)

// snake writes a key in lower case, with _ between its words.
func snake(key string) string {
	key = camel.ReplaceAllString(key[max(0, len(key)-mostKey):], "${1}_${2}")
	return strings.ToLower(strings.TrimRight(separated.Replace(key), "_"))
}

// secretKey reports whether a key is called like one whose value is a secret.
func secretKey(key string) bool {
	name := snake(key)
	return secretName.MatchString(name) && !harmlessName.MatchString(name)
}

// workingDir reports whether a key and its value are the directory that a shell
// stands in, which is called like a password.
func workingDir(key, value string) bool {
	return key == "PWD" && (strings.HasPrefix(value, "/") || len(value) > 2 && value[1] == ':' && value[2] == '\\')
}

// assigned finds the values of keys that are called like secrets: in JSON, YAML
// and the like within a text, in variables, headers, queries of URLs.
func assigned(s string) (spans []Span) {
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		key, from := keyBefore(s, i)
		if key == "" || !secretKey(key) {
			continue
		}
		start, end := valueAfter(s, i, from, key)
		if end <= start || reference(s[start:end]) {
			continue
		}
		// In the list of what a database is opened with, behind a semicolon, PWD is a password.
		if workingDir(key, s[start:end]) && (from == 0 || s[from-1] != ';') {
			continue
		}
		spans = append(spans, Span{"assignment", start, end})
		i = end - 1
	}
	return spans
}

// keyBefore returns the name in front of a sign, in quotes or not, and where it begins.
func keyBefore(s string, sign int) (key string, from int) {
	end := sign
	for end > 0 && sign-end < 4 && strings.IndexByte("\"'`\\ ", s[end-1]) >= 0 {
		end--
	}
	from = end
	for from > 0 && end-from < mostKey && (wordByte(s[from-1]) || s[from-1] == '.') {
		from--
	}
	return s[from:end], from
}

// Values behind a sign: in quotes, which a document in a string of another has
// escaped; to the end of a line, as headers have them; and one word.
var (
	signed      = regexp.MustCompile(`^[:=][=>]?([ \t]{0,8})`)
	quotedValue = regexp.MustCompile(`^(?:"((?:[^"\\\n]|\\.)*)|'((?:[^'\\\n]|\\.)*)|\x60((?:[^\x60\\\n]|\\.)*)|\\{1,4}"([^"\n]*?)\\{0,4}(?:"|\n|$))`)
	lineValue   = regexp.MustCompile("^[^\r\n\"'`\\\\]*")
	wordValue   = regexp.MustCompile("^[^ \t\r\n,;&\"'`<>()\\[\\]{}|\\\\]*")
	// plainWord is a word of a language or a schema.
	plainWord = regexp.MustCompile(`(?i)^(?:null|nil|none|true|false|undefined|required|optional|string|str|text|bytes|byte|bool|int|integer|number|object|array|list|any|self|redacted|secret|password|token)[.?!]*$`)
)

// valueAfter returns where the value behind a sign begins and ends, if there is one
// that looks like a secret. What stands in quotes does; a bare word might be
// prose or code, and has to look less like that.
func valueAfter(s string, sign, key int, name string) (start, end int) {
	m := signed.FindStringSubmatchIndex(s[sign:])
	start = sign + m[1]
	colon, spaced := s[sign] == ':', m[3] > m[2]
	if m := quotedValue.FindStringSubmatchIndex(s[start:]); m != nil {
		for group := 2; group < len(m); group += 2 {
			if m[group] >= 0 {
				return start + m[group], start + m[group+1]
			}
		}
	}
	if headerName.MatchString(snake(name)) && (colon || !spaced) {
		return start, start + len(lineValue.FindString(s[start:]))
	}
	value := wordValue.FindString(s[start:])
	if end = start + len(value); bareSecret(value, s[end:], colon, spaced, lineBegins(s, key)) {
		return start, end
	}
	return 0, 0
}

// bareSecret reports whether a value without quotes looks like a secret: by what
// stands behind it, the sign before it, and whether its key begins a line.
func bareSecret(value, behind string, colon, spaced, line bool) bool {
	switch {
	case len(value) < 4, strings.HasPrefix(behind, "("), strings.HasPrefix(behind, "["), plainWord.MatchString(value):
		return false
	case !colon && !spaced:
		return true
	case len(value) >= 6 && strings.ContainsAny(value, "0123456789") && !strings.Contains(value, "."):
		return true
	}
	return colon && line && (behind == "" || behind[0] == '\n' || behind[0] == '\r')
}

// lineBegins reports whether nothing but white space, quotes and a dash stands
// before i on its line.
func lineBegins(s string, i int) bool {
	before := strings.TrimRight(s[:i], " \t\"'-")
	return before == "" || strings.HasSuffix(before, "\n")
}
