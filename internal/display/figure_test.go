package display

import (
	"testing"
	"time"
)

func TestGroup(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -100: "-100", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := Group(n); got != want {
			t.Errorf("%d is %s, not %s", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 tokens", 1: "1 token", 2000: "2,000 tokens"} {
		if got := Count(n, "token"); got != want {
			t.Errorf("%d is %s, not %s", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", 70 * time.Second: "1m10s", 10 * time.Minute: "10m",
		time.Hour: "1h", time.Hour + time.Second: "1h0m1s", 90 * time.Minute: "1h30m", 10 * time.Hour: "10h", 500 * time.Millisecond: "500ms",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %s, not %s", d, got, want)
		}
	}
}

func TestDollars(t *testing.T) {
	for v, want := range map[float64]string{
		0: "$0.0000", 0.001125: "$0.0011", 12.5: "$12.5000", 0.0001: "$0.0001", 0.0000312: "$0.000031", 1.5e-7: "$0.00000015", 1e-8: "$0.000000010",
		-0.00006912: "-$0.000069", -2: "-$2.0000",
	} {
		if got := Dollars(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{
		30 * time.Minute: "30 minutes", 90 * time.Minute: "1 hour 30 minutes", time.Second: "1 second", 1500 * time.Millisecond: "1.5 seconds", 20 * time.Millisecond: "20 ms",
		2500 * time.Millisecond: "2.5 seconds", 61 * time.Second: "1 minute 1 second", 59500 * time.Millisecond: "59.5 seconds",
		time.Hour + 250*time.Millisecond: "1 hour 0.25 seconds", 1500 * time.Microsecond: "1.5 ms",
	} {
		if got := Spoken(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestSaid(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{{1, "one turn"}, {2, "2 turns"}, {0, "0 turns"}} {
		if got := Said(c.n, "one turn", "%d turns"); got != c.want {
			t.Errorf("%d: %q, want %q", c.n, got, c.want)
		}
	}
}
