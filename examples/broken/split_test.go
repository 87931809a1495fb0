package ledger

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name   string
		amount int64
		people int
		want   []int64
	}{
		{"evenly", 900, 3, []int64{300, 300, 300}},
		{"one cent over", 1_000, 3, []int64{334, 333, 333}},
		{"two cents over", 1_001, 3, []int64{334, 334, 333}},
		{"nobody", 100, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Split(c.amount, c.people); !slices.Equal(got, c.want) {
				t.Errorf("Split(%d, %d) = %v, want %v", c.amount, c.people, got, c.want)
			}
		})
	}
}
