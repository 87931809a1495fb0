package naming

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether the whole name matches the pattern, in which * matches any characters, including none,
// and ? any one. There are no classes and no escapes. It takes at most
// the product of their lengths: after a mismatch only the last * is extended,
// since extending an earlier one would not help.
func Match(pattern, name string) bool {
	star, kept := -1, 0 // where to continue after the last *, in pattern and name
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star, kept = p, n
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			p, n = p+1, n+size
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
		case star >= 0:
			_, size := utf8.DecodeRuneInString(name[kept:])
			kept += size
			p, n = star, kept
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Alike lists what a pattern may have been meant to be, given the existing
// names: each name and, if the pattern has a *, the part of the name that can
// precede it.
func Alike(pattern string, names []string) []string {
	known := append([]string{}, names...)
	before, rest, open := strings.Cut(pattern, "*")
	if !open {
		return known
	}
	seen := map[string]bool{}
	for _, name := range names {
		for length := len(before) - 1; length <= len(before)+1; length++ {
			if length < 1 || length > len(name) {
				continue
			}
			if guess := name[:length] + "*" + rest; Match(guess, name) && !seen[guess] {
				seen[guess] = true
				known = append(known, guess)
			}
		}
	}
	return known
}
