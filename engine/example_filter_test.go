package engine_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// A filter changes text before it becomes an event. The model, the log and later
// readers see the same text; the original is not stored.
func ExampleFilterFunc() {
	const secret = "hunter2"
	config := func(context.Context, struct{}) (map[string]string, error) {
		return map[string]string{"user": "ada", "password": secret}, nil
	}
	agent := pawl.Agent{
		Name: "reader",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			for _, part := range r.Messages[len(r.Messages)-1].Parts {
				if result, ok := part.(pawl.ToolResult); ok {
					return pawl.Say("It says " + result.Text()), nil
				}
			}
			return pawl.Do(pawl.Call{Tool: "config"}), nil
		}),
		Tools: []pawl.Tool{tool.Func("config", "Read the configuration.", config, pawl.Read)},
	}
	scrub := engine.FilterFunc(func(text string) string {
		return strings.ReplaceAll(text, secret, "{{secret:PASSWORD}}")
	})
	ctx, journal := context.Background(), memory.New()
	run, err := engine.New(journal, &engine.Options{Filters: []engine.Filter{scrub}}).Start(ctx, agent, "What is configured?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Answer, err)

	leaks := 0
	for row, err := range journal.Read(ctx, result.Run, 1) {
		if err != nil || strings.Contains(string(row.Data), secret) {
			leaks++
		}
	}
	fmt.Println(leaks, "entries with the secret")
	// Output:
	// It says {"password":"{{secret:PASSWORD}}","user":"ada"} <nil>
	// 0 entries with the secret
}
