package pages

import "testing"

func TestCount(t *testing.T) {
	for items, want := range map[int]int{0: 0, 1: 1, 25: 3} {
		if got := Count(items, 10); got != want {
			t.Errorf("Count(%d, 10) = %d, want %d", items, got, want)
		}
	}
}
