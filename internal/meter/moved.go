package meter

import (
	"slices"
	"strings"
)

// Moved compares the open items of two measures by name: those fixed, those
// broken, and those that became visible because a fault that hid them was
// fixed. Fixing an import does not break the tests that can now fail.
func Moved(before, now []string) (fixed, broke, shown []string) {
	if slices.Equal(before, now) {
		return nil, nil, nil // the usual case
	}
	fixed = Apart(before, now)
	for _, id := range Apart(now, before) {
		if hidden(id, fixed) {
			shown = append(shown, id)
		} else {
			broke = append(broke, id)
		}
	}
	return fixed, broke, shown
}

// Apart returns the words of a that are not in b, in the order of a.
func Apart(a, b []string) (out []string) {
	known := make(map[string]bool, len(b))
	for _, w := range b {
		known[w] = true
	}
	for _, w := range a {
		if !known[w] {
			out = append(out, w)
		}
	}
	return out
}

// hidden reports whether one of the fixed items hid another. "P [build]", with
// any word in the brackets, hides all of P, as "[setup]" hides everything; a
// file hides the tests in it, and a test its parts.
func hidden(id string, gone []string) bool {
	for _, g := range gone {
		whole, inner := g, "/:"
		if name, kind, ok := strings.Cut(g, "["); ok && strings.HasSuffix(kind, "]") {
			whole, inner = strings.TrimSuffix(name, " "), ".: "
		}
		rest, ok := strings.CutPrefix(id, whole)
		if ok && rest != "" && (whole == "" || strings.ContainsRune(inner, rune(rest[0]))) {
			return true
		}
	}
	return false
}
