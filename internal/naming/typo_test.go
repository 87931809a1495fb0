package naming

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "xbc", 1},
		{"kitten", "sitting", 3}, {"ca", "abc", 3}, {"abcd", "badc", 2}, {strings.Repeat("a", 65), "a", 64},
	} {
		if got, back := Distance(c.a, c.b), Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q, %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"iterations", "tokens", "tool_called", "tool_calls", "done", "cost"}
	for in, want := range map[string]string{
		"iteration": "iterations", "itertaions": "iterations", "Iterations": "iterations", "token": "tokens",
		"tool_call": "tool_calls", "doen": "done", "costs": "cost", "x": "", "price": "", "": "",
	} {
		if got := Nearest(in, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
