package wire

import "slices"

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
