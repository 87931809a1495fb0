package explain

import "strings"

// moved says how what is open changed from one measurement to the next, by
// identity: what is fixed, what is broken, and what was there to be seen only
// when something that hid it was out of the way. Who mends an import has not
// broken the tests that can fail from then on.
func moved(before, now []string) (fixed, broke, shown []string) {
	fixed = apart(before, now)
	for _, id := range apart(now, before) {
		if hidden(id, fixed) {
			shown = append(shown, id)
		} else {
			broke = append(broke, id)
		}
	}
	return fixed, broke, shown
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

// parts says it in words.
func parts(fixed, broke, shown []string) (list []string) {
	if len(fixed) > 0 {
		list = append(list, "fixed "+names(fixed, 5))
	}
	if len(broke) > 0 {
		list = append(list, "broke "+names(broke, 5))
	}
	if len(shown) > 0 {
		list = append(list, "showed "+names(shown, 5)+", hidden before")
	}
	return list
}
