// Package glob matches names against patterns in which * stands for any
// characters, also none, and ? for any one. There is nothing else to them: no
// classes, no escapes, and no character that * stops at.
package glob

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether the whole name fits the pattern. Its time is at most
// the product of their lengths: where a * turns out to have taken too little,
// only the last one is given more, for an earlier one could not do better.
func Match(pattern, name string) bool {
	star, kept := -1, 0 // where to go on after the last *, and what it leaves of the name
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

// Any reports whether the name fits one of the patterns.
func Any(patterns []string, name string) bool {
	for _, p := range patterns {
		if Match(p, name) {
			return true
		}
	}
	return false
}

// Alike lists what a pattern might have been meant to be, given the names there
// are: each name itself and, where the pattern has a *, what of the name could
// stand before it.
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
