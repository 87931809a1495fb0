package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

func ExampleFunc() {
	type search struct {
		Category string `json:"category" jsonschema:"what is sold" enum:"cloud,paper"`
		Limit    int    `json:"limit,omitempty" jsonschema:"at most so many"`
	}
	type vendor struct {
		Name  string `json:"name"`
		Price int    `json:"price"`
	}
	find := func(_ context.Context, s search) ([]vendor, error) {
		if s.Category == "paper" {
			return nil, errors.New("nobody sells paper any more; try cloud")
		}
		return []vendor{{"Nimbus", 120}, {"Cirrus", 90}}[:s.Limit], nil
	}

	t := tool.Func("search_vendors", "Find vendors by category.", find, pawl.Read)
	fmt.Println(string(t.Info().Input))

	ctx := context.Background()
	out, _ := t.Run(ctx, pawl.Invocation{Args: json.RawMessage(`{"category":"cloud","limit":1}`)})
	fmt.Println(string(out.JSON))
	_, err := t.Run(ctx, pawl.Invocation{Args: json.RawMessage(`{"category":"paper"}`)})
	fmt.Println(err)
	// Output:
	// {"type":"object","properties":{"category":{"type":"string","description":"what is sold","enum":["cloud","paper"]},"limit":{"type":"integer","description":"at most so many"}},"required":["category"],"additionalProperties":false}
	// [{"name":"Nimbus","price":120}]
	// nobody sells paper any more; try cloud
}

// An idempotent tool hands its key on, so that the far side can tell a repeat
// from a second order.
func ExampleInvocationFrom() {
	type order struct {
		Vendor string `json:"vendor"`
	}
	placed := map[string]string{} // the far side
	submit := func(ctx context.Context, o order) (string, error) {
		inv, _ := tool.InvocationFrom(ctx)
		if _, ok := placed[inv.Key]; !ok {
			placed[inv.Key] = fmt.Sprintf("PO-%d for %s", len(placed)+1, o.Vendor)
		}
		return placed[inv.Key], nil
	}
	t := tool.FuncWith("submit_po", "Submit a purchase order.", submit, pawl.Idempotent, &tool.Options{MaxCalls: 3})

	for attempt := range 2 {
		inv := pawl.Invocation{Args: json.RawMessage(`{"vendor":"Nimbus"}`), Key: "5f1c", Attempt: attempt + 1}
		out, _ := t.Run(context.Background(), inv)
		fmt.Println(string(out.JSON))
	}
	// Output:
	// "PO-1 for Nimbus"
	// "PO-1 for Nimbus"
}
