package engine_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/stop"
)

// The runs of a thread are one conversation: each begins with the messages of the
// last, and counts its own iterations, tokens and calls. A condition on what people
// said looks at the whole of it.
func ExampleStartOptions_thread() {
	agent := pawl.Agent{
		Name: "support",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			return pawl.Say(fmt.Sprintf("I see %d messages.", len(r.Messages))), nil
		}),
		Stop: stop.All(stop.UserSaid("(?i)unhappy", 2), stop.Iterations(1)),
	}
	ctx := context.Background()
	eng := engine.New(memory.New(), nil)
	for _, input := range []string{"I am unhappy.", "Still unhappy."} {
		run, err := eng.Start(ctx, agent, input, &engine.StartOptions{Thread: "customer-17"})
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := run.Wait(ctx)
		fmt.Println(result.Answer, result.Iterations, "iteration,", result.Reason.Condition, err)
	}
	// Output:
	// I see 1 messages. 1 iteration, done <nil>
	// I see 3 messages. 1 iteration, user_said("(?i)unhappy") >= 2 && iterations >= 1 <nil>
}

// A run started under a key can safely be started again, as when it is unknown
// whether the first start succeeded: both return the same run.
func ExampleStartOptions_key() {
	agent := pawl.Agent{Name: "clerk", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		return pawl.Say("Ordered."), nil
	})}
	ctx, journal := context.Background(), memory.New()
	for _, input := range []string{"Order a chair.", "Order a chair.", "Order a table."} {
		run, err := engine.New(journal, nil).Start(ctx, agent, input, &engine.StartOptions{Key: "order-17"})
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := run.Wait(ctx)
		fmt.Println(result.Answer, "found:", run.Found(), err)
	}
	// Output:
	// Ordered. found: false <nil>
	// Ordered. found: true <nil>
	// key "order-17" was used for run 0S6DDMH51QAMR5SFFPNT7BN86V, which was started otherwise: input differs; use another key for another run
}
