// Package ends finds the common beginning and the common end of two sequences.
package ends

// Common returns how many elements two sequences share at the beginning, and
// then at the end of what is left.
func Common[S ~[]E, E comparable](a, b S) (head, tail int) {
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
