package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// A lease outlasts a short pause of its process, however short it is meant to be.
func TestShortLease(t *testing.T) {
	j := memory.New()
	quick := pawl.Agent{Name: "quick", Model: pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		for h := range j.List(ctx, pawl.Query{Run: r.Run}) {
			if d := h.Lease.Until.Sub(h.Created); d < 40*time.Millisecond {
				t.Errorf("the run is leased for %v", d)
			}
		}
		return pawl.Say("Done."), nil
	})}
	h, err := engine.New(j, &engine.Options{Lease: 1}).Start(t.Context(), quick, "Go.", nil)
	must(t, err)
	ended(t, h)
}
