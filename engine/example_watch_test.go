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

// A run is watched by ranging over its entries. The sequence begins with the
// first entry, whenever one begins to watch, and ends with the run.
func ExampleHandle_Entries() {
	weather := func(_ context.Context, at struct{ City string }) (string, error) {
		return "rain in " + at.City, nil
	}
	agent := pawl.Agent{
		Name: "forecaster",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "weather", Args: json.RawMessage(`{"City": "Bergen"}`)}),
			pawl.Say("Take an umbrella."),
		),
		Tools: []pawl.Tool{tool.Func("weather", "Tell the weather.", weather, pawl.Read)},
	}
	ctx := context.Background()
	run, err := engine.New(memory.New(), nil).Start(ctx, agent, "What should I wear?", nil)
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
		case pawl.ToolStarted:
			fmt.Printf("%d %s %s%s\n", entry.Seq, entry.Type(), e.Tool, e.Args)
		case pawl.ToolFinished:
			fmt.Printf("%d %s %s\n", entry.Seq, entry.Type(), e.Result)
		case pawl.ModelReplied:
			fmt.Printf("%d %s %q\n", entry.Seq, entry.Type(), e.Reply.Text())
		case pawl.ModelDelta: // a piece of a reply, with a model that streams
		default:
			fmt.Println(entry.Seq, entry.Type())
		}
	}
	// Output:
	// 1 run.started
	// 2 model.called
	// 3 model.replied ""
	// 4 tool.started weather{"City":"Bergen"}
	// 5 tool.finished "rain in Bergen"
	// 6 model.called
	// 7 model.replied "Take an umbrella."
	// 8 run.stopped
}
