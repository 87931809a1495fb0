package approval_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/tool"
)

type order struct {
	Vendor string `json:"vendor"`
	Amount int    `json:"amount"`
}

func submit(context.Context, order) (string, error) { return "submitted", nil }

func Example() {
	agent := pawl.Agent{
		Name:  "procurement",
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil }),
		Tools: []pawl.Tool{tool.Func("submit_po", "Submit a purchase order.", submit, pawl.Idempotent)},
		Policies: []pawl.Policy{
			approval.When("submit_po", "args.amount > 100"),
			approval.Func("new vendor", func(s *pawl.State, d pawl.Classified) bool {
				var o order
				return json.Unmarshal(d.Call.Args, &o) != nil || o.Vendor != "acme"
			}),
		},
	}
	m, err := pawl.NewMachine(agent)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range m.Declaration().Policies {
		fmt.Println(p)
	}
	fmt.Println("may wait for a person:", m.Waits())
	// Output:
	// approval_when("submit_po", args.amount > 100)
	// approval_func("new vendor")
	// may wait for a person: true
}
