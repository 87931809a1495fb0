package redact

import "strings"

// What ends the name of a key whose value is a secret: two words, and the end of one.
var (
	secretPairs = set("api key|access key|secret key|private key|auth key|signing key|encryption key|account key|session key|session id|service key|db pass|smtp pass|user pass")
	secretTails = strings.Fields("password passwd passphrase apikey authtoken accesstoken secretkey privatekey clientsecret")
	// harmlessTokens are no secrets: what tells a page from the next, or a model's text from its end.
	harmlessTokens = set("next page continuation stop max min start end eos bos pad unk special sync per input output cache total")
)

func set(list string) map[string]bool {
	sep := " "
	if strings.Contains(list, "|") {
		sep = "|"
	}
	m := map[string]bool{}
	for w := range strings.SplitSeq(list, sep) {
		m[w] = true
	}
	return m
}

// mostKey is the longest name of a key that is looked at.
const mostKey = 64

// secretKey reports whether a key is called like one whose value is a secret.
// Names are taken apart at _, -, . and where case changes.
func secretKey(key string) bool {
	if len(key) > mostKey {
		key = key[len(key)-mostKey:]
	}
	rest, last := lastWord(key)
	switch last {
	case "token":
		_, before := lastWord(rest)
		return !harmlessTokens[before]
	case "key", "id", "pass":
		_, before := lastWord(rest)
		return secretPairs[before+" "+last]
	case "pwd", "passcode", "secret", "secrets", "credential", "credentials", "authorization", "cookie", "authkey", "accesskey", "signingkey":
		return true
	}
	for _, tail := range secretTails {
		if strings.HasSuffix(last, tail) {
			return true
		}
	}
	return false
}

// lastWord takes the last word off a name, in lower case; empty: there is none.
func lastWord(key string) (rest, word string) {
	between := func(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }
	end := len(key)
	for end > 0 && between(key[end-1]) {
		end--
	}
	key = key[:end]
	begin := end
	for begin > 0 && !between(key[begin-1]) {
		begin--
		if begin > 0 && key[begin] >= 'A' && key[begin] <= 'Z' && key[begin-1] >= 'a' && key[begin-1] <= 'z' {
			break
		}
	}
	return key[:begin], strings.ToLower(key[begin:])
}

// assigned finds the values of keys that are called like secrets: in JSON, YAML
// and the like within a text, in variables, headers, queries of URLs.
func assigned(s string) (spans []Span) {
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		key, from, ok := keyBefore(s, i)
		if !ok || !secretKey(key) {
			continue
		}
		start, end := valueAfter(s, i, from, key)
		if end <= start {
			continue
		}
		if reference(s[start:end]) || workingDir(key, s[start:end]) && (from == 0 || s[from-1] != ';') {
			continue
		}
		spans = append(spans, Span{"assignment", start, end})
		i = end - 1
	}
	return spans
}

// workingDir reports whether a key and its value are the directory that a shell
// stands in, which is called like a password. In the list of what a database is
// opened with, behind a semicolon, PWD is one.
func workingDir(key, value string) bool {
	return key == "PWD" && (strings.HasPrefix(value, "/") || len(value) > 2 && value[1] == ':' && value[2] == '\\')
}

// keyBefore is the name in front of a sign, in quotes or not, and where it begins.
func keyBefore(s string, sign int) (key string, from int, ok bool) {
	end := sign
	for end > 0 && sign-end < 4 && strings.IndexByte("\"'`\\ ", s[end-1]) >= 0 {
		end--
	}
	from = end
	for from > 0 && end-from < mostKey && dotted(s[from-1]) {
		from--
	}
	return s[from:end], from, from < end
}

// valueAfter is where the value behind a sign begins and ends, if there is one
// that looks like a secret. What stands in quotes does; what does not might be
// prose or code, and has to look less like that.
func valueAfter(s string, sign, key int, name string) (start, end int) {
	colon := s[sign] == ':'
	start = sign + 1
	if start < len(s) && (s[start] == '=' || s[start] == '>') { // :=, ==, =>
		start++
	}
	tight := start
	for start < len(s) && start-tight < 8 && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	spaced := start > tight
	if start == len(s) {
		return 0, 0
	}
	if n := quoteAt(s, start); n > 0 {
		from := start + n
		return from, closingQuote(s, from, s[start:from])
	}
	if line := wholeLine(name); line != "" && (colon || !spaced) {
		return start, start + strings.IndexAny(s[start:]+"\n", line)
	}
	end = start + strings.IndexAny(s[start:]+"\n", " \t\r\n,;&\"'`<>()[]{}|\\")
	value := s[start:end]
	next := byte('\n')
	if end < len(s) {
		next = s[end]
	}
	switch {
	case len(value) < 4, next == '(', next == '[' && value != "", plainWord(value):
		return 0, 0
	case !colon && !spaced:
		return start, end
	case len(value) >= 6 && strings.ContainsAny(value, "0123456789") && strings.IndexByte(value, '.') < 0:
		return start, end
	case colon && (next == '\n' || next == '\r') && lineBegins(s, key):
		return start, end
	}
	return 0, 0
}

// wholeLine is what ends the value of a header that has spaces in it; empty: its
// value ends as any other does.
func wholeLine(key string) string {
	switch _, last := lastWord(key); last {
	case "authorization", "cookie":
		return "\r\n\"'`\\"
	}
	return ""
}

// quoteAt is the length of the quote at i, which a document in a string of
// another has escaped; zero: there is none.
func quoteAt(s string, i int) int {
	n := i
	for n < len(s) && n-i < 4 && s[n] == '\\' {
		n++
	}
	if n < len(s) && (s[n] == '"' || n == i && (s[n] == '\'' || s[n] == '`')) {
		return n - i + 1
	}
	return 0
}

// closingQuote is where the text that a quote has begun ends: at its like, or
// with its line.
func closingQuote(s string, from int, quote string) int {
	mark := quote[len(quote)-1]
	for i := from; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i
		case s[i] == '\\' && len(quote) == 1:
			i++
		case s[i] == mark:
			end := i
			for end > from && i-end < len(quote)-1 && s[end-1] == '\\' {
				end--
			}
			return end
		}
	}
	return len(s)
}

var plain = set("null nil none true false undefined required optional string str text bytes byte bool int integer number object array list any self redacted secret password token")

// plainWord reports whether a value is a word of a language or a schema.
func plainWord(value string) bool { return plain[strings.ToLower(strings.TrimRight(value, ".?!"))] }

// lineBegins reports whether nothing but white space, quotes and a dash stands
// before i on its line.
func lineBegins(s string, i int) bool {
	for i > 0 {
		switch s[i-1] {
		case '\n':
			return true
		case ' ', '\t', '"', '\'', '-':
			i--
		default:
			return false
		}
	}
	return true
}
