package guard_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// A guard is a policy like any other. What it redacts, neither the model nor the
// log gets to know; calls are made all the same.
func Example() {
	type message struct {
		Text string `json:"text"`
	}
	send := func(_ context.Context, m message) (string, error) {
		fmt.Println("sent:", m.Text)
		return "sent to 2 people, one of them ada@example.org", nil
	}
	agent := pawl.Agent{
		Name: "clerk",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "send", Args: json.RawMessage(`{"text": "Paid with 4111 1111 1111 1111."}`)}),
			pawl.Say("It is done; ada@example.org has it."),
		),
		Tools: []pawl.Tool{tool.Func("send", "Send a message.", send, pawl.Write)},
		Policies: []pawl.Policy{guard.New(
			guard.PII(guard.Redact),
			guard.Topics(guard.Block, "insider trading"),
		)},
	}
	ctx := context.Background()
	for _, input := range []string{"Tell them (call +1 415 555 2671).", "Explain insider trading."} {
		result, err := engine.Run(ctx, agent, input)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %q (%s)\n", result.Status, result.Answer, result.Reason.Detail)
	}
	fmt.Println(agent.Policies[0])
	// Output:
	// sent: Paid with [redacted card].
	// success: "It is done; [redacted email] has it." (the model answered without calling a tool)
	// failed: "" (the input holds what is blocked: topics (topic))
	// guard(pii: redact, topics("insider trading"): block)
}
