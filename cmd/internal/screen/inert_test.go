package screen

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

var nasty = []string{
	"plain", "two\nlines\tand a tab", "\x1b[2J\x1b]0;title\x07", "\u009b31m", "\x9b31m raw", "\x7f", "\u202egnp.exe", "a\u200bb\u200d\ufeff", "\U000e0041", "\x1bP+q\x1b\\",
	"\x1b]52;c;AAAA\x1b\\", "\r overwritten", "\xc2", "é\xc2", "日本語", "\u2028", "\x00\x08\x0b\x0c", "{\"a\":\"\u202e\u009b\"}",
}

// Whatever is written in whatever pieces, what comes out is whole text without
// anything that acts, and text that was good is as it was.
func FuzzInert(f *testing.F) {
	for i, s := range nasty {
		f.Add([]byte(s), i)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		var whole, parts bytes.Buffer
		_, _ = (&inertWriter{w: &whole}).Write(text)
		in := &inertWriter{w: &parts}
		at = max(0, min(at, len(text)))
		_, _ = in.Write(text[:at])
		_, _ = in.Write(text[at:])
		if whole.String() != parts.String() {
			t.Errorf("%q in two pieces at %d is %q, not %q", text, at, parts.String(), whole.String())
		}
		out := whole.String()
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return display.Acts(r) || display.Unseen(r) }) {
			t.Errorf("%q becomes %q", text, out)
		}
		if good := string(text); utf8.ValidString(good) && !strings.ContainsFunc(good, hides) && out != good {
			t.Errorf("%q becomes %q", good, out)
		}
		for _, cleaned := range []string{OneLine(string(text)), Harmless(string(text))} {
			if strings.ContainsFunc(cleaned, func(r rune) bool { return display.Acts(r) || display.Unseen(r) || r == '\n' }) {
				t.Errorf("%q is cleaned to %q", text, cleaned)
			}
		}
	})
}

// JSON with what is not to be seen escaped means the same.
func FuzzLegibleJSON(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		raw, err := json.Marshal(map[string]any{text: []string{text}})
		check.Must(t, err)
		out := LegibleJSON(raw)
		if bytes.ContainsFunc(out, func(r rune) bool { return hides(r) || r == '\n' }) {
			t.Errorf("%q becomes %q", raw, out)
		}
		var was, is map[string][]string
		if json.Unmarshal(raw, &was) != nil || json.Unmarshal(out, &is) != nil || is[text] == nil || is[text][0] != was[text][0] {
			t.Errorf("%q becomes %q, which is something else", raw, out)
		}
	})
}
