package guard

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addresses finds IP addresses: version 4 with four decimal numbers, and
// version 6 in every form of RFC 4291, section 2.2. It ignores loopback and
// unspecified addresses. Four numbers are a version after the word version, and
// after a name and a slash or hyphen, as in Chrome/120.0.0.0.
func addresses(text string) (found []span) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; !hex(c) && c != ':' {
			continue
		}
		run := i
		for run < len(text) && (hex(text[run]) || text[run] == '.' || text[run] == ':') {
			run++
		}
		start, end := i, run
		i = run
		if text[start] == ':' && !strings.HasPrefix(text[start:end], "::") {
			start++ // skip the colon of host:10.0.0.1
		} else if before, _ := utf8.DecodeLastRuneInString(text[:start]); inWord(before) {
			continue
		}
		if after, _ := utf8.DecodeRuneInString(text[end:]); inWord(after) {
			continue
		}
		for end > start && (text[end-1] == '.' || text[end-1] == ':' && !strings.HasSuffix(text[:end], "::")) {
			end--
		}
		if groups, ok := six(text[start:end]); ok {
			if !localOnly(groups) && !otherwise(text[start:end]) {
				found = append(found, span{"ip", start, end})
			}
			continue
		}
		for part := range strings.SplitSeq(text[start:end], ":") { // an address with a name before or a port after it
			a, ok := four(part)
			if ok && a>>24 != 127 && a != 0 && !versioned(text[:start]) {
				found = append(found, span{"ip", start, start + len(part)})
			}
			start += len(part) + 1
		}
	}
	return found
}

// inWord reports whether a character next to an address makes it part of a
// word. Letters without case do not: Chinese has no spaces between words.
func inWord(r rune) bool {
	return r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.Is(unicode.Lo, r)
}

// localOnly reports whether an address is loopback or unspecified, including
// version 4 addresses written as version 6.
func localOnly(g [8]uint16) bool {
	if [5]uint16(g[:5]) != ([5]uint16{}) {
		return false
	}
	last := uint32(g[6])<<16 | uint32(g[7])
	return g[5] == 0 && last <= 1 || g[5] == 0xffff && (last>>24 == 127 || last == 0)
}

// otherwise reports whether a possible address is more likely something else: a
// name such as Face::Add, or a fingerprint, whose groups all have two
// characters.
func otherwise(s string) bool {
	if !strings.ContainsAny(s, "0123456789") {
		return true
	}
	groups := strings.Split(s, ":")
	for _, g := range groups {
		if len(g) != 2 {
			return false
		}
	}
	return len(groups) == 8
}

// versioned reports whether four numbers after the text are a version.
func versioned(text string) bool {
	if n := len(text) - 1; n > 0 && (text[n] == '/' || text[n] == '-') {
		return letter(text[n-1])
	}
	text = strings.TrimRight(text, " \t:=\"'(")
	n := len(text)
	for n > 0 && letter(text[n-1]) {
		n--
	}
	word := strings.ToLower(text[n:])
	return strings.HasSuffix(word, "version") || word == "v" || word == "ver"
}

func hex(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// four parses an address of version 4.
func four(s string) (a uint32, ok bool) {
	parts := strings.SplitN(s, ".", 5)
	if len(parts) != 4 {
		return 0, false
	}
	for _, p := range parts {
		if len(p) == 0 || len(p) > 3 || len(p) > 1 && p[0] == '0' {
			return 0, false
		}
		n := uint32(0)
		for i := range len(p) {
			if !digit(p[i]) {
				return 0, false
			}
			n = n*10 + uint32(p[i]-'0')
		}
		if n > 255 {
			return 0, false
		}
		a = a<<8 | n
	}
	return a, true
}

// six parses an address of version 6.
func six(s string) (g [8]uint16, ok bool) {
	const most = 45 // characters, with four numbers at the end
	head, tail, short := strings.Cut(s, "::")
	if len(s) > most || strings.Count(s, ":") < 2 || short && strings.Contains(tail, "::") {
		return g, false
	}
	first, ok1 := groupsOf(head, !short)
	last, ok2 := groupsOf(tail, short)
	if n := len(first) + len(last); !ok1 || !ok2 || n > 8 || short == (n == 8) {
		return g, false
	}
	copy(g[:], first)
	copy(g[8-len(last):], last)
	return g, true
}

// groupsOf parses the groups of one side of an address, including four numbers
// at its end.
func groupsOf(side string, end bool) (groups []uint16, ok bool) {
	if side == "" {
		return nil, true
	}
	parts := strings.Split(side, ":")
	for i, p := range parts {
		if a, ok := four(p); ok && end && i == len(parts)-1 {
			groups = append(groups, uint16(a>>16), uint16(a))
			continue
		}
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return nil, false
		}
		groups = append(groups, uint16(n))
	}
	return groups, true
}

// before3 finds addresses as machines before 3 did, for replaying their logs.
func before3(text string) (found []span) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; !hex(c) && c != ':' || i > 0 && (alnum(text[i-1]) || text[i-1] == '.' || text[i-1] == ':') {
			continue
		}
		end := i
		for end < len(text) && (hex(text[end]) || text[end] == '.' || text[end] == ':') {
			end++
		}
		run := end
		for end > i && (text[end-1] == '.' || text[end-1] == ':' && !strings.HasSuffix(text[:end], "::")) {
			end--
		}
		if apart(text, i, run) {
			if colon := portAt(text[i:end]); is4(text[i:end]) || is6(text[i:end]) {
				found = append(found, span{"ip", i, end})
			} else if colon > 0 && is4(text[i:i+colon]) {
				found = append(found, span{"ip", i, i + colon})
			}
		}
		i = run
	}
	return found
}

// portAt returns the start of the port in a text with one colon; zero: none.
func portAt(s string) int {
	if strings.Count(s, ":") != 1 {
		return 0
	}
	return strings.IndexByte(s, ':')
}

func is4(s string) bool {
	_, ok := four(s)
	return ok
}

func is6(s string) bool {
	_, ok := six(s)
	return ok && s != "::"
}
