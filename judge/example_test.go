package judge_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

type item struct {
	Name string `json:"name"`
}

func stock(_ context.Context, in item) (map[string]any, error) {
	return map[string]any{"item": in.Name, "in_stock": 1200, "shelf": "A-4711"}, nil
}

func lookFor(name string) pawl.Reply {
	return pawl.Do(pawl.Call{Tool: "stock", Args: []byte(`{"name":"` + name + `"}`)})
}

var tools = []pawl.Tool{
	tool.Func("stock", "Say how many of an item there are.", stock, pawl.Read),
}

// The model is told of values in its answer that appear nowhere.
func ExampleGrounding() {
	agent := pawl.Agent{
		Name:     "stocktaker",
		Model:    script.Replies(lookFor("bolts"), pawl.Say("There are 12,000 bolts."), pawl.Say("There are 1,200 bolts.")),
		Tools:    tools,
		Policies: []pawl.Policy{judge.Grounding(nil)},
	}
	journal := memory.New()
	run, err := engine.New(journal, nil).Start(context.Background(), agent, "How many bolts are there?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(context.Background())
	fmt.Println(result.Answer, err)
	for entry, err := range engine.Entries(context.Background(), journal, run.ID(), 1) {
		if g, ok := entry.Event.(pawl.Grounded); ok && err == nil {
			fmt.Println("grounded:", g.OK, g.Claims)
		}
	}
	// Output:
	// There are 1,200 bolts. <nil>
	// grounded: true [12,000]
	// grounded: true []
}
