package explain

import "testing"

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
	if got, want := p.String(), "the model called se`arch and said “hello you”"; got != want {
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
