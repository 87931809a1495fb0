package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A retry that would come after the run's time is not waited for.
func TestRetryBeyondTime(t *testing.T) {
	agent := pawl.Agent{Name: "late", Limits: pawl.Limits{Time: 50 * time.Millisecond}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassNetwork, Message: "no"}
	})}
	j := newTap()
	e := engine.New(j, &engine.Options{Backoff: func(int) time.Duration { return 3 * time.Second }})
	begun := time.Now()
	res, err := wait(t, begin(t, e, agent))
	must(t, err)

	if d := time.Since(begun); d > 20*time.Second {
		t.Errorf("it waited %v with 50ms to live: %v", d, res.Verdict)
	}
}
