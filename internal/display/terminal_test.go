package display

import (
	"strings"
	"testing"
	"unicode"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":                      "plain\n\ttext",
		"\x1b[31mred\x1b[0m":                 "red",
		"\x1b]0;title\x07after":              "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;": "link",
		"\x1b]never ended\nnext line":        "\nnext line",
		"\u009b2Jcleared":                    "cleared",
		"back\b\b\b\x7fspace\r\n":            "backspace\n",
		"\u202eturned\u2066round\u2069":      "turnedround",
		"\x1b(Bcharset":                      "charset",
		"half \xff bytes":                    "half \ufffd bytes",
		"\x1b":                               "",
		"العربية and 👩‍👩‍👧":                  "العربية and 👩‍👩‍👧",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// What is cleaned holds nothing that acts, and cleaning it again changes nothing.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "\x1b[1;31mred", "\x1b]0;t\x07", "\x1b\x1b[[31m31m", "\u009b\u009d", "\xff\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("Clean(%q) = %q has a control character at %d", s, got, i)
		}
		if again := Clean(got); again != got {
			t.Errorf("Clean(%q) = %q, and of that %q", s, got, again)
		}
	})
}
