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

// An agent is a tool of another: each call is a run of its own, with a log of
// its own, within what is left of its caller's limits.
func ExampleEngine_Start_agent() {
	search := func(_ context.Context, in struct {
		Words string `json:"words"`
	}) (string, error) {
		return "Pawls hold ratchets.", nil
	}
	researcher := pawl.Agent{
		Name:        "researcher",
		Description: "Finds things out.",
		Tools:       []pawl.Tool{tool.Func("search", "Search the library.", search, pawl.Read)},
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "search", Args: json.RawMessage(`{"words": "pawl"}`)}),
			pawl.Say("A pawl holds a ratchet."),
		),
		Limits: pawl.Limits{Tokens: 20_000},
	}
	editor := pawl.Agent{
		Name:  "editor",
		Tools: []pawl.Tool{tool.Agent(researcher, nil)},
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "researcher", Args: json.RawMessage(`{"input": "What is a pawl?"}`)}),
			pawl.Say("Now everybody knows: a pawl holds a ratchet."),
		),
	}

	ctx := context.Background()
	eng := engine.New(memory.New(), nil)
	run, err := eng.Start(ctx, editor, "Write about pawls.", &engine.StartOptions{ID: "article"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for entry, err := range run.Entries(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e := entry.Event.(type) {
		case pawl.ChildStarted:
			fmt.Println(e.Child, "may use", e.Limits.Tokens, "tokens")
		case pawl.ChildStopped:
			fmt.Println(e.Child, "ended as", e.Status)
		}
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Answer, err)
	// Output:
	// article.c_1 may use 20000 tokens
	// article.c_1 ended as success
	// Now everybody knows: a pawl holds a ratchet. <nil>
}
