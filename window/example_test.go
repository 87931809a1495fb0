package window_test

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
	"github.com/pawl-run/pawl/window"
)

// A window of 4,000 tokens is too small for four pages of a thousand each, so
// that the first are left out once they are old.
func ExampleCompact() {
	ctx := context.Background()
	page := tool.Func("page", "Read a page.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (string, error) {
		return fmt.Sprintf("Page %d. ", in.N) + strings.Repeat("Nothing. ", 450), nil
	}, pawl.Read)
	var replies []pawl.Reply
	for n := 1; n <= 4; n++ {
		replies = append(replies, pawl.Do(pawl.Call{Tool: "page", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}))
	}
	agent := pawl.Agent{
		Name: "reader", Prompt: "Read on." + window.Pin("Pages count from 1."),
		Model: script.Replies(append(replies, pawl.Say("There is nothing in it."))...), Tools: []pawl.Tool{page},
		Policies: []pawl.Policy{window.Compact(&window.Options{Keep: 1, MaxTokens: 4000})},
	}
	run, err := engine.New(memory.New(), nil).Start(ctx, agent, "What is in the book?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range run.Entries(ctx) {
		if c, ok := e.Event.(pawl.ContextCompacted); ok && err == nil {
			fmt.Println("left out the results of", c.Masked)
		}
	}
	// Output:
	// left out the results of [c_1 c_2]
}
