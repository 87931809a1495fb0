package guard

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl/internal/naming"
)

var (
	absolute = naming.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*:(//|\\\\)|^(?i:mailto:)|^//|^\\\\`)
	host     = naming.Regexp(`^(?:([^\s@/]+)@)?([\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:\pL{2,}|xn--[\pL\pN-]+))\.?(:\d+)?([/\\?#].*)?$`)
	file     = naming.Regexp(`^[\pL\pN_-]+\.[A-Za-z0-9]{1,5}$`)
	remote   = naming.Regexp(`^[^\s@/]+@[\pL\pN.-]+:\S`)
	oddly    = naming.Regexp(`_|^0[bBoO]`) // which Go reads
	bare     = naming.Regexp(`(?i)\.(?:ai|arpa|biz|br|cloud|club|cn|co|com|de|dev|edu|eu|example|fr|gov|icu|int|io|invalid|jp|localhost|mil|net|onion|online|org|ru|shop|tech|uk|xn--[a-z0-9-]+|xyz)$`)
)

// place reports whether a text is only the name of a place: a URL with or without
// a scheme, a share, a mail address, a remote of git, an IP address, or a host with
// a path, a port or two names before its last. Of two names alone only some are no
// file.
func place(s string) bool {
	s = strings.TrimRight(strings.TrimSpace(plainDots(s)), ".,;:!?")
	if absolute().MatchString(s) || remote().MatchString(s) {
		return true
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(s, "["), "/")
	name = strings.TrimSuffix(name, "]")
	if _, ok := six(name); ok && !otherwise(name) || numeric(s) {
		return true
	}
	m := host().FindStringSubmatch(s)
	return m != nil && (m[1] != "" || m[3] != "" || m[4] != "" || strings.Count(m[2], ".") > 1 || bare().MatchString(m[2]))
}

// numeric reports whether a text is an IP address of version 4, in any notation that
// inet_aton reads, with or without a port and a path. A number, a version and a date
// are none.
func numeric(s string) bool {
	name, _, more := strings.Cut(s[strings.Index(s, "@")+1:], "/")
	name, port, _ := strings.Cut(name, ":")
	more = more || port != ""
	parts := strings.Split(name, ".")
	odd := false
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil || oddly().MatchString(part) || n > 255 && i < len(parts)-1 {
			return false
		}
		odd = odd || strings.HasPrefix(strings.ToLower(part), "0x")
		if len(parts) == 1 {
			return n >= 1<<24 && (odd || more)
		}
	}
	return len(parts) == 4 || len(parts) < 4 && (odd || more)
}

// identifies reports whether a text is only an account or a place.
func identifies(s string) bool {
	account := strings.ToUpper(strings.Join(strings.Fields(s), ""))
	return place(s) || len(account) >= 4 && lengths[account[:2]] == len(account)
}

// allowed reports whether a URL or host is among those that may be sent anything.
func allowed(s string, hosts []string) bool {
	_, rest, ok := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "://")
	if !ok {
		rest = strings.ToLower(s)
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	name, _, _ := strings.Cut(rest, ":")
	for _, h := range hosts {
		h = strings.ToLower(h)
		under, wild := strings.CutPrefix(h, "*.")
		if h == rest || h == name || wild && strings.HasSuffix(name, "."+under) {
			return !strings.Contains(rest, "@")
		}
	}
	return false
}

var (
	schemed  = naming.Regexp(`[A-Za-z][A-Za-z0-9+.-]*:(?://|\\\\)[^\s"'<>]+|(?i:mailto|tel|sips?|xmpp):[^\s"'<>]+`)
	token    = naming.Regexp(`[^\s"'<>()\[\]{},;|=]+`)
	percent  = naming.Regexp(`%[0-9A-Fa-f]{2}`)
	unicode4 = naming.Regexp(`\\u[0-9A-Fa-f]{4}`)
)

// What is looked through of a text for places: how often it is encoded, and the parts of a word. A text or a word
// that has more counts as a place itself, because to look on would take minutes.
const mostLayers, mostParts = 16, 32

