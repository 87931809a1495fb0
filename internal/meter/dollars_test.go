package meter

import (
	"fmt"
	"testing"
)

func TestDollars(t *testing.T) {
	for amount, want := range map[float64]string{
		0.0011250000000000001: "0.001125", 0.1 + 0.2: "0.3", 375e-9 * 3: "1.125e-06", 0: "0", 1e12: "1e+12", 2.675: "2.675", -0.1 - 0.2: "-0.3",
	} {
		if got := fmt.Sprint(Dollars(amount)); got != want {
			t.Errorf("%v is %s, not %s", amount, got, want)
		}
	}
}
