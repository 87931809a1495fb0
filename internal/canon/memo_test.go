package canon

import (
	"strconv"
	"testing"
)

func TestMemo(t *testing.T) {
	var m Memo[int]
	made := 0
	get := func(text string) int {
		return m.Get([]byte(text), func() int {
			made++
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		})
	}
	for n := range 10 * mostKept {
		for range 2 {
			if got := get(strconv.Itoa(n)); got != n {
				t.Fatalf("got %d, want %d", got, n)
			}
		}
		if len(m.kept) > mostKept {
			t.Fatalf("%d texts are kept", len(m.kept))
		}
	}
	if made != 10*mostKept {
		t.Errorf("made %d times, want once for each of %d texts", made, 10*mostKept)
	}
}

// A text that is written for it is found under itself, and one that cannot be
// written is made every time.
func TestMemoWrite(t *testing.T) {
	var m Memo[string]
	made := 0
	get := func(text string) string {
		return m.Write(func(dst []byte) []byte { return append(dst, text...) }, func() string {
			made++
			return text + "!"
		})
	}
	for range 3 {
		for _, text := range []string{"a", "a longer one", "b"} {
			if got := get(text); got != text+"!" {
				t.Errorf("got %q for %q", got, text)
			}
		}
	}
	if made != 3 {
		t.Errorf("made %d times, want 3", made)
	}
	for n := range 2 {
		if get(""); made != 4+n {
			t.Error("what was made of no text was kept")
		}
	}
}
