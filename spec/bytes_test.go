package spec

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

// What stands in a file besides text has one problem, at its place; a byte order
// mark and other ends of lines have none.
func TestBytes(t *testing.T) {
	const good = "name: a\nmodel: mechanic\nprompt: é\n"
	wide := func(text string, low bool) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(text)) {
			if low {
				b.Write([]byte{byte(u), byte(u >> 8)})
			} else {
				b.Write([]byte{byte(u >> 8), byte(u)})
			}
		}
		return b.String()
	}
	long := "prompt: " + strings.Repeat("x", mostBytes)
	for _, c := range []struct{ name, text, want string }{
		{"mark.yaml", "\ufeff" + good, ""},
		{"crlf.yaml", strings.ReplaceAll(good, "\n", "\r\n"), ""},
		{"cr.yaml", strings.ReplaceAll(good, "\n", "\r"), ""},
		{"mark.json", "\ufeff{\"name\": \"a\", \"model\": \"mechanic\"}\r\n", ""},
		{"utf16.yaml", "\xff\xfe" + wide(good, true), "utf16.yaml:1:1: this is not text in UTF-8 (save the file as UTF-8)"},
		{"utf16.json", wide(`{"name": "a"}`, false), "utf16.json:1:1: this is not text in UTF-8 (save the file as UTF-8)"},
		{"latin1.yaml", "name: a\nprompt: caf\xe9\n", "latin1.yaml:2:12: this is not text in UTF-8 (save the file as UTF-8)"},
		{"null.yaml", "name: a\nprompt: \"a\x00\"\n", "null.yaml:2:11: this is not text in UTF-8 (save the file as UTF-8)"},
		{"long.yaml", long, "long.yaml:1:1: the spec is too long (at most 1048576 bytes)"},
		{"long.json", long, "long.json:1:1: the spec is too long (at most 1048576 bytes)"},
		{"many.yaml", strings.Repeat("a: [1, 2, 3]\n", 9000), "many.yaml:6667:9: the spec is too long (at most 60000 words and signs)"},
		{"deep.yaml", "a: " + strings.Repeat("[", 200_000), "deep.yaml:1:104: values are nested too deep (at most 100 levels)"},
		{"deep.json", `{"a": ` + strings.Repeat("[", 200_000), "deep.json:1:107: values are nested too deep (at most 100 levels)"},
		{"steps.yaml", steps(), "steps.yaml:102:102: values are nested too deep (at most 100 levels)"},
	} {
		_, err := Parse(c.name, []byte(c.text), &Options{Registry: registry()})
		problems, ok := errors.AsType[Problems](err)
		if got := problems.Error(); !strings.HasSuffix(got, c.want) || ok != (c.want != "") {
			t.Errorf("got %.300s, want %q", got, c.want)
		}
	}
}

// steps are mappings within mappings, each on a line of its own.
func steps() string {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
