package team_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
)

// script is a model that makes one reply after the other, in each of its runs.
func script(replies ...pawl.Reply) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		return replies[len(r.Messages)/2], nil
	})
}

// A leader and its worker share a board of tasks.
func ExampleBoard() {
	call := func(name, args string) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: name, Args: json.RawMessage(args)})
	}
	counter := pawl.Agent{
		Name: "counter", Description: "Counts what the board says, until nothing is open.",
		Model: script(
			call("board_claim", `{}`), call("board_finish", `{"result":"12 bolts"}`),
			call("board_claim", `{}`), pawl.Say("Nothing is open."),
		),
	}
	leader := team.Board(pawl.Agent{
		Name: "stocktake",
		Model: script(
			call("board_add", `{"tasks":["Count the bolts."]}`), call("counter", `{"input":"Count."}`), pawl.Say("All is counted."),
		),
		Tools: []pawl.Tool{tool.Agent(counter, nil)},
	})
	result, err := engine.Run(context.Background(), leader, "Take stock.")
	fmt.Println(result.Answer, err)
	// Output:
	// All is counted. <nil>
}
