package guard

import (
	"net/netip"
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
		if a, ok := six(text[start:end]); ok {
			if !here(a.Unmap()) && !otherwise(text[start:end]) {
				found = append(found, span{"ip", start, end})
			}
			continue
		}
		for part := range strings.SplitSeq(text[start:end], ":") { // an address with a name before or a port after it
			if a, ok := four(part); ok && !here(a) && !versioned(text[:start]) {
				found = append(found, span{"ip", start, start + len(part)})
			}
			start += len(part) + 1
		}
	}
	return found
}

// here reports whether an address is one of this machine.
func here(a netip.Addr) bool { return a.IsLoopback() || a.IsUnspecified() }

// inWord reports whether a character next to an address makes it part of a
// word. Letters without case do not: Chinese has no spaces between words.
func inWord(r rune) bool {
	return r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.Is(unicode.Lo, r)
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
func four(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Is4()
}

// six parses an address of version 6.
func six(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Is6()
}
