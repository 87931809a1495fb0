package engine_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// One loop prints the text while the model writes it, the calls, and the result.
func ExampleStream() {
	agent := pawl.Agent{
		Name:  "clock",
		Tools: []pawl.Tool{tool.Func("now", "Tell the time.", func(context.Context, struct{}) (string, error) { return "noon", nil }, pawl.Read)},
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "now", Args: json.RawMessage(`{}`)}), pawl.Say("It is noon.")),
	}
	for u, err := range engine.Stream(context.Background(), agent, "What time is it?") {
		switch {
		case err != nil:
			fmt.Println(err)
		case u.Text != "":
			fmt.Print(u.Text)
		case u.Finished != nil:
			fmt.Printf("%s: %s\n", u.Finished.Tool, u.Finished.Result)
		case u.Result != nil:
			fmt.Printf("\n%v\n", u.Result.Status)
		}
	}
	// Output:
	// now: "noon"
	// It is noon.
	// success
}
