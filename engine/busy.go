package engine

import (
	"fmt"
	"time"

	"github.com/pawl-run/pawl/internal/figure"
)

// A BusyError says that a run cannot be driven now: a worker drives as many as it may, or calls
// to a provider wait for its rate, see [Engine.Ready].
type BusyError struct {
	Max int // runs; zero: it is the rate

	Provider string
	Wait     time.Duration // until calls to it may be made
}

// Error gives the limit and the remedy.
func (e *BusyError) Error() string {
	if e.Max == 0 && e.Provider != "" {
		return fmt.Sprintf("calls to %s wait %v for the rate that it is asked at; try again later, or raise the rate", e.Provider, e.Wait.Round(time.Second))
	}
	return fmt.Sprintf("no more than %s can be driven here at once; try again when one has ended or waits, or raise the limit", figure.Count(e.Max, "run"))
}
