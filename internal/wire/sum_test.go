package wire

import (
	"hash/fnv"
	"testing"
)

func TestSum(t *testing.T) {
	got, want := NewSum, fnv.New64a()
	for _, part := range []string{"", "a", "some more"} {
		got.Add([]byte(part))
		_, _ = want.Write([]byte(part))
		if uint64(got) != want.Sum64() {
			t.Errorf("after %q the sum is %d, want %d", part, got, want.Sum64())
		}
	}
}

func TestUnvaried(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "tool:"},
		{"open 17 files", "tool:open  files"},
		{`no vendor "acme" in 'list'`, "tool:no vendor  in "},
		{"it isn't there", "tool:it isn't there"},
		{"no `x`, no \"y", "tool:no , no "},
	} {
		if got := string(Unvaried([]byte("tool:"), c.text)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
