package wire

import (
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	for args, want := range map[string]string{
		``: `{}`, `null`: `{}`, `{"a": 1}`: `{"a": 1}`, `[1]`: `[1]`, `{"a":`: `"{\"a\":"`, "\"\xff": `"\"` + "\uFFFD" + `"`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65): `"` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `"`,
		strings.Repeat(" ", 1<<20+1):                      `"1048577 bytes, where a call may have 1048576; they were not kept"`,
	} {
		if got := string(Args([]byte(args))); got != want {
			t.Errorf("%.40q becomes %.100s, not %.100s", args, got, want)
		}
	}
}
