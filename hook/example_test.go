package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/hook"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// Hooks are given to the engine, which shows them every entry.
func Example() {
	add := func(_ context.Context, in struct{ A, B int }) (int, error) { return in.A + in.B, nil }
	agent := pawl.Agent{
		Name: "adder",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "add", Args: json.RawMessage(`{"A": 20, "B": 22}`)}),
			pawl.Say("…"), // which is of no use
			pawl.Say("42"),
		),
		Tools: []pawl.Tool{tool.Func("add", "Add two numbers.", add, pawl.Read)},
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: plain}))
	ctx := context.Background()
	eng := engine.New(memory.New(), &engine.Options{Hooks: []engine.Hook{hook.Log(logger, nil), hook.Retry(3, nil)}})
	run, err := eng.Start(ctx, agent, "What is 20 + 22?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := run.Wait(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=INFO msg="adder begins: What is 20 + 22?" iteration=0
	// level=INFO msg="wants add" iteration=1
	// level=INFO msg="c_1 add: ok: 42" iteration=1
	// level=INFO msg="says …" iteration=2
	// level=WARN msg="reply rejected: there is no answer in it" iteration=2
	// level=INFO msg="says 42" iteration=2
	// level=INFO msg="success: done (the model answered without calling a tool)" iteration=2
}
