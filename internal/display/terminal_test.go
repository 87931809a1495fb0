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

// What a person is shown has every key, and every character that would not be seen is
// written out.
func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"ann\u202e\u200bevil\u2066\u00ad\ufeff": `ann\u202e\u200bevil\u2066\u00ad\ufeff`,
		"a\u200db á\u200d\u200bá \u200d":        `a\u200db á\u200d\u200bá \u200d`,
		"\x1b[31mred\x1b[0m\a \U000e0041":       `red \U000e0041`,
		"می\u200cخواهم 👩\u200d👧 \u0600":         "می\u200cخواهم 👩\u200d👧 \u0600",
	} {
		if got := Visible(in); got != want || Visible(got) != got {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{ "note": "` + strings.Repeat("A", 50) + `", "to": "ann\u202e` + "\u202e\u200d" + `"}`:        `{"note":"AAAAAAAAA… 38 more …AAA","to":"ann\u202e\u202e\u200d"}`,
		`{"a":[1.50,true,null,{"` + strings.Repeat("k", 20) + `":"<\"` + "\u00a0" + `e 16 letters"}]}`: `{"a":[1.50,true,null,{"kkkkkkkkk… 8 more …kkk":"<\"\u00a0e 16 l… 3 more …ers"}]}`,
		`"\\"`:             `"\\"`,
		"no JSON\n\x1b[2J": `no JSON\n\u001b[2J`,
	} {
		if got := Values([]byte(in), 12); got != want {
			t.Errorf("Values(%s) = %s\nwant %s", in, got, want)
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
