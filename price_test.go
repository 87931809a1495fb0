package pawl_test

import (
	"math"
	"testing"

	"github.com/pawl-run/pawl"
)

// TestPriceOfLongInput: a tier holds for all of a request that is longer, and
// for none of it otherwise.
func TestPriceOfLongInput(t *testing.T) {
	p := pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Long: pawl.Tier{From: 1000, Input: 6, Output: 22.5, CacheRead: 0.6}}
	for _, c := range []struct {
		usage pawl.Usage
		want  float64 // millionths of a dollar
	}{
		{pawl.Usage{Input: 1000, Output: 10}, 3000 + 150},
		{pawl.Usage{Input: 1000, Output: 10, CacheRead: 400, CacheWrite: 100}, 500*3 + 400*0.3 + 100*3.75 + 150},
		{pawl.Usage{Input: 1001, Output: 10}, 6006 + 225},
		{pawl.Usage{Input: 1001, Output: 10, CacheRead: 400, CacheWrite: 100}, 501*6 + 400*0.6 + 100*6 + 225},
		{pawl.Usage{Output: 5000}, 75_000},
	} {
		if got := p.Cost(c.usage) * 1e6; math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v costs %v, want %v", c.usage, got, c.want)
		}
	}
}
