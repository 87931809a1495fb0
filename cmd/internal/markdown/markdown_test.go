package markdown_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/cmd/internal/markdown"
)

// shown renders a text that arrives in pieces of n bytes. Styles are shown by names in
// braces.
func shown(text string, width, n int) string {
	return strings.NewReplacer("\x1b[0m", "{}", "\x1b[1m", "{b}", "\x1b[2m", "{d}", "\x1b[3m", "{i}", "\x1b[4m", "{u}", "\x1b[9m", "{s}", "\x1b[36m", "{c}").
		Replace(raw(text, width, n, true))
}

func raw(text string, width, n int, colour bool) string {
	var b strings.Builder
	w := markdown.NewWriter(&b, width, colour)
	for ; len(text) > n; text = text[n:] {
		_, _ = w.Write([]byte(text[:n]))
	}
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

var rows = []struct{ name, text, want string }{
	{"text", "Plain text.\n\nMore", "Plain text.\n\nMore\n"},
	{"headings", "# One\n## Two `x` ##\n#no", "{b}{u}One{}\n{b}Two{} {b}{c}x{}\n#no\n"},
	{"emphasis", "a *b* **c d** ***e*** _f_ ~~g~~ ~5", "a {i}b{} {b}c{} {b}d{} {b}{i}e{} {i}f{} {s}g{} ~5\n"},
	{"nested", "**a *b* `*`**", "{b}a{} {b}{i}b{} {b}{c}*{}\n"},
	{"no emphasis", "2 * 3 * 4, snake_case_name, **open, a \\*b\\*", "2 * 3 * 4,\nsnake_case_name,\n**open, a *b*\n"},
	{"code span", "`a` ``b ` c`` `open", "{c}a{} {c}b ` c{} `open\n"},
	{"long code span", "run `one two three four five` now", "run\n{c}one two three four five{}\nnow\n"},
	{"code in emphasis", "**0`** ` a", "**0{c}** {} a\n"},
	{"link", "[a b](https://x.y) <https://z> ![p](q.png) [1] [u](u)", "{u}a{} {u}b{} {d}(https://x.y){}\n{u}https://z{} {u}p{} {d}(q.png){}\n[1] {u}u{}\n"},
	{"list", "- a\n  - b\n1. c\n- [x] d\n- [ ] e", "• a\n  • b\n1. c\n☑ d\n☐ e\n"},
	{"wrapped", "- one two three four five six seven", "• one two three four\n{d}  {}five six seven\n"},
	{"quote", "> a\n>> b", "{d}│ {}a\n{d}│ │ {}b\n"},
	{"code", "```go\n*x*\n# y\n```\nz\n~~~~\n```\n~~~~", "  {c}*x*{}\n  {c}# y{}\nz\n  {c}```{}\n"},
	{"open code", "```\nx", "  {c}x{}\n"},
	{"rule", "---", "{d}────────────────────{}\n"},
	{"table", "| a | b |\n|---|--:|\n| `x\\|y` | 1 |\n| z | **22** |\nend", "{b}a{}      {b}b{}\n{d}────{}  {d}──{}\n{c}x\\|y{}   1\nz     {b}22{}\nend\n"},
	{"wide table", "|a|b|\n|-|-|\n|one two three four|five|", "|a|b|\n|-|-|\n|one two three\nfour|five|\n"},
	{"no table", "| a\nb", "| a\nb\n"},
	{"entities", "a &lt; b &amp; c", "a < b & c\n"},
	{"hostile", "a\x1b[31mb \x1b]0;t\x07c &#27;[2J\u202e\u200b `\x1b[1m`", "ab c [2J\\u202e\\u200b\n``\n"},
	{"letters", "für 日本語 und é", "für 日本語 und é\n"},
}

// Text looks the same however it arrives.
func TestWriter(t *testing.T) {
	for _, c := range rows {
		for _, n := range []int{1, 2, 3, 7, 1000} {
			if d := cmp.Diff(c.want, shown(c.text, 20, n)); d != "" {
				t.Errorf("%s in pieces of %d (-want +got):\n%s", c.name, n, d)
				break
			}
		}
	}
}

// A paragraph is shown word by word, and emphasis once it is known to end.
func TestStreams(t *testing.T) {
	var b strings.Builder
	w := markdown.NewWriter(&b, 80, true)
	for _, step := range []struct{ text, want string }{
		{"The ans", "The"}, {"wer is **fo", "The answer is"}, {"rty two** an", "The answer is \x1b[1mforty\x1b[0m \x1b[1mtwo\x1b[0m"}, {"d more", "The answer is \x1b[1mforty\x1b[0m \x1b[1mtwo\x1b[0m and"},
	} {
		_, _ = w.Write([]byte(step.text))
		if b.String() != step.want {
			t.Errorf("after %q: %q, want %q", step.text, b.String(), step.want)
		}
	}
}

// Without colour the Markdown stays as it is.
func TestPlain(t *testing.T) {
	if got, want := raw("# A *b*\n\n`c` \x1b[31md", 10, 2, false), "# A *b*\n\n`c` d\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Nothing but the Writer's own styles controls the terminal, and pieces do not matter.
func FuzzWriter(f *testing.F) {
	for _, c := range rows {
		f.Add(c.text, uint8(20), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, width, n uint8) {
		whole := shown(text, int(width), len(text)+1)
		if i := strings.IndexFunc(whole, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("%q has a control character at %d", whole, i)
		}
		if strings.ContainsAny(text, "\x1b\u009b\u009d\u0090\u0098\u009e\u009f") { // a sequence with a space is cut where it arrives in pieces
			return
		}
		if d := cmp.Diff(whole, shown(text, int(width), int(n)+1)); d != "" {
			t.Errorf("in pieces of %d:\n%s", int(n)+1, d)
		}
	})
}
