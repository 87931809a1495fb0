package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// A focus is what answers must be about.
type focus struct{ word string }

func (focus) Name() string { return "focus" }

// Entry withdraws a final answer that misses the point, and has a search that
// found nothing run again.
func (f focus) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	switch e := e.Event.(type) {
	case pawl.ModelReplied:
		final := e.Reply.Stop != pawl.StopCalls
		return engine.Direction{Retry: final && !strings.Contains(e.Reply.Text(), f.word), Reason: "the question was about the " + f.word}
	case pawl.ToolFinished:
		return engine.Direction{Retry: string(e.Result) == `""`, Reason: "nothing was found"}
	}
	return engine.Direction{}
}

// A hook may have an off-topic reply, or an empty result, made again: the model
// is told why its reply does not count, and of a call that ran again it sees the
// last result only.
func ExampleHook_retry() {
	tries := 0
	search := func(context.Context, struct{ For string }) (string, error) {
		if tries++; tries == 1 {
			return "", nil
		}
		return "a lake, 12 m deep", nil
	}
	agent := pawl.Agent{
		Name: "guide",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "search", Args: json.RawMessage(`{"For": "lake"}`)}),
			pawl.Say("I like mountains."),
			pawl.Say("The lake is 12 m deep."),
		),
		Tools: []pawl.Tool{tool.Func("search", "Search the guidebook.", search, pawl.Read)},
	}
	ctx := context.Background()
	eng := engine.New(memory.New(), &engine.Options{Hooks: []engine.Hook{focus{"lake"}}})
	run, err := eng.Start(ctx, agent, "How deep is the lake?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range run.Entries(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if d, ok := e.Event.(pawl.HookDirected); ok {
			fmt.Printf("%s entry %d: %s\n", d.Direction, d.Entry, d.Reason)
		}
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Answer, err)
	fmt.Println(tries, "searches,", result.Iterations, "iterations")
	// Output:
	// retry entry 5: nothing was found
	// retry entry 10: the question was about the lake
	// The lake is 12 m deep. <nil>
	// 2 searches, 2 iterations
}
