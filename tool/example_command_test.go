//go:build linux || darwin

package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

func ExampleCommand() {
	// Any program will do; this one answers with its arguments.
	t := tool.Command("lookup_ticket", "Look up a support ticket by id.", []string{"cat"}, &tool.CommandOptions{
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {"ticket_id": {"type": "string"}},
			"required": ["ticket_id"]
		}`),
		Effect: pawl.Read,
	})
	out, err := t.Run(context.Background(), pawl.Invocation{
		Run: "01J9", Call: "c_1", Tool: "lookup_ticket", Key: "01J9/c_1", Attempt: 1,
		Args: json.RawMessage(`{"ticket_id": "T-1"}`),
	})
	fmt.Println(string(out.JSON), err)

	t = tool.Command("fail", "Fail as a shell script does.", []string{"sh", "-c", "echo no such ticket >&2; exit 3"}, nil)
	_, err = t.Run(context.Background(), pawl.Invocation{})
	fmt.Println(err)
	// Output:
	// {"ticket_id":"T-1"} <nil>
	// exit status 3: no such ticket
}
