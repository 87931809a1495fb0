package meter

import (
	"encoding/json"
	"fmt"
	"math"
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

func TestDecimal(t *testing.T) {
	for number, want := range map[float64]string{
		0: "0", 2e-7: "0.0000002", 1e-9: "0.000000001", 1e-10: "0", -1e-10: "0", 0.1 + 0.2: "0.3", -2e-7: "-0.0000002",
		1e21: "1000000000000000000000", 500000: "500000", 1234567.1234567891: "1234567.123456789",
	} {
		line, err := json.Marshal(Decimal(number))
		if got := fmt.Sprint(Decimal(number)); got != want || err != nil || string(line) != want {
			t.Errorf("%v is %s, and %s as JSON, not %s (%v)", number, got, line, want, err)
		}
		var back Decimal
		if err := json.Unmarshal(line, &back); err != nil || math.Abs(float64(back)-number) > 1e-9 {
			t.Errorf("%s is read as %v, %v", line, back, err)
		}
	}
	if line, err := json.Marshal(Decimal(math.NaN())); err == nil {
		t.Errorf("what is no number is %s", line)
	}
}
