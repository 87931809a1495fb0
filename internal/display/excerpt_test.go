package display

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestCut(t *testing.T) {
	lines := strings.Repeat("0123456789abcde\n", 8)
	tests := []struct {
		name, in string
		limit    int
		want     string // %s stands for the digest
	}{
		{"empty", "", 10, ""},
		{"fits", "0123456789", 10, "0123456789"},
		{"one too many", "0123456789a", 10, "01234\n… [1 byte left out; sha256 %s] …\n6789a"},
		{"no limit is the default", strings.Repeat("x", DefaultLimit), 0, strings.Repeat("x", DefaultLimit)},
		{"thousands", strings.Repeat("x", 1_048_586), 10, "xxxxx\n… [1,048,576 bytes left out; sha256 %s] …\nxxxxx"},
		{"at lines", lines, 40, lines[:16] + "… [96 bytes left out; sha256 %s] …\n" + lines[:16]},
		{"lines too far", "aaaaaaa\nbbbbbbbbbbbbbbb\nccccccc", 24, "aaaaaaa\nbbbb\n… [7 bytes left out; sha256 %s] …\nbbbb\nccccccc"},
		{"within characters", "aé€😀-----😀€é", 8, "aé\n… [19 bytes left out; sha256 %s] …\né"},
		{"invalid that fits", "a\xff\xfe\xfdb", 10, "a\uFFFDb"},
		{"invalid cut", "\xff\xfe\xfdaaaaaaaaaa\xff\xfe", 8, "\uFFFDa\n… [7 bytes left out; sha256 %s] …\naa\uFFFD"},
		{"continuation bytes only", strings.Repeat("\x80", 40), 20, "\uFFFD\n… [20 bytes left out; sha256 %s] …\n\uFFFD"},
		{"one byte", "abc", 1, "… [2 bytes left out; sha256 %s] …\nc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, "%s", digest(tt.in))
			got, cut := Cut(tt.in, tt.limit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if limit := max(tt.limit, 0); cut != (limit > 0 && len(tt.in) > limit) {
				t.Errorf("cut is %v", cut)
			}
		})
	}
}

// check writes s in pieces of random sizes and compares with what Cut gives in one go.
func check(t *testing.T, s string, limit int, rng *rand.Rand) {
	t.Helper()
	b := NewBuffer(limit)
	for rest := s; rest != ""; {
		n := 1 + rng.IntN(len(rest))
		if k, err := io.WriteString(b, rest[:n]); k != n || err != nil {
			t.Fatalf("wrote %d of %d, %v", k, n, err)
		}
		rest = rest[n:]
	}
	want, cut := Cut(s, limit)
	if got := b.String(); got != want {
		t.Fatalf("limit %d, %q: buffer gives %q, cut %q", limit, s, got, want)
	}
	if b.Truncated() != cut || b.Total() != int64(len(s)) || b.Digest() != digest(s) {
		t.Fatalf("limit %d, %q: truncated %v, total %d, digest %s", limit, s, b.Truncated(), b.Total(), b.Digest())
	}
	if !utf8.ValidString(want) {
		t.Fatalf("limit %d, %q: not UTF-8", limit, s)
	}
	if !cut {
		return
	}
	var left int
	head, tail, ok := strings.Cut(want, fmt.Sprintf(" left out; sha256 %s] …\n", digest(s)))
	i := strings.LastIndex(head, "… [")
	if !ok || i < 0 {
		t.Fatalf("limit %d, %q: no marker", limit, s)
	}
	if _, err := fmt.Sscan(strings.ReplaceAll(head[i+len("… ["):], ",", ""), &left); err != nil {
		t.Fatal(err)
	}
	if kept := len(s) - left; kept > limit {
		t.Fatalf("limit %d, %q: %d bytes kept", limit, s, kept)
	}
	// Valid text loses no character but those left out, and these are one piece.
	if utf8.ValidString(s) {
		head, begun := head[:i], len(s)-left-len(tail)
		if begun < 0 || (head != s[:begun] && head != s[:begun]+"\n") || !strings.HasSuffix(s, tail) {
			t.Fatalf("limit %d, %q: head %q, tail %q, %d left out", limit, s, head, tail, left)
		}
	}
}

func FuzzBufferIsCut(f *testing.F) {
	f.Add("hello\nworld\n", 4, uint64(1))
	f.Add("aé€😀\xff", 3, uint64(2))
	f.Fuzz(func(t *testing.T, s string, limit int, seed uint64) {
		if limit <= 0 || limit > 1<<16 {
			return
		}
		check(t, s, limit, rand.New(rand.NewPCG(seed, 0)))
	})
}

func TestBufferIsCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", " ", "\n", "é", "€", "😀", "\xff", "\x80", "…"}
	for range 5000 {
		symbols := 1 + rng.IntN(len(alphabet))
		var s strings.Builder
		for range rng.IntN(100) {
			s.WriteString(alphabet[rng.IntN(symbols)])
		}
		check(t, s.String(), 1+rng.IntN(60), rng)
	}
}

func TestShort(t *testing.T) {
	long := strings.Repeat("é", 200)
	for text, want := range map[string]string{"": "", "short": "short", long[:300]: long[:300], long: long[:300] + "…", "a" + long: "a" + long[:298] + "…"} {
		if got := Short(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
