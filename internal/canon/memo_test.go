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
