package engine_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// A guard watches what a model wants to do.
type guard struct{ tool string }

func (guard) Name() string { return "guard" }

// Entry is asked after an entry is durable and before anything follows from it.
func (g guard) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	reply, ok := e.Event.(pawl.ModelReplied)
	if !ok {
		return engine.Direction{}
	}
	for _, part := range reply.Reply.Parts {
		if call, ok := part.(pawl.Call); ok && call.Tool == g.tool {
			return engine.Direction{Cancel: true, Reason: "nobody asked to " + g.tool}
		}
	}
	return engine.Direction{}
}

// A hook sees every entry, and may end the run before the next effect.
func ExampleHook() {
	drop := func(context.Context, struct{ Table string }) (string, error) {
		fmt.Println("dropped!")
		return "", nil
	}
	agent := pawl.Agent{
		Name:  "clerk",
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "drop", Args: json.RawMessage(`{"Table": "orders"}`)})),
		Tools: []pawl.Tool{tool.Func("drop", "Drop a table.", drop, pawl.Write)},
	}
	ctx := context.Background()
	eng := engine.New(memory.New(), &engine.Options{Hooks: []engine.Hook{guard{"drop"}}})
	run, err := eng.Start(ctx, agent, "Tidy up.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, err)
	fmt.Println(result.Reason.Detail)
	fmt.Println(result.ToolCalls, "calls ran")
	// Output:
	// cancelled <nil>
	// cancelled by hook guard: nobody asked to drop
	// 0 calls ran
}
