package wire

import (
	"slices"
	"strings"
)

// Differing names the keys under which two maps differ, sorted.
func Differing(a, b map[string]string) (keys []string) {
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// DifferingLines names the lines such as "name: text" that differ between two texts, sorted.
func DifferingLines(a, b string) []string {
	return Differing(namedLines(a), namedLines(b))
}

func namedLines(text string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ": "); ok {
			lines[name] = strings.TrimSpace(value)
		}
	}
	return lines
}
