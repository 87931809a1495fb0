package fakeprovider_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/pawltest/fakeprovider"
)

// dearest gives a model a price at which writing to a cache costs the most, so
// that booking at less than the reservation shows.
type dearest struct{ pawl.Model }

func (d dearest) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "house/dear", Price: &pawl.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 2}}
}

// TestWhatFailuresCost: an attempt that failed is booked at nothing where the
// provider refused it, at its usage where the provider says all of that, zero
// included, and else at the most that it may have cost.
func TestWhatFailuresCost(t *testing.T) {
	const nothing, usage, most = "nothing", "usage", "most"
	anthropic, chat, responses, google := fakeprovider.Anthropic, fakeprovider.Chat, fakeprovider.Responses, fakeprovider.Google
	all := []fakeprovider.Wire{anthropic, chat, responses, google}
	for _, c := range []struct {
		want   string
		wires  []fakeprovider.Wire
		faults []string
	}{
		{nothing, all, []string{"rate-limit", "rate-limit-ms", "quota-exhausted", "overloaded-529", "unavailable-503", "internal-500", "bad-gateway-502",
			"unauthorized", "model-not-found", "too-large", "context-length", "image-too-large", "html-page", "only-error", "reset-before-headers", "no-content-unbilled"}},
		{usage, all, []string{"no-content", "no-content-billed", "unknown-stop-reason"}},
		{usage, []fakeprovider.Wire{google}, []string{"malformed-function-call"}},
		{usage, []fakeprovider.Wire{anthropic}, []string{"window-exceeded"}},
		{most, all, []string{"overloaded-mid-stream", "error-without-status", "reset-mid-stream", "drop-mid-stream", "half-frame", "no-events", "headers-only", "stalled-stream", "no-answer"}},
		{most, []fakeprovider.Wire{anthropic, chat, responses}, []string{"cut-mid-arguments", "malformed-last-chunk"}},
		{most, []fakeprovider.Wire{responses}, []string{"response-failed"}},
	} {
		for _, name := range c.faults {
			for _, w := range c.wires {
				t.Run(c.want+"/"+name+"/"+w.String(), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, w, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
						if n == 1 {
							return fakeprovider.Must(name)
						}
						return fakeprovider.Fault{}
					}})
					for _, hanging := range hangs {
						if hanging == name {
							r.impatient(t)
						}
					}
					r.agent.Model = dearest{r.agent.Model}
					r.start(t)
					called, failed := firstFailure(t, r)
					price := dearest{}.Describe().Price
					switch got := failed.Usage; c.want {
					case nothing:
						if got != (pawl.Usage{}) || failed.Cost != 0 {
							t.Errorf("%v is booked at %+v, $%v", failed.Class, got, failed.Cost)
						}
					case usage:
						if got.Input != 1000 || got.Output > 100 || failed.Cost != price.Cost(got) {
							t.Errorf("%v is booked at %+v, $%v", failed.Class, got, failed.Cost)
						}
					case most:
						if got.Output != called.MaxTokens || got.Input == 0 || failed.Cost == 0 {
							t.Errorf("%v is booked at %+v, $%v, reserved %d with %d, $%v", failed.Class, got, failed.Cost, called.Reserved, called.MaxTokens, called.Cost)
						}
						if got.Input != 1000 && (got.Total() != called.Reserved || failed.Cost != called.Cost) {
							t.Errorf("%v is booked at %+v, $%v, reserved %d, $%v", failed.Class, got, failed.Cost, called.Reserved, called.Cost)
						}
					}
				})
			}
		}
	}
}

// firstFailure is the first attempt that failed, and what was reserved for it.
func firstFailure(t *testing.T, r *rig) (called pawl.ModelCalled, failed pawl.ModelFailed) {
	t.Helper()
	for e, err := range r.run.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.Event.(type) {
		case pawl.ModelCalled:
			called = e
		case pawl.ModelFailed:
			return called, e
		}
	}
	t.Fatal("no attempt failed")
	return called, failed
}
