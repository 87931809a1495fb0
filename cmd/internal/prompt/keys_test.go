package prompt

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/term"
)

// typed returns the lines that an editor reads, and what the terminal shows.
func typed(input io.Reader) (lines []string, shown string) {
	var out bytes.Buffer
	k := &keys{in: input}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, narrow{&out}}, "> ")
	t.AutoCompleteCallback = edit
	for {
		line, err := t.ReadLine()
		if err != nil {
			return lines, out.String()
		}
		line, cut := k.whole(strings.ReplaceAll(line, string(filler), ""))
		if cut {
			line = "^C"
		}
		lines = append(lines, line)
	}
}

// Keys act on whole characters, also wide ones; what is pasted is one message; and
// Ctrl-C drops the line. The pieces in which the input arrives do not matter.
func TestKeys(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ name, input, want string }{
		{"wide", "日本語abc\x7f\x7f\x7f\x7f\x1b[D!\r", "日!本"},
		{"wide, to the right", "日本\x1b[1~\x1b[C-\x1b[3~=\r", "日-="},
		{"ctrl-c", "half\x03whole\r", "^C|whole"},
		{"ctrl-c in the middle", "half\x1b[D\x1b[D\x03whole\r", "^C|whole"},
		{"one pasted line", "a \x1b[200~日本 b\x1b[201~ c\r", "a 日本 b c"},
		{"pasted lines", "see \x1b[200~one\r\ttwo\nthree\x1b[201~ there\r", "see one\n\ttwo\nthree there"},
		{"a long paste", "\x1b[200~" + long + "\x1b[201~\r", long},
		{"keys in a paste", "\x1b[200~a\x03\x1b[31mb\x1b[201~\r", "ab"},
		{"history", "first\rsecond\r\x1b[A\x1bOA\r", "first|second|first"},
		{"line feed", "one\ntwo\n", "one|two"},
	} {
		for how, input := range map[string]io.Reader{"whole": strings.NewReader(c.input), "byte by byte": iotest.OneByteReader(strings.NewReader(c.input))} {
			if lines, _ := typed(input); strings.Join(lines, "|") != c.want {
				t.Errorf("%s, %s: %q, want %q", c.name, how, lines, c.want)
			}
		}
	}
	if _, shown := typed(strings.NewReader("日本\x1b[D-\r\x1b[200~one\ntwo\x1b[201~\r")); strings.ContainsRune(shown, filler) || !strings.Contains(shown, "[pasted text 1, 2 lines]") {
		t.Errorf("it shows %q", shown)
	}
}
