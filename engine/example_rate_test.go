package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// All programs on a journal ask a provider no faster than it allows. A call that comes too
// early waits. A program that can put work off asks before it begins a run.
func ExampleEngine_Ready() {
	ctx, journal := context.Background(), memory.New()
	e := engine.New(journal, &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 60, Tokens: 100_000}}})
	agent := pawl.Agent{Name: "clerk", Model: acme{pawl.ModelFunc(answer)}}
	fmt.Println("before:", e.Ready(ctx, agent, 0))

	// Other programs ask for 300 requests.
	if _, err := journal.Reserve(ctx, "acme", 300*time.Second, 0, time.Hour); err != nil {
		fmt.Println(err)
	}
	if busy, ok := errors.AsType[*engine.BusyError](e.Ready(ctx, agent, 0)); ok {
		fmt.Println("calls wait for the rate of", busy.Provider)
	}
	// Output:
	// before: <nil>
	// calls wait for the rate of acme
}

func answer(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil }
