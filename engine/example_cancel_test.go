package engine_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// Cancelling is a signal: it can be sent from any process that has the
// journal. What is running sees its context end, and the log says who asked.
func ExampleEngine_Cancel() {
	waiting := make(chan struct{})
	wait := func(ctx context.Context, _ struct{}) (string, error) {
		close(waiting)
		<-ctx.Done()
		return "", ctx.Err()
	}
	agent := pawl.Agent{
		Name:  "waiter",
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "wait"})),
		Tools: []pawl.Tool{tool.Func("wait", "Wait for a long time.", wait, pawl.Read)},
	}
	ctx := context.Background()
	eng := engine.New(memory.New(), nil)
	run, err := eng.Start(ctx, agent, "Wait for me.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	<-waiting
	if err := eng.Cancel(ctx, run.ID(), "ada", "nobody comes"); err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, err)
	fmt.Println(result.Reason.Detail)
	fmt.Println("resumable:", result.Resumable)
	// Output:
	// cancelled <nil>
	// cancelled by ada: nobody comes
	// resumable: true
}
