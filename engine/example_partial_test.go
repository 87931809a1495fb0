package engine_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// An answer is shown while the model writes it. The last value is the whole answer.
func ExamplePartial() {
	type invoice struct {
		Vendor string `json:"vendor"`
		Cents  int    `json:"cents"`
	}
	agent := pawl.Agent{
		Name: "clerk",
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Say(`{"vendor": "Miller & Sons", "cents": 1250}`), nil // a model of a provider streams it
		}),
		Output: engine.OutputOf[invoice](),
	}
	ctx := context.Background()
	handle, err := engine.New(memory.New(), nil).Start(ctx, agent, "Read the invoice.", &engine.StartOptions{Watch: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var last invoice
	for so, err := range engine.Partial[invoice](handle.Entries(ctx)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		last = so // a screen would show it
	}
	fmt.Printf("%+v\n", last)
	// Output: {Vendor:Miller & Sons Cents:1250}
}
