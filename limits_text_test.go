package pawl_test

import (
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

// The share of a child run is a quotient, and is written as the decimal it is meant to be.
func TestLimitsText(t *testing.T) {
	l := pawl.Limits{Iterations: 5, Tokens: 53196, Time: time.Minute, Cost: 0.23100700000000002}
	if got, want := l.String(), "5 iterations, 53,196 tokens, 1m0s, $0.231007"; got != want {
		t.Errorf("the limits are %s, want %s", got, want)
	}
}
