package chunk_test

import (
	"slices"
	"testing"

	"github.com/pawl-run/pawl/internal/chunk"
)

func TestList(t *testing.T) {
	var l chunk.List[int]
	var want []int
	for i := range 40 {
		c := l.Clone()
		c.Add(-1)
		l.Add(i)
		want = append(want, i)
		if got := slices.Collect(l.All()); !slices.Equal(got, want) || l.Len() != len(want) {
			t.Fatalf("the list has %v (%d), not %v", got, l.Len(), want)
		}
		if got := slices.Collect(c.All()); !slices.Equal(got, append(want[:i:i], -1)) {
			t.Fatalf("the clone has %v after %d", got, i)
		}
		*l.At(l.Len() - 1) = 100 // of the original only
		c = l.Clone()
		*c.At(i) = i
		if *l.At(i) != 100 {
			t.Fatal("a clone shares its last value")
		}
		l = c
	}
}
