package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

// An agent is a value. Here its model is a Go function, which stands where a
// provider's would.
func Example() { // Promises: T10.
	type sum struct{ A, B int }
	add := func(_ context.Context, in sum) (int, error) { return in.A + in.B, nil }

	agent := pawl.Agent{
		Name: "adder",
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Do(pawl.Call{Tool: "add", Args: json.RawMessage(`{"A": 2, "B": 3}`)}), nil
		}),
		Tools: []pawl.Tool{tool.Func("add", "Add two numbers.", add, pawl.Read)},
		Stop:  stop.Any(stop.ToolCalled("add"), stop.Iterations(10)),
	}
	result, err := engine.Run(context.Background(), agent, "What is 2 + 3?")
	fmt.Println(result.Verdict, err)
	// Output: success: tool_called("add") <nil>
}

// An answer that does not follow the type goes back to the model with what is
// wrong with it.
func Example_structuredOutput() {
	type triage struct {
		Team   string `json:"team" enum:"billing,shipping" jsonschema:"who is to answer"`
		Urgent bool   `json:"urgent"`
	}
	replies := []string{`{"team": "sales", "urgent": true}`, `{"team": "shipping", "urgent": true}`}
	agent := pawl.Agent{
		Name: "triage",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			return pawl.Say(replies[r.Attempt-1]), nil
		}),
		Loop: pawl.SingleCall{},
	}
	answer, result, err := engine.RunAs[triage](context.Background(), agent, "My parcel is lost!")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v after %d attempts\n", answer, result.Usage.ModelCalls)
	// Output: {Team:shipping Urgent:true} after 2 attempts
}

// A stop condition adds reasons to end. It prints as its source, and the
// verdict names the part of it that decided.
func Example_stopCondition() {
	type order struct {
		Amount int `json:"amount"`
	}
	submit := func(_ context.Context, o order) (string, error) { return "ordered", nil }
	agent := pawl.Agent{
		Name: "buyer",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			amount := fmt.Appendf(nil, `{"amount": %d}`, 60*len(r.Messages))
			return pawl.Do(pawl.Call{Tool: "submit", Args: amount}), nil
		}),
		Tools: []pawl.Tool{tool.Func("submit", "Submit an order.", submit, pawl.Idempotent)},
		Stop:  stop.Any(stop.ToolCalledWith("submit", "args.amount > 100"), stop.Iterations(5)),
	}
	result, err := engine.Run(context.Background(), agent, "Buy something for at least 100 dollars.")
	fmt.Println(agent.Stop)
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Iterations, "iterations")
	// Output:
	// tool_called("submit", args.amount > 100) || iterations >= 5
	// success: tool_called("submit", args.amount > 100) <nil>
	// 2 iterations
}

// Meeting a ceiling is no error. The model is asked for one last answer if
// there is room for it, and the run can be resumed with more.
func Example_ceiling() {
	look := func(_ context.Context, page struct{ N int }) (string, error) {
		return fmt.Sprintf("nothing on page %d", page.N), nil
	}
	agent := pawl.Agent{
		Name: "searcher",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if r.Purpose == pawl.PurposeFinal {
				return pawl.Say("It is not on the first three pages."), nil
			}
			page := fmt.Appendf(nil, `{"N": %d}`, len(r.Messages)/2+1)
			return pawl.Do(pawl.Call{Tool: "look", Args: page}), nil
		}),
		Tools:  []pawl.Tool{tool.Func("look", "Look at a page.", look, pawl.Read)},
		Limits: pawl.Limits{Iterations: 3},
	}
	result, err := engine.Run(context.Background(), agent, "Where is it?")
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer)
	fmt.Println("resumable:", result.Resumable)
	// Output:
	// exhausted: iterations >= 3 <nil>
	// It is not on the first three pages.
	// resumable: true
}