// placesIn returns the places in a text, however often it is encoded. Each is a value
// that reaches.
func placesIn(of *value) (all []value) {
	seen := map[string]bool{}
	for s, last, layer := plainDots(of.text), "", 0; s != last && layer <= mostLayers; s, last, layer = decoded(s), s, layer+1 {
		found := schemed().FindAllString(s, -1)
		if layer == mostLayers {
			found = append(found, of.text)
		}
		for _, word := range token().FindAllString(schemed().ReplaceAllString(s, " "), -1) {
			word = strings.TrimRight(word, ".,:!?")
			for i, at := range append([]int{0}, colons(word)...) {
				if i == mostParts {
					found = append(found, word)
					break
				}
				if m := host().FindStringSubmatch(word[at:]); place(word[at:]) && (m == nil || m[1]+m[4] != "" || bare().MatchString(m[2])) {
					found = append(found, word[at:])
					break
				}
			}
		}
		for _, text := range found {
			if seen[text] {
				continue
			}
			seen[text] = true
			v := valueOf(of.name, text, '"')
			v.reach, v.forms = true, append(v.forms, of.forms...)
			all = append(all, v)
		}
	}
	return all
}

// colons returns where the parts of a word begin that stand behind a colon.
func colons(word string) (all []int) {
	for i := range word {
		if word[i] == ':' {
			all = append(all, i+1)
		}
	}
	return all
}

// decoded undoes one layer of percent-encoding, of HTML entities and of the escapes of
// JSON.
func decoded(s string) string {
	s = percent().ReplaceAllStringFunc(s, func(code string) string {
		n, _ := strconv.ParseUint(code[1:], 16, 8) // two digits
		return string([]byte{byte(n)})
	})
	s = unicode4().ReplaceAllStringFunc(s, func(code string) string {
		n, _ := strconv.ParseUint(code[2:], 16, 16) // four digits
		return string(rune(n))
	})
	return plainDots(html.UnescapeString(strings.ReplaceAll(s, `\/`, "/")))
}

// plainDots returns a text as a resolver of hosts reads it: it writes the full stops of all scripts
// and wide letters in ASCII, and removes invisible characters.
func plainDots(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u3002' || r == '\uff61':
			return '.'
		case r >= '\uff01' && r <= '\uff5e':
			return r - '\uff01' + '!'
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}

// The words in names of arguments by which a call is sent somewhere, by which it names a
// file, and by which it is a command.
var (
	ofPlaces   = strings.Fields("url uri href link host hostname domain server nameserver dns site website endpoint registry mirror proxy gateway webhook callback remote upstream peer relay broker target recipient email address addr ip")
	ofPaths    = strings.Fields("path file filename dir directory folder argv command cmd args program script branch")
	ofCommands = strings.Fields("argv command cmd args script shell sql query statement")
	nameWord   = naming.Regexp(`\p{Lu}?[\p{Ll}\d]+|\p{Lu}+`)
)

// called reports whether a word of an argument's name is one of those, or its plural.
func called(name string, words []string) bool {
	return slices.ContainsFunc(nameWord().FindAllString(name, -1), func(word string) bool {
		word = strings.ToLower(word)
		return slices.Contains(words, word) || slices.Contains(words, strings.TrimSuffix(word, "s"))
	})
}

// commands joins the items of each command to one value.
func commands(values []value) (all []value) {
	for _, v := range values {
		if v.kind != '"' || !called(v.name, ofCommands) {
			all = append(all, v)
			continue
		}
		quoted := v.text
		if strings.ContainsAny(v.text, " \t\n") {
			quoted = `"` + v.text + `"`
		}
		if last := len(all) - 1; last >= 0 && all[last].whole && all[last].name == v.name {
			before := all[last]
			all, quoted = all[:last], before.forms[len(before.forms)-1]+" "+quoted
			v = valueOf(v.name, before.text+" "+v.text, '"')
		}
		v.whole, v.forms = true, append(v.forms, quoted)
		all = append(all, v)
	}
	return all
}
