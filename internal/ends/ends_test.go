package ends

import (
	"fmt"
	"testing"
)

func TestCommon(t *testing.T) {
	for pair, want := range map[[2]string]string{
		{"", ""}:              "0 0",
		{"same", "same"}:      "4 0",
		{"abc", "axc"}:        "1 1",
		{"aa", "aaa"}:         "2 0", // nothing counts twice
		{"one two", "one"}:    "3 0",
		{"two one", "one"}:    "0 3",
		{"left", "right"}:     "0 1",
		{"a\nb\nc", "a\nc\n"}: "2 0",
	} {
		head, tail := Common([]byte(pair[0]), []byte(pair[1]))
		if got := fmt.Sprint(head, tail); got != want {
			t.Errorf("%q: %s, want %s", pair, got, want)
		}
	}
}
