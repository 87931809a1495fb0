package redact

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/naming"
)

// What names of keys end in whose value is a secret, in lower case and with _ before each word.
var (
	keyOwners  = strings.Fields("api access secret private auth signing encryption account session service") // before key or _key
	secretEnds = strings.Fields(`password passwd passphrase authtoken accesstoken clientsecret _secret _secrets _token
		_credential _credentials _authorization _cookie _pwd _passcode _session_id _db_pass _smtp_pass _user_pass`)
	headerEnds = strings.Fields("_authorization _cookie") // of these, those whose value is the rest of a line
	// tokenKinds stand before _token in names of tokens that are no secret: what tells a page from the next, or a
	// model's text from its end.
	tokenKinds = strings.Fields(`_next _page _continuation _stop _max _min _start _end _eos _bos _pad _unk _special
		_sync _per _input _output _cache _total`)
)

// mostKey is the longest name of a key that is looked at.
const mostKey = 64

var separated = strings.NewReplacer("-", "_", ".", "_", " ", "_")

// snake writes a key in lower case, with _ before each of its words.
func snake(key string) string {
	key = key[max(0, len(key)-mostKey):]
	b := append(make([]byte, 0, 2*mostKey), '_')
	for i, c := range []byte(key) {
		if i > 0 && c >= 'A' && c <= 'Z' && key[i-1] >= 'a' && key[i-1] <= 'z' {
			b = append(b, '_')
		}
		b = append(b, c)
	}
	return strings.TrimRight(strings.ToLower(separated.Replace(string(b))), "_")
}

// secretKey reports whether a key is called like one whose value is a secret.
func secretKey(key string) bool {
	name := snake(key)
	if of, is := strings.CutSuffix(name, "key"); is {
		return endsIn(strings.TrimSuffix(of, "_"), keyOwners)
	}
	kind, token := strings.CutSuffix(name, "_token")
	return endsIn(name, secretEnds) && !(token && endsIn(kind, tokenKinds))
}

func endsIn(name string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
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
	signed      = naming.Regexp(`^[:=][=>]?([ \t]{0,8})`)
	quotedValue = naming.Regexp(`^(?:"((?:[^"\\\n]|\\.)*)|'((?:[^'\\\n]|\\.)*)|\x60((?:[^\x60\\\n]|\\.)*)|\\{1,4}"([^"\n]*?)\\{0,4}(?:"|\n|$))`)
	lineValue   = naming.Regexp("^[^\r\n\"'`\\\\]*")
	wordValue   = naming.Regexp("^[^ \t\r\n,;&\"'`<>()\\[\\]{}|\\\\]*")
	// plainWord is a word of a language or a schema.
	plainWord = naming.Regexp(`(?i)^(?:null|nil|none|true|false|undefined|required|optional|string|str|text|bytes|byte|bool|int|integer|number|object|array|list|any|self|redacted|secret|password|token)[.?!]*$`)
)

// valueAfter returns where the value behind a sign begins and ends, if there is one
// that looks like a secret. What stands in quotes does; a bare word might be
// prose or code, and has to look less like that.
func valueAfter(s string, sign, key int, name string) (start, end int) {
	m := signed().FindStringSubmatchIndex(s[sign:])
	start = sign + m[1]
	colon, spaced := s[sign] == ':', m[3] > m[2]
	if m := quotedValue().FindStringSubmatchIndex(s[start:]); m != nil {
		for group := 2; group < len(m); group += 2 {
			if m[group] >= 0 {
				return start + m[group], start + m[group+1]
			}
		}
	}
	if endsIn(snake(name), headerEnds) && (colon || !spaced) {
		return start, start + len(lineValue().FindString(s[start:]))
	}
	value := wordValue().FindString(s[start:])
	if end = start + len(value); bareSecret(value, s[end:], colon, spaced, lineBegins(s, key)) {
		return start, end
	}
	return 0, 0
}

// bareSecret reports whether a value without quotes looks like a secret: by what
// stands behind it, the sign before it, and whether its key begins a line.
func bareSecret(value, behind string, colon, spaced, line bool) bool {
	switch {
	case len(value) < 4, strings.HasPrefix(behind, "("), strings.HasPrefix(behind, "["), plainWord().MatchString(value):
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
