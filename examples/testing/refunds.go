// Package refunds is an agent with tests: a transcript, a run played from a recorded
// script, and a process that is killed everywhere. See docs/testing.md.
package refunds

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// A Ledger has the orders that can be refunded.
type Ledger struct{ Dollars map[int]float64 }

type order struct {
	Order int `json:"order"`
}

// Agent makes the agent. Its tools work on the ledger.
func Agent(m pawl.Model, ledger *Ledger) pawl.Agent {
	look := func(_ context.Context, in order) (string, error) {
		amount, ok := ledger.Dollars[in.Order]
		if !ok {
			return "", fmt.Errorf("there is no order %d", in.Order)
		}
		return fmt.Sprintf("%.2f dollars, paid", amount), nil
	}
	refund := func(ctx context.Context, in order) (string, error) {
		text, err := look(ctx, in)
		delete(ledger.Dollars, in.Order)
		return "refunded " + text, err
	}
	return pawl.Agent{
		Name: "refunds", Prompt: "You refund orders. Look an order up before you refund it.", Model: m,
		Tools: []pawl.Tool{
			tool.Func("look_up", "Look up an order by its number.", look, pawl.Read),
			tool.Func("refund", "Refund an order.", refund, pawl.Write),
		},
	}
}
