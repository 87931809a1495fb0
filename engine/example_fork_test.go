package engine_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// A fork shares the log of a run up to an entry, and goes another way from
// there. The run it comes from stays as it is.
func ExampleEngine_Fork() {
	agent := pawl.Agent{
		Name:  "translator",
		Model: script.Replies(pawl.Say("Guten Tag."), pawl.Say("Moin.")),
	}
	ctx, journal := context.Background(), memory.New()
	eng := engine.New(journal, nil)
	run, err := eng.Start(ctx, agent, "What is good day in German?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := run.Wait(ctx)
	fmt.Println(first.Answer, err)

	replied := uint64(3) // run.started, model.called, model.replied
	fork, err := eng.Fork(ctx, agent, first.Run, replied, &engine.ForkOptions{Input: "And in Hamburg?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := fork.Wait(ctx)
	fmt.Println(second.Answer, err)
	fmt.Println("another run:", second.Run != first.Run)

	state, err := engine.Load(ctx, journal, first.Run)
	fmt.Println("the first still says:", state.Answer(), err)
	// Output:
	// Guten Tag. <nil>
	// Moin. <nil>
	// another run: true
	// the first still says: Guten Tag. <nil>
}
