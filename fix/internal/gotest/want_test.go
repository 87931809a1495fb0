package gotest

import (
	"strings"
	"testing"
)

func TestGotWant(t *testing.T) {
	tests := []struct{ text, got, want string }{
		{"a_test.go:4: got 3, want 4", "3", "4"},
		{"a_test.go:4: got: 3, want: 4", "3", "4"},
		{"a_test.go:4: Add(1, 2) = -1, want 3", "-1", "3"},
		{"a_test.go:4: Add(1, 2) = -1; want 3", "-1", "3"},
		{`a_test.go:4: Cut("a=b", "=") = "a", "b", want "a", "c"`, `"a", "b"`, `"a", "c"`},
		{"a_test.go:4: Max() got = 2, want 5", "2", "5"},
		{"expected 4, got 5", "5", "4"},
		{"Expected 4 but got 5", "5", "4"},
		{"expected: 4\n  actual: 5", "5", "4"},
		{"want 4, got 5", "5", "4"},
		{"got 5 want 4", "5", "4"},
		{"a_test.go:4: got:  5\n        want: 4", "5", "4"},
		{"got:\n\nwant:\n3", "", "3"},
		{"a_test.go:4: 5 != 4", "5", "4"},
		{"expected [1 2 3], got [1 2]", "[1 2]", "[1 2 3]"},
		{"sum(-1) = 3 (want 4)", "3", "4"},
		{"mismatch (-want +got):\n  []int{\n-\t3,\n+\t4,\n  }", "4", "3"},
		{"Clamp(5, 0, 3) = 5, expected 3", "5", "3"},
		{"unexpected error: EOF", "", ""},
		{"something is wrong", "", ""},
		{"panic: got 1, want 2", "", ""},
	}
	for _, tt := range tests {
		got, want := gotWant(strings.Split(tt.text, "\n"))
		if got != tt.got || want != tt.want {
			t.Errorf("gotWant(%q) = %q, %q; want %q, %q", tt.text, got, want, tt.got, tt.want)
		}
	}
}
