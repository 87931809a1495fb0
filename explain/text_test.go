package explain

import "testing"

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{"tab\tline\n", "tab\tline\n"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]0;title\atext", "text"},
		{"\x1b]8;;x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1b]never ends\nnext", "\nnext"},
		{"\u009b2Jgone", "gone"},
		{"\x1bcreset", "reset"},
		{"end\x1b", "end"},
		{"end\x1b[", "end"},
		{"over\rwrite\r\n", "over\nwrite\n"},
		{"a\u2028b\u0085c", "a\nb\nc"},
		{"\u202edesrever\u200b\ufeff", "desrever"},
		{"\U000e0041tag", "tag"},
		{"bad\xffbyte", "bad\ufffdbyte"},
		{"\x01\x02\x03\x00\x7f", ""},
		{"👩\u200d🚀", "👩\u200d🚀"},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) is %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"x", "`x`"},
		{"a`b", "``a`b``"},
		{"`", "`` ` ``"},
		{"```", "```` ``` ````"},
		{" ", "(empty)"},
	} {
		if got := span(c.in); got != c.want {
			t.Errorf("span(%q) is %s, want %s", c.in, got, c.want)
		}
	}
	if got, want := fence("a\n```\nb"), "````text\na\n```\nb\n````\n"; got != want {
		t.Errorf("fence is %q, want %q", got, want)
	}
}

func TestPhrase(t *testing.T) {
	p := phrasef("the model called %s and said %s", name("se`arch"), said("hello\nyou"))
	if got, want := p.Plain(), "the model called se`arch and said “hello you”"; got != want {
		t.Errorf("plain: %s, want %s", got, want)
	}
	if got, want := p.markdown(), "the model called ``se`arch`` and said `hello you`"; got != want {
		t.Errorf("markdown: %s, want %s", got, want)
	}
	if got, want := shorten("0123456789abcdef", 8), "012345 … ef"; got != want {
		t.Errorf("shorten: %s, want %s", got, want)
	}
}

func TestShell(t *testing.T) {
	for in, want := range map[string]string{
		"c_3": "c_3", "": "''", "-x": "'-x'", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a\nb": "'a b'",
	} {
		if got := shell(in); got != want {
			t.Errorf("shell(%q) is %s, want %s", in, got, want)
		}
	}
}
