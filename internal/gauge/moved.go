package gauge

import (
	"slices"
	"strings"
)

// Moved says how what is open changed from one measure to the next, by
// identity: what is fixed, what is broken, and what was there to be seen only
// when something that hid it was out of the way. Who mends an import has not
// broken the tests that can fail from then on.
func Moved(before, now []string) (fixed, broke, shown []string) {
	if slices.Equal(before, now) {
		return nil, nil, nil // as after most turns
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

// Apart are the words of a that are not in b, in the order of a.
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

// hidden reports whether one of the gone stood for an identity. "P [build]", or
// whatever is in the brackets, stands for all of P, as "[setup]" does for
// everything; a file for the tests in it, and a test for its parts.
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
